/**
 * Transitions on given points. All uniform numbers are tried, so that the probabilities of the
 * results are exact, and invariance is tested to rounding.
 */
import { describe, expect, it } from "vitest";
import { FixedLengthTrajectory } from "../../src/mcmc/hmc.ts";
import { NutsTrajectory } from "../../src/mcmc/nuts.ts";
import type { EndedTransition, Leaf, Trajectory } from "../../src/mcmc/trajectory.ts";

/** A ring of points of weights w, e^{−H} ∝ w, and with momenta. A point's number is its x. */
function ring(weights: readonly number[], momenta: readonly number[][]): (i: number) => Leaf {
  const n = weights.length;
  const leaves = weights.map((w, i): Leaf => {
    const p = Float64Array.from(momenta[i]);
    return {
      x: Float64Array.of(i),
      slope: p,
      momentum: p,
      velocity: p,
      value: Math.log(w),
      energy: 3 - Math.log(w),
    };
  });
  return (i) => leaves[(i + n) % n];
}

/** How a transition ends if leapfrog goes from point to point. */
function ended(trajectory: Trajectory, at: (i: number) => Leaf): EndedTransition {
  for (;;) {
    const { from, direction } = trajectory.next;
    const end = trajectory.add(at(from.x[0] + direction));
    if (end) return end;
  }
}

/** Σᵢ wᵢ P(i → j) for each j, where each of the lists of draws is as likely as any other. */
function after(
  weights: readonly number[],
  momenta: readonly number[][],
  maxDepth: number,
  lists: readonly (readonly number[])[],
): { readonly distribution: number[]; readonly leaves: Set<number> } {
  const n = weights.length;
  const at = ring(weights, momenta);
  const distribution = new Array<number>(n).fill(0);
  const leaves = new Set<number>();
  for (let i = 0; i < n; i++)
    for (const draws of lists) {
      let next = 0;
      const end = ended(new NutsTrajectory(at(i), maxDepth, () => draws[next++]), at);
      leaves.add(end.leaves);
      distribution[end.leaf.x[0]] += weights[i] / lists.length;
    }
  return { distribution, leaves };
}

/** All lists with one of each of these. */
const products = (options: readonly (readonly number[])[]): number[][] =>
  options.reduce<number[][]>(
    (lists, more) => lists.flatMap((list) => more.map((v) => [...list, v])),
    [[]],
  );

const two = [0.25, 0.75];
/** Every chance that weights of 1 and 2 make is a multiple of 1/12. */
const twelve = Array.from({ length: 12 }, (_, k) => (k + 0.5) / 12);

