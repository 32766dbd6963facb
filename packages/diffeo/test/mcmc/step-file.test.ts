/**
 * Chains sampled from a file of their step: the draws of samplePosterior, bit for bit, and invalid
 * files.
 */
import { describe, expect, it } from "vitest";
import { positive, real } from "../../src/domain/index.ts";
import {
  div,
  exp,
  expandDims,
  log,
  mul,
  squaredNorm,
  sub,
  trace,
  writeOnnx,
} from "../../src/graph/index.ts";
import {
  type ChainState,
  chainBlock,
  drawChainsFromStep,
  type PosteriorModel,
  parseChains,
  samplePosterior,
  serializeChainStep,
  serializeChains,
} from "../../src/mcmc/index.ts";
import { key } from "../../src/random/index.ts";

const model: PosteriorModel = {
  parameters: { mu: real(), sigma: positive() },
  logDensity: ({ mu, sigma }, { y }) =>
    sub(
      mul(squaredNorm(div(sub(y, expandDims(mu, -1)), expandDims(sigma, -1))), -0.5),
      mul(log(sigma), y.shape[0]),
    ),
  derived: { double: ({ mu }) => mul(mu, 2) },
};
const data = { y: [1.2, 0.7, 3.1, 2.2, 1.9, 0.4] };

describe("a step in a file", () => {
  it.each([
    ["nuts", "diagonal"],
    ["hmc", "dense"],
    ["nuts", "low-rank"],
  ] as const)(
    "gives the draws of samplePosterior, block by block: %s, %s",
    async (method, metric) => {
      const settings = { draws: 60, warmup: 80, method, metric };
      const whole = await samplePosterior(model, {
        ...settings,
        data,
        key: key(3),
        chains: 5,
        block: 2,
      });
      const carry = { data, chains: 5, block: 2, metric };
      expect([chainBlock(carry), chainBlock({ chains: 5 })]).toEqual([2, 8]);
      const step = serializeChainStep(model, carry);
      const blocks: ChainState[] = [];
      // In another order than they stand in, and as text in between.
      for (const first of [4, 0, 2]) {
        const drawn = await drawChainsFromStep(step, {
          ...settings,
          key: key(3),
          first,
          count: Math.min(2, 5 - first),
        });
        blocks.push(...parseChains(serializeChains(drawn), "the chains"));
      }
      const states = [...blocks.slice(1), blocks[0]];
      const store = { load: async () => states, save: async () => undefined };
      const collected = await samplePosterior(model, {
        ...settings,
        data,
        key: key(3),
        chains: 5,
        block: 2,
        store,
      });
      expect(collected.draws).toEqual(whole.draws);
      expect(collected.chains).toEqual(whole.chains);
      expect(collected.summary()).toEqual(whole.summary());
    },
  );

  it("rejects other files, another metric, and more chains than a block", async () => {
    const step = serializeChainStep(model, { data, chains: 1, block: 1 });
    const call = { key: key(1), first: 0, count: 1, draws: 5, warmup: 5 };
    await expect(drawChainsFromStep(step, { ...call, metric: "dense" })).rejects.toThrow(
      /not written for `metric` "dense"/,
    );
    await expect(drawChainsFromStep(step, { ...call, count: 2 })).rejects.toThrow(
      /2 chains requested, the file has blocks of 1/,
    );
    const { outputs } = trace((x: never) => exp(x), [[1, 2]], "float64");
    await expect(drawChainsFromStep(writeOnnx(outputs).bytes, call)).rejects.toThrow(
      /the file does not contain the transitions of chains/,
    );
    await expect(drawChainsFromStep(Uint8Array.of(1, 2, 3), call)).rejects.toThrow();
  });

  it("reports points where no chain can start", async () => {
    const hopeless: PosteriorModel = {
      parameters: { x: real() },
      logDensity: ({ x }) => log(sub(mul(x, 0), 1)),
    };
    const step = serializeChainStep(hopeless, { chains: 1, block: 1 });
    await expect(drawChainsFromStep(step, { key: key(1), first: 0, count: 1 })).rejects.toThrow(
      /chain 1 has no starting point after 100 tries: .* at free coordinates -?\d/,
    );
  });
});
