/**
 * solveOde with a tolerance compared with solve_ivp of SciPy (DOP853, rtol and atol 1e-12; its
 * gradients by differences), and with exact solutions.
 */
import { describe, expect, it } from "vitest";
import {
  add,
  at,
  constant,
  div,
  exp,
  grad,
  mul,
  neg,
  reference,
  solveOde,
  stack,
  sub,
  sum,
  type Tensor,
  vmap,
} from "../../src/graph/index.ts";

const numbers = (t: Tensor): number[] => Array.from(reference([t], new Map())[0]);
const float64 = (v: number | readonly number[]) => constant(v as number, "float64");

const times = [1, 2, 3, 5];
/** Hares and lynxes. */
const cycle = (p: Tensor, tolerance: number, steps: number): Tensor => {
  const [a, b, c, d] = [0, 1, 2, 3].map((k) => at(p, k));
  const slope = (_: Tensor, [u, v]: readonly Tensor[]) => [
    mul(sub(a, mul(b, v)), u),
    mul(sub(mul(d, u), c), v),
  ];
  const states = solveOde(slope, [float64(30), float64(4)], times, { tolerance, steps });
  return stack(states, 0);
};
const rates = [0.55, 0.028, 0.8, 0.024];
const cycleKnown = [
  46.386073011990156, 68.48938566318893, 81.17609517786137, 18.584839472321143, 4.43527035489009,
  7.858080245887426, 22.523534650890543, 49.52995160454248,
];

const doses = [0.5, 1, 2, 4, 8, 10];
/** A dose of 30 in a volume of 2, absorbed at a rate and eliminated by Michaelis and Menten. */
const elimination = (p: Tensor, tolerance: number, steps: number): Tensor => {
  const [ka, km, vm] = [0, 1, 2].map((k) => at(p, k));
  const slope = (t: Tensor, c: Tensor): Tensor =>
    sub(mul(mul(ka, 15), exp(neg(mul(ka, t)))), mul(mul(vm, 0.5), div(c, add(km, c))));
  return solveOde(slope, float64(0), doses, { tolerance, steps });
};
const constants = [0.75, 0.95, 5];
const eliminationKnown = [
  3.897595856789149, 6.070230173489958, 7.6057050795873495, 5.805965746369989, 0.16662909802719567,
  0.00433211972051481,
];

const farthest = (found: readonly number[], known: readonly number[]): number =>
  Math.max(...found.map((v, i) => Math.abs(v / known[i] - 1)));

describe("solveOde with a tolerance", () => {
  it("approaches SciPy's solutions as the tolerance decreases", () => {
    expect(farthest(numbers(cycle(float64(rates), 1e-8, 60)), cycleKnown)).toBeLessThan(2e-6);
    expect(farthest(numbers(cycle(float64(rates), 1e-5, 20)), cycleKnown)).toBeLessThan(1e-3);
    const fine = numbers(elimination(float64(constants), 1e-8, 130));
    expect(farthest(fine, eliminationKnown)).toBeLessThan(2e-6);
  });

  it("has the gradients of the solution", () => {
    const last = (row: number) => (p: Tensor) => at(at(cycle(p, 1e-8, 60), row), 3);
    const known = [
      [-111.39001524863477, 332.6765879155654, 33.22312782594316, -2182.979073661606],
      [23.36506386381064, -2319.7654143634695, 9.109533947171398, -1785.1684635713143],
    ];
    for (const row of [0, 1])
      expect(farthest(numbers(grad(last(row))(float64(rates))), known[row])).toBeLessThan(1e-5);
    const slope = grad((p: Tensor) => at(elimination(p, 1e-8, 130), 5))(float64(constants));
    expect(
      farthest(
        numbers(slope),
        [-0.029044612672874295, 0.015523825221916128, -0.005896038165224479],
      ),
    ).toBeLessThan(1e-5);
  });

  it("follows a solution whose speed changes by orders of magnitude in few steps", () => {
    // y′ = −2ty: y = e^{−t²}, which 8 steps of equal length between the times miss.
    const bell = (t: Tensor, y: Tensor): Tensor => mul(mul(t, y), -2);
    const found = numbers(
      solveOde(bell, float64(1), [3], { tolerance: 1e-7, steps: 120, scale: 1e-5 }),
    );
    expect(Math.abs(found[0] / Math.exp(-9) - 1)).toBeLessThan(1e-5);
  });

  it("is NaN beyond the time that its steps reach", () => {
    const stiff = (_: Tensor, y: Tensor): Tensor => mul(y, -1e6);
    const found = numbers(solveOde(stiff, float64(1), [1e-6, 1, 2], { tolerance: 1e-6 }));
    expect(found[0]).toBeCloseTo(Math.exp(-1), 5);
    expect(found.slice(1)).toEqual([Number.NaN, Number.NaN]);
  });

  it("has separate steps for each chain", () => {
    const decay = (rate: Tensor) =>
      solveOde((_: Tensor, y: Tensor) => neg(mul(rate, y)), float64(1), [1], {
        tolerance: 1e-6,
        steps: 60,
      });
    const found = numbers(sum(vmap(decay)(float64([0.1, 1, 6])), -1));
    [0.1, 1, 6].forEach((rate, i) => {
      expect(found[i]).toBeCloseTo(Math.exp(-rate), 5);
    });
  });

  it("refuses invalid tolerances", () => {
    const still = (_: Tensor, y: Tensor): Tensor => y;
    expect(() => solveOde(still, float64(1), [1], { tolerance: 0 })).toThrow(
      "solveOde: `tolerance` is 0. Give a small positive number, such as 1e-6.",
    );
  });
});
