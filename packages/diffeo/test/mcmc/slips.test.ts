/** Mistakes in a first model, each with the error that says what to write. */
import { expect, it } from "vitest";
import {
  bernoulli,
  binomial,
  halfNormal,
  normal,
  poisson,
  zeroInflated,
} from "../../src/distribution/index.ts";
import { add, at, sub, type Tensor, take } from "../../src/graph/index.ts";
import type { Program, Statements } from "../../src/mcmc/declarations.ts";
import { type Data, model, samplePosterior } from "../../src/mcmc/index.ts";
import { key } from "../../src/random/index.ts";

const x = Array.from({ length: 24 }, (_, i) => i - 12);
const data: Data = {
  x,
  group: x.map((_, i) => i % 3),
  from1: x.map((_, i) => 1 + (i % 3)),
  yes: x.map((v) => (v > 0 ? 1 : 0)),
  count: x.map((v) => Math.abs(v)),
};

/** What TypeScript refuses and JavaScript runs. */
type Loose = Record<string, (...a: unknown[]) => Tensor> & readonly unknown[];
const loose = (value: unknown): Loose => value as Loose;

const slips: Readonly<Record<string, readonly [Program, string]>> = {
  "a tensor as an index": [
    ({ parameter, observe }, { group }) => {
      const a = parameter("a", normal(0, 1), { shape: 3 });
      observe("x", normal(loose(a)[group as unknown as number] as Tensor, 1));
    },
    'in the model, after parameter("a"): a tensor is indexed, a[a tensor]. Write take(a, index)',
  ],
  "a number as an index": [
    ({ parameter, observe }) => {
      const a = parameter("a", normal(0, 1), { shape: 3 });
      observe("x", normal(loose(a)[0] as Tensor, 1));
    },
    "a tensor is indexed, a[0]. Write at(a, 0)",
  ],
  "a method": [
    ({ parameter, observe }, { x }) => {
      const a = parameter("a", normal(0, 1));
      observe("x", normal(loose(a).add(x), 1));
    },
    "a tensor has no `add`. Write add(a, b)",
  ],
  "a loop over data": [
    ({ parameter, observe }, { x }) => {
      const a = parameter("a", normal(0, 1));
      for (let i = 0; i < loose(x).length; i++) observe(`x${i}`, normal(a, 1), at(x, i));
    },
    "a tensor has no `length`. Write a.shape[0]",
  ],
  "a logit for a probability": [
    ({ parameter, observe }, { x }) => {
      observe("yes", bernoulli(add(parameter("a", normal(0, 1)), x)));
    },
    /where in observe\("yes"\) the probability of bernoulli is -\d.*Give a number from 0 to 1, or a logit: bernoulli\(\{ logit: … \}\)/
      .source,
  ],
  "a logit for a probability of trials": [
    ({ parameter, observe }, { x }) => {
      observe("yes", binomial(1, add(parameter("a", normal(0, 1)), x)));
    },
    /the probability of binomial is .*binomial\(n, \{ logit: … \}\)/.source,
  ],
  "a logarithm for a rate": [
    ({ parameter, observe }, { x }) => {
      observe("count", zeroInflated(0.2, poisson(add(parameter("a", normal(0, 1)), x))));
    },
    /the rate of poisson is -.*such as exp\(…\), or its logarithm: poisson\(\{ logRate: … \}\)/
      .source,
  ],
  "a scale below 0": [
    ({ parameter, observe }, { x }) => {
      observe("x", normal(0, sub(parameter("a", normal(0, 1)), add(99, x))));
    },
    /in observe\("x"\) the sd of normal is -.*Give a number above 0, such as exp\(…\)/.source,
  ],
  "another name for a logit": [
    ({ observe }) => observe("yes", bernoulli({ logits: 0 } as never)),
    "bernoulli: probability is an object with logits. Give a number, an array or a tensor, or a logit",
  ],
  "indices from 1": [
    ({ parameter, observe }, { from1 }) => {
      observe("x", normal(take(parameter("a", normal(0, 1), { shape: 3 }), from1), 1));
    },
    "take: index 3 is outside 0 … 2. Indices count from 0; for indices from 1 use sub(index, 1)",
  ],
  "a value for a distribution": [
    ({ parameter, observe }, { x }) => {
      parameter("a", halfNormal(1));
      observe("x", x as never);
    },
    'observe("x"): the distribution is missing. Give it before the value',
  ],
  "a statement of another language": [
    (statements) => void loose(statements as Statements).sample("a", normal(0, 1)),
    "unknown statement `sample`. The statements are parameter, observe, derive, factor",
  ],
};

it.each(Object.entries(slips))("%s", async (_, [program, message]) => {
  const sampling = samplePosterior(model(program), { data, key: key(1), draws: 1, warmup: 0 });
  await expect(sampling).rejects.toThrow(message.includes("\\") ? new RegExp(message) : message);
});

it("indices from 1 are converted by a subtraction", async () => {
  const program: Program = ({ parameter, observe }, { from1 }) => {
    const a = parameter("a", normal(0, 1), { shape: 3 });
    observe("yes", bernoulli({ logit: take(a, sub(from1, 1)) }));
  };
  const { draws } = await samplePosterior(model(program), { data, key: key(1), draws: 5 });
  expect(draws.a.shape).toEqual([4, 5, 3]);
});
