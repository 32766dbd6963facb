import { describe, expect, it } from "vitest";
import {
  add,
  at,
  columns,
  constant,
  cos,
  equal,
  exp,
  grad,
  input,
  linearRecurrence,
  mul,
  neg,
  reference,
  solveOde,
  sub,
  sum,
  type Tensor,
  vmap,
} from "../../src/graph/index.ts";

const numbers = (t: Tensor): number[] => Array.from(reference([t], new Map())[0]);
const float64 = (v: number | readonly number[]) => constant(v as number, "float64");

describe("solveOde", () => {
  // y′ = −2y + cos t, y(0) = 1: y = (2 cos t + sin t + 3e^{−2t})/5.
  const decay = (t: Tensor, y: Tensor): Tensor => sub(cos(t), mul(y, 2));
  const exact = (t: number): number => (2 * Math.cos(t) + Math.sin(t) + 3 * Math.exp(-2 * t)) / 5;
  const times = [0.5, 1.2, 3];

  it("has order 4, also for a slope that depends on time", () => {
    const error = (steps: number): number =>
      Math.max(
        ...numbers(solveOde(decay, float64(1), times, { steps })).map((y, i) =>
          Math.abs(y - exact(times[i])),
        ),
      );
    const order = Math.log2(error(16) / error(32));
    expect(order).toBeGreaterThan(3.8);
    expect(order).toBeLessThan(4.3);
    expect(error(64)).toBeLessThan(1e-7);
  });

  it("starts at another time, and keeps the shape of the state", () => {
    const turn = (_: Tensor, { u, v }: { readonly u: Tensor; readonly v: Tensor }) => ({
      u: neg(v),
      v: u,
    });
    const { u, v } = solveOde(turn, { u: float64([1, 0]), v: float64([0, 2]) }, [2, 3], {
      start: 1,
      steps: 40,
    });
    const [c1, s1, c2, s2] = [Math.cos(1), Math.sin(1), Math.cos(2), Math.sin(2)];
    [c1, -2 * s1, c2, -2 * s2].forEach((w, i) => {
      expect(numbers(u)[i]).toBeCloseTo(w, 6);
    });
    [s1, 2 * c1, s2, 2 * c2].forEach((w, i) => {
      expect(numbers(v)[i]).toBeCloseTo(w, 6);
    });
  });

  it("has the derivative of the solution, also in batches", () => {
    const at2 = (rate: Tensor): Tensor =>
      sum(solveOde((_, y: Tensor) => mul(neg(rate), y), float64(3), [2], { steps: 50 }));
    const r = input("r", [2], "float64");
    const [slopes] = reference([vmap(grad(at2))(r)], new Map([[r, Float64Array.of(0.3, 1)]]));
    expect(slopes[0]).toBeCloseTo(-6 * Math.exp(-0.6), 6);
    expect(slopes[1]).toBeCloseTo(-6 * Math.exp(-2), 6);
  });

  it("names arguments that do not fit", () => {
    expect(() => solveOde(decay, float64(1), [[1]])).toThrow("`times` has shape [1, 1]");
    expect(() => solveOde(decay, float64(1), [1], { steps: 0 })).toThrow("`steps` is 0");
    expect(() =>
      solveOde((_, y: readonly Tensor[]) => y.slice(1), [float64(1), float64(2)], [1]),
    ).toThrow("f returned 1 tensors, the state has 2");
  });
});

describe("of models", () => {
  it("a linear recurrence equals the loop", () => {
    const [factor, term] = [
      [0.3, -0.5, 2, 0.9],
      [1, 2, -1, 0.5],
    ];
    let x = 0;
    const loop = term.map((b, t) => (x = factor[t] * x + b));
    numbers(linearRecurrence(float64(factor), float64(term))).forEach((v, t) => {
      expect(v).toBeCloseTo(loop[t], 14);
    });
    expect(numbers(linearRecurrence(0.5, [8, 1, 1]))).toEqual([8, 5, 3.5]);
  });

  it("columns take numbers, vectors and booleans", () => {
    const x = float64([3, 4]);
    const made = columns(1, x, equal(x, 4), add(x, exp(mul(x, 0))));
    expect([made.shape, numbers(made)]).toEqual([
      [2, 4],
      [1, 3, 0, 4, 1, 4, 1, 5],
    ]);
    expect(numbers(at(columns(float64(2), float64(5)), 1))).toEqual([5]);
  });
});