describe("a tree", () => {
  it("samples leaves by their weights, and so preserves these", () => {
    // Nothing turns. Drawn are a direction, between two leaves, a direction, inside the new half,
    // between two halves.
    const straight = [[1], [1], [1], [1]];
    const lists = products([two, twelve, two, twelve, twelve]);
    for (const weights of [
      [1, 2, 2, 1],
      [2, 1, 2, 2],
    ]) {
      const { distribution, leaves } = after(weights, straight, 2, lists);
      expect(leaves).toEqual(new Set([3]));
      distribution.forEach((w, j) => {
        expect(w).toBeCloseTo(weights[j], 10);
      });
    }
  });

  it("samples a leaf of a half in proportion, and the half with the ratio of the weights", () => {
    const at = ring([3, 1, 1, 2, 1, 1], new Array(6).fill([1]));
    const endOf = (draws: number[]): number =>
      ended(new NutsTrajectory(at(0), 2, () => draws.shift() as number), at).leaf.x[0];
    for (const [u, inside] of [
      [2 / 3 - 1e-9, 3],
      [2 / 3 + 1e-9, 2],
    ])
      expect(endOf([0.25, 0.9, 0.25, u, 1e-3])).toBe(inside);
    for (const [u, moved] of [
      [3 / 4 - 1e-9, 3],
      [3 / 4 + 1e-9, 0],
    ])
      expect(endOf([0.25, 0.9, 0.25, 0.5, u])).toBe(moved);
    for (const [u, moved] of [
      [1 / 3 - 1e-9, 1],
      [1 / 3 + 1e-9, 0],
    ])
      expect(endOf([0.25, u, 0.25, 0.5, 0.9])).toBe(moved);
  });

  it("prefers to move: it always moves to a half of the same weight", () => {
    const at = ring([1, 1, 1], [[1], [1], [1]]);
    for (const [direction, end] of [
      [0.25, 1],
      [0.75, 2],
    ]) {
      const draws = [direction, 0.999];
      expect(ended(new NutsTrajectory(at(0), 1, () => draws.shift() as number), at).leaf.x[0]).toBe(
        end,
      );
    }
  });

  it("preserves the distribution if trajectories turn, at both ends and seams and in both directions", () => {
    // Of even weight all chances are ½ or 1. Momenta without a pattern: some stretches turn at
    // once, some never.
    const lists = products(new Array(10).fill(two));
    const seen = new Set<number>();
    for (let seed = 0; seed < 6; seed++) {
      const momenta = Array.from({ length: 16 }, (_, i) => [
        1 + 1.6 * Math.sin(2.3 * i * i + seed),
        Math.cos(1.7 * i * i + 3 * seed),
      ]);
      const { distribution, leaves } = after(new Array(16).fill(1), momenta, 3, lists);
      for (const count of leaves) seen.add(count);
      for (const w of distribution) expect(w).toBeCloseTo(1, 10);
    }
    // 5 where a new half of four turned after two of them.
    expect([...seen].sort()).toEqual([1, 3, 5, 7]);
  });

  it("reports the acceptance of its leaves, the mean of min(1, e^{H₀ − H})", () => {
    const at = ring([2, 1, 2, 1, 4, 1, 1, 1], new Array(8).fill([1]));
    const end = ended(new NutsTrajectory(at(0), 3, () => 0.25), at);
    expect(end.leaves).toBe(7);
    expect(end.acceptance).toBeCloseTo((0.5 + 1 + 0.5 + 1 + 3 * 0.5) / 7, 14);
    expect(end.diverged).toBe(false);
  });

  it("ends if the energy has risen by a thousand, without a move", () => {
    const on = ring([1, 1, 1, 1], new Array(4).fill([1]));
    const at = (i: number): Leaf => ({ ...on(i), energy: 3 + [0, 999.9, 1000.1, 0][i] });
    const end = ended(new NutsTrajectory(at(0), 5, () => 0.25), at);
    expect([end.diverged, end.leaves, end.leaf.x[0]]).toEqual([true, 2, 0]);
  });
});

describe("a path", () => {
  const at = ring([2, 2, 1, 3], [[1], [1], [1], [1]]);
  const path = (steps: number, u: number | undefined): EndedTransition =>
    ended(new FixedLengthTrajectory(at(0), steps, u), at);

  it("moves to its end with probability min(1, e^{H − H′}), and else returns to its start", () => {
    expect(path(2, 0.499)).toMatchObject({ leaf: { x: Float64Array.of(2) }, leaves: 2, energy: 3 });
    expect(path(2, 0.501)).toMatchObject({
      leaf: { x: Float64Array.of(0) },
      leaves: 2,
      energy: 3 - Math.LN2,
    });
    expect(path(2, 0.501).acceptance).toBeCloseTo(0.5, 15);
    expect(path(3, 0.999)).toMatchObject({
      leaf: { x: Float64Array.of(3) },
      leaves: 3,
      acceptance: 1,
    });
  });

  it("always moves to its end without a test", () => {
    expect(path(1, undefined).leaf.x[0]).toBe(1);
    expect(path(2, undefined).leaf.x[0]).toBe(2);
  });
});
