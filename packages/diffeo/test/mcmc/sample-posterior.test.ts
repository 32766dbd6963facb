/** Posteriors on constrained parameters: closed forms, published ones, and errors and warnings. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { count, ordered, positive, real } from "../../src/domain/index.ts";
import { evaluate } from "../../src/engine/index.ts";
import {
  add,
  addAll,
  at,
  constant,
  log,
  mean,
  mul,
  ndarray,
  neg,
  slice,
  square,
  squaredNorm,
  sub,
  sum,
  type Tensor,
} from "../../src/graph/index.ts";
import {
  approximate,
  type Chain,
  chainsOf,
  elementNames,
  type PosteriorModel,
  type SamplePosteriorOptions,
  samplePosterior,
  type Values,
} from "../../src/mcmc/index.ts";
import { parameterSpace } from "../../src/mcmc/parameters.ts";
import { warningsOf } from "../../src/mcmc/warnings.ts";
import { key } from "../../src/random/index.ts";
import { ALPHA, uniformP } from "../random/statistics.ts";
import { closedForms, places } from "./closed-forms.ts";
import { models, readReference } from "./posteriors.ts";

const options: SamplePosteriorOptions = { key: key(4), chains: 8, draws: 250, warmup: 200 };
const zero = (x: Tensor): Tensor => mul(x, 0);

/** Means and standard deviations of some numbers, with what they should be. */
async function agrees(
  model: PosteriorModel,
  expected: Readonly<Record<string, readonly [mean: number, sd: number]>>,
): Promise<void> {
  // One run of the graph moves all chains: more of them, and fewer draws of each.
  const posterior = await samplePosterior(model, {
    key: key(4),
    chains: 16,
    draws: 125,
    warmup: 125,
  });
  const summary = posterior.summary();
  for (const [name, [mean, sd]] of Object.entries(expected)) {
    const found = summary[name];
    expect(Math.abs(found.mean - mean) / found.meanError, `mean of ${name}`).toBeLessThan(4);
    expect(Math.abs(found.sd - sd) / found.sdError, `sd of ${name}`).toBeLessThan(4);
    expect(found.rhat, `R̂ of ${name}`).toBeLessThan(1.015);
  }
}

describe("closed forms", () => {
  it.each(Object.keys(closedForms))("%s: every marginal is correct", async (name) => {
    const { model, distributions } = closedForms[name];
    const every = 2;
    const { draws } = await samplePosterior(model, {
      key: key(name),
      chains: 32,
      draws: 40 * every,
      warmup: 100,
    });
    for (const [distribution, { of, cdf }] of Object.entries(distributions))
      expect(uniformP(places(draws[of], cdf, every)), distribution).toBeGreaterThan(ALPHA);
  });

  it("of volumes: each parameter adds its log|det J|", async () => {
    const { enter, dimension } = parameterSpace({
      a: { above: () => 2 },
      b: [{ above: () => 0, below: ({ a }) => a }, 2],
      c: { below: ({ a }) => a },
      d: [positive(), 2],
    });
    const x = [0.3, -1.2, 0.5, 0.7, -0.4, 1.1];
    expect(dimension).toBe(x.length);
    const { values, logDet } = await evaluate(
      (free: Tensor) => enter(free, {}),
      ndarray([x], "float64"),
    );
    const [a, sigma] = [2 + Math.exp(0.3), (v: number): number => 1 / (1 + Math.exp(-v))];
    const expected = {
      a: [a],
      b: [a * sigma(-1.2), a * sigma(0.5)],
      c: [a - Math.exp(0.7)],
      d: [-0.4, 1.1].map(Math.exp),
    };
    for (const [name, numbers] of Object.entries(expected))
      numbers.forEach((v, i) => {
        expect(values[name].data[i]).toBeCloseTo(v, 14);
      });
    const shares = [-1.2, 0.5].reduce((t, v) => t + Math.log(a * sigma(v) * sigma(-v)), 0);
    expect(logDet.data[0]).toBeCloseTo(0.3 + shares + 0.7 + (-0.4 + 1.1), 14);
  });

  it("of an exponential above a bound, and a number below one that depends on it", () =>
    agrees(
      {
        // a ~ 2 + Exp(1); b uniform on (0, a): density 1/a.
        parameters: { a: { above: () => 2 }, b: { above: () => 0, below: ({ a }) => a } },
        logDensity: ({ a }) => neg(add(a, log(a))),
        derived: { share: ({ a, b }) => sub(log(b), log(a)) },
      },
      { a: [3, 1], share: [-1, 1] },
    ));

  it("of ordered numbers, uniform between bounds", () =>
    agrees(
      {
        parameters: { w: ordered(2, { above: 0, below: 1 }) },
        logDensity: ({ w }) => sum(zero(w), -1),
      },
      { "w[1]": [1 / 3, 1 / Math.sqrt(18)], "w[2]": [2 / 3, 1 / Math.sqrt(18)] },
    ));
});

