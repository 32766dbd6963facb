/**
 * Chains that are stuck in the warm-up continue from another chain's position; modes that share the
 * mass are kept.
 */
import { describe, expect, it } from "vitest";
import { logSumExp, mul, squaredNorm, stack, sub, type Tensor } from "../../src/graph/index.ts";
import type { ChainState } from "../../src/mcmc/chain-state.ts";
import { type ChainStore, type ChainsOptions, drawChains } from "../../src/mcmc/index.ts";
import { comparisonOf, placesToTake, Region } from "../../src/mcmc/restart.ts";
import { key, normal } from "../../src/random/index.ts";

/** log(N(0, I) + e^{−gap} N(60, I)) without constants, of two coordinates. */
const twoModes =
  (gap: number) =>
  (x: Tensor): Tensor =>
    logSumExp(
      stack([mul(squaredNorm(x), -0.5), sub(mul(squaredNorm(sub(x, 60)), -0.5), gap)], -1),
      -1,
    );

/** Four chains, the third one in the mode at 60. */
const start = {
  shape: [4, 2],
  dtype: "float64" as const,
  data: Float64Array.of(0, 1, 1, 0, 60, 61, -1, 0),
};

const options = (more: Partial<ChainsOptions> = {}): ChainsOptions => ({
  key: key(5),
  warmup: 120,
  draws: 40,
  ...more,
});

const isNear = (x: Float64Array, mode: number): boolean => x.every((v) => Math.abs(v - mode) < 10);

describe("a region", () => {
  it("has the mass of a Gaussian of any scale", () => {
    const masses = [1, 1e-4].map((scale) => {
      const region = new Region(2);
      for (let i = 0; i < 4000; i++) {
        const z = normal(key(i), [2], { dtype: "float64" }).data;
        // N(0, s²) × N(0, 1) has the density −½z² − log s.
        const value = -0.5 * (z[0] ** 2 + z[1] ** 2) - Math.log(scale);
        region.add(Float64Array.of(scale * z[0], z[1]), value, false);
      }
      return region.logMass;
    });
    // The mean of −½z² is −1, and both densities have mass 2π.
    expect(masses[0]).toBeCloseTo(-1, 1);
    expect(masses[1]).toBeCloseTo(masses[0], 10);
  });

  it("of a chain that did not move has no mass", () => {
    const region = new Region(1);
    for (let i = 0; i < 9; i++) region.add(Float64Array.of(2), 5, false);
    expect(region).toMatchObject({ level: 5, logMass: Number.NEGATIVE_INFINITY, isStuck: true });
  });

  it("is stuck if the chain diverges, or if its log-density cannot resolve a difference of 1", () => {
    const regionOf = (value: number, diverges: (i: number) => boolean): Region => {
      const region = new Region(1);
      for (let i = 0; i < 9; i++) region.add(Float64Array.of(i % 3), value, diverges(i));
      return region;
    };
    expect(regionOf(-2, () => false).isStuck).toBe(false);
    expect(regionOf(-2, (i) => i > 4).isStuck).toBe(false);
    expect(regionOf(-2, (i) => i > 3).isStuck).toBe(true);
    expect(regionOf(-1e16, () => false).isStuck).toBe(true);
  });
});

describe("chains are compared", () => {
  const region = (logMass: number, isStuck = false) => ({ logMass, isStuck });

  it("after half of a warm-up of at least 100 transitions", () => {
    expect([99, 100, 1001].map(comparisonOf)).toEqual([undefined, 50, 500]);
  });

  it("and move if they lack more than 10 + 3n nats", () => {
    const of = (...masses: number[]) =>
      placesToTake(
        masses.map((m) => region(m)),
        2,
      );
    expect(of(0, -1, -16.1, 0)).toEqual([undefined, undefined, 0, undefined]);
    expect(of(0, -1, -15.9, 0)).toEqual([undefined, undefined, undefined, undefined]);
    expect(of(-90, -1, 0, -80, 0)).toEqual([1, undefined, undefined, 2, undefined]);
  });

  it("but most of them do not move, nor because of a single or a stuck chain", () => {
    const none = [undefined, undefined, undefined, undefined];
    const of = (...masses: number[]) =>
      placesToTake(
        masses.map((m) => region(m)),
        2,
      );
    expect(of(0, 0, -99, -99)).toEqual([undefined, undefined, 0, 1]);
    expect(of(0, -99, -99, -99)).toEqual(none);
    expect(of(0, -99)).toEqual([undefined, undefined]);
    expect(of(0, -1, -99, -99, -99)).toEqual([...none, undefined]);
    expect(placesToTake([region(500, true), region(0), region(0), region(1)], 2)).toEqual(none);
    const stuck = region(Number.NEGATIVE_INFINITY, true);
    expect(placesToTake([stuck, stuck, stuck, stuck], 2)).toEqual(none);
    expect(placesToTake([stuck, region(4), stuck, stuck], 2)).toEqual([1, undefined, 1, 1]);
    expect(placesToTake([region(-9)], 2)).toEqual([undefined]);
  });
});

describe.each([undefined, "reference"] as const)("chains on device %s", (device) => {
  it("leave a mode of mass e^−60, with a warning", async () => {
    const chains = await drawChains(twoModes(60), start, options({ device }));
    expect(chains.every(({ x }) => isNear(x, 0))).toBe(true);
    expect(chains.map(({ restart }) => restart?.from)).toEqual([
      undefined,
      undefined,
      0,
      undefined,
    ]);
    expect(chains[2].restart).toMatchObject({ done: 60 });
    expect(chains[2].restart?.logDensity).toBeCloseTo(-61, -0.5);
    expect(chains[2].restart?.logDensityThere).toBeCloseTo(-1, -0.5);
    // The chain has random numbers of its own.
    expect(chains[2].x).not.toEqual(chains[0].x);
  });

  it("stay in a mode of mass e^−10, and everywhere without `restart`", async () => {
    for (const [gap, restart] of [
      [10, true],
      [60, false],
    ] as const) {
      const chains = await drawChains(twoModes(gap), start, options({ device, restart }));
      expect(chains.map(({ x }) => isNear(x, 60))).toEqual([false, false, true, false]);
      expect(chains.some((chain) => chain.restart)).toBe(false);
    }
  });

  it("have the same draws if they are continued before or after the comparison", async () => {
    const target = twoModes(60);
    const whole = await drawChains(target, start, options({ device }));
    for (const at of [30, 60, 61, 100]) {
      const stop = new AbortController();
      let kept: readonly ChainState[] | undefined;
      const store: ChainStore = {
        load: async () => kept,
        save: async (chains) => {
          kept = structuredClone(chains);
        },
      };
      const reached = [0, 0, 0, 0];
      const onDraw = (chain: number, done: number): void => {
        reached[chain] = done;
        if (Math.min(...reached) === at) stop.abort();
      };
      const stopped = drawChains(
        target,
        start,
        options({ device, store, onDraw, signal: stop.signal }),
      );
      await expect(stopped).rejects.toThrow();
      expect(Math.min(...(kept ?? []).map(({ done }) => done))).toBe(at);
      expect(await drawChains(target, start, options({ device, store }))).toEqual(whole);
    }
  });
});