describe("samplePosterior", () => {
  const normal: PosteriorModel = {
    parameters: { mu: real(), tau: [positive(), 2, 3] },
    logDensity: ({ mu, tau }) => addAll([mul(square(mu), -0.5), neg(sum(sum(tau, -1), -1))]),
  };

  it("returns the declared shapes, and a name for every number", async () => {
    const { draws, summary } = await samplePosterior(normal, {
      key: key(1),
      draws: 5,
      warmup: 20,
      chains: 3,
    });
    expect(draws.mu.shape).toEqual([3, 5]);
    expect(draws.tau.shape).toEqual([3, 5, 2, 3]);
    expect(Object.keys(summary())).toEqual(["mu", ...elementNames("tau", [2, 3])]);
    expect(elementNames("tau", [2, 3]).slice(2, 4)).toEqual(["tau[1,3]", "tau[2,1]"]);
    expect(chainsOf(draws.tau, 4)[2][1]).toBe(draws.tau.data[(2 * 5 + 1) * 6 + 4]);
    expect(draws.tau.data.every((v) => v > 0)).toBe(true);
  });

  it("is the same for the same key", async () => {
    const short = { key: key(1), draws: 5, warmup: 20 };
    const [a, b] = [await samplePosterior(normal, short), await samplePosterior(normal, short)];
    expect(a.draws).toEqual(b.draws);
  });

  it("rejects invalid options", async () => {
    await expect(
      samplePosterior({ parameters: {}, logDensity: () => zero as never }, options),
    ).rejects.toThrow(/no parameters|without parameters/);
    await expect(
      samplePosterior({ ...normal, logDensity: ({ tau }) => tau }, options),
    ).rejects.toThrow(/log-density of 8 chains has shape \[8, 2, 3\].*one number per chain/);
    // Eight data and eight chains would broadcast, a datum a chain.
    const data = constant([1, 2, 3, 4, 5, 6, 7, 8], "float64");
    await expect(
      samplePosterior(
        { ...normal, logDensity: ({ mu }) => mul(square(sub(data, mu)), -0.5) },
        options,
      ),
    ).rejects.toThrow(/shapes \[8\] and \[9\] do not broadcast.*expandDims/);
    await expect(
      samplePosterior({ ...normal, logDensity: () => 3 as never }, options),
    ).rejects.toThrow(/log-density is a number/);
    await expect(
      samplePosterior({ ...normal, derived: { mu: ({ mu }) => mu } }, options),
    ).rejects.toThrow(/"mu" is a parameter and/);
    await expect(
      samplePosterior({ ...normal, parameters: { "a.b": real() } }, options),
    ).rejects.toThrow(/"a.b" cannot be the name/);
    await expect(
      samplePosterior({ ...normal, parameters: { mu: real(), k: count() } }, options),
    ).rejects.toThrow(/"k" is of kind integer, so the log-density has no gradient/);
    await expect(samplePosterior(normal, { ...options, method: "gibbs" as never })).rejects.toThrow(
      /unknown `method` "gibbs"/,
    );
    const nowhere = {
      ...normal,
      logDensity: ({ mu }: Readonly<Record<string, Tensor>>) => log(neg(square(mu))),
    };
    await expect(samplePosterior(nowhere, options)).rejects.toThrow(
      /chain 1 has no starting point after 100 tries/,
    );
    await expect(
      samplePosterior(normal, { key: key(1), chains: 10_000, draws: 10_000_000 }),
    ).rejects.toThrow(
      /10000 chains with 10000000 draws of \d coordinates are \d+ numbers, the limit is 536870912/,
    );
  });

  it.each([1, 2, 5])(
    "rejects a sum that mixes %i chains but has the right shape",
    async (chains) => {
      const parameters = { mu: real(), tau: [real(), 3] } as const;
      const own = ({ mu }: Values): Tensor => mul(square(mu), -0.5);
      const short = { key: key(1), chains, draws: 5, warmup: 5 };
      const mixing: readonly ((values: Values) => Tensor)[] = [
        (values) => add(own(values), mul(sum(square(values.tau)), -0.5)),
        ({ mu, tau }) => sub(mul(squaredNorm(tau), -0.5), square(sub(mu, mean(mu)))),
        // Every chain follows the first, or the last.
        ({ mu, tau }) => mul(add(squaredNorm(tau), square(sub(mu, slice(mu, [0, 1])))), -0.5),
        ({ mu, tau }) =>
          mul(
            add(squaredNorm(tau), square(sub(mu, slice(mu, [mu.shape[0] - 1, mu.shape[0]])))),
            -0.5,
          ),
      ];
      for (const logDensity of mixing)
        await expect(samplePosterior({ parameters, logDensity }, short)).rejects.toThrow(
          /the log-density mixes chains: for chain \d it changes from .* Reduce over the axes after the first.*sum\(x, -1\)/,
        );
      await expect(
        approximate({ parameters, logDensity: mixing[0] }, { key: key(1) }),
      ).rejects.toThrow(
        /the log-density mixes draws: for draw \d+ it changes from .*which is that of draws/,
      );
    },
  );

  it("rejects unknown names with a list of the names", async () => {
    const short = { key: key(1), chains: 1, draws: 2, warmup: 2 };
    await expect(
      samplePosterior({ ...normal, logDensity: ({ moo }) => square(moo) }, short),
    ).rejects.toThrow(
      'the log-density reads "moo", which the parameters do not have. They are "mu", "tau".',
    );
    const model: PosteriorModel = {
      ...normal,
      logDensity: ({ mu }, { y }) => mul(square(mu), y.shape[0]),
    };
    await expect(samplePosterior(model, { ...short, data: { z: [1, 2] } })).rejects.toThrow(
      'the log-density reads "y", which the data do not have. They are "z".',
    );
    await expect(samplePosterior(model, short)).rejects.toThrow(
      'reads "y", which the data do not have. There are no data.',
    );
    await expect(
      samplePosterior({ ...normal, derived: { twice: ({ nu }) => mul(nu, 2) } }, short),
    ).rejects.toThrow('derived "twice" reads "nu", which the parameters do not have');
    // A name that may be missing is no mistake by itself.
    const open: PosteriorModel = {
      ...normal,
      logDensity: (v, d) => mul(normal.logDensity(v, d), d.scale ?? 1),
    };
    expect((await samplePosterior(open, short)).draws.mu.shape).toEqual([1, 2]);
    const own = (_: unknown, { scale }: { readonly scale?: unknown }): never => {
      throw new RangeError(`a scale of ${scale ?? 1} is too small`);
    };
    await expect(samplePosterior({ ...normal, logDensity: own }, short)).rejects.toThrow(
      "a scale of 1 is too small",
    );
  });

  it("rejects derived quantities that lack or mix draws, or broadcast with as many data", async () => {
    const derive = (value: (values: Values) => Tensor) =>
      samplePosterior(
        { ...normal, derived: { value } },
        { key: key(1), chains: 1, draws: 6, warmup: 5 },
      );
    await expect(derive(({ mu }) => sum(mu))).rejects.toThrow(
      /derived "value" of 6 draws has shape \[\]/,
    );
    await expect(derive(({ mu }) => sub(mu, mean(mu)))).rejects.toThrow(
      /derived "value" mixes draws.*sum\(x, -1\)/,
    );
    const six = constant([1, 2, 3, 4, 5, 6], "float64");
    await expect(derive(({ mu }) => add(mu, six))).rejects.toThrow(
      /shapes \[7\] and \[6\] do not broadcast/,
    );
    await expect(derive(() => 3 as never)).rejects.toThrow(/derived "value" is a number/);
    expect((await derive(({ tau }) => sum(tau, -1))).draws.value.shape).toEqual([1, 6, 2]);
  });

  it("warns if chains do not agree", async () => {
    // Two modes far apart.
    const modes: PosteriorModel = {
      parameters: { x: [real(), 1] },
      logDensity: ({ x }) => mul(square(sub(square(mul(at(x, 0, 1), 4)), 25)), -0.5),
    };
    const few = { key: key(2), draws: 200, warmup: 100 };
    const { warnings, chains, settings, summary } = await samplePosterior(modes, few);
    expect(warnings().join("\n")).toMatch(/R̂ is above 1.01 for x\[1\]: the chains do not agree/);
    const bad = { x: { ...summary()["x[1]"], rhat: 1.011, bulkEss: 390, tailEss: 390 } };
    const said = (count: number): string =>
      warningsOf(new Array<Chain>(count).fill(chains[0]), bad, settings).join("\n");
    expect(said(1)).toMatch(/R̂ is above 1.01 for x: the halves of the chain do not agree/);
    expect(said(1)).not.toContain("effective draws");
    const met = { x: { ...bad.x, rhat: 1.009 } };
    expect(warningsOf(chains.slice(0, 1), met, settings).join("\n")).not.toContain("R̂");
    expect(said(4)).toContain("fewer than 400 effective draws for x");
    expect(said(100)).toContain("fewer than 400 effective draws for x");
    // A wave of frequency ω has an energy's fraction of 2(1 − cos ω).
    const slow = (share: number): string => {
      const omega = Math.acos(1 - share / 2);
      const energy = Float64Array.from({ length: 4000 }, (_, i) => Math.sin(omega * i));
      return warningsOf([{ ...chains[0], energy }], {}, settings).join("\n");
    };
    expect(slow(0.28)).toContain("chain 1 moves slowly through the energies (E-BFMI 0.28)");
    expect(slow(0.32)).not.toContain("slowly");
  });
});

const folder = join(import.meta.dirname, "../../../../../shared/data/posteriors");
describe("published posteriors", () => {
  // As long as R̂ of eight chains needs to be below 1.01.
  const published: Readonly<Record<string, Partial<SamplePosteriorOptions>>> = {
    eight_schools: { targetAcceptance: 0.95, warmup: 250, draws: 250 },
    sblrc_blr: { targetAcceptance: 0.8, warmup: 500, draws: 2000 },
    gp_regr: { targetAcceptance: 0.95, warmup: 200, draws: 200 },
  };
  if (!existsSync(folder))
    it("are skipped, because their files are missing", () => {
      console.error(`published posteriors are left out: ${folder} is not there`);
    });
  else
    it.each(Object.keys(published))(
      "%s: means and spreads within 3.5 standard errors of both sides",
      async (name) => {
        const { data, reference } = readReference(join(folder, `${name}.json`));
        const posterior = await samplePosterior(models[name](data), {
          key: key(1),
          chains: 8,
          ...published[name],
        });
        const summary = posterior.summary();
        for (const [element, known] of Object.entries(reference)) {
          if (element === "draws") continue;
          const found = summary[element];
          expect(Math.abs(found.mean - known.mean), element).toBeLessThan(
            3.5 * Math.hypot(found.meanError, known.sd / 100),
          );
          // 10,000 draws know an sd to 0.7 %, one with tails as heavy as these to 1.4 %.
          expect(Math.abs(found.sd - known.sd), element).toBeLessThan(
            3.5 * Math.hypot(found.sdError, 0.014 * known.sd),
          );
          expect(found.rhat, element).toBeLessThan(1.01);
        }
        expect(posterior.warnings()).toEqual([]);
      },
    );
});
