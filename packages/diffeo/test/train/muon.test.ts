/** Muon: its matrices are nearly orthogonal, and a step equals the formula in plain numbers. */
import { describe, expect, it } from "vitest";
import { evaluate } from "../../src/engine/index.ts";
import { add, mul, type NdArray, sum, type Tensor } from "../../src/graph/index.ts";
import { key, normal } from "../../src/random/index.ts";
import { compileStep } from "../../src/train/index.ts";
import { orthogonal } from "../../src/train/muon.ts";

const rowsOf = ({ data, shape }: NdArray): number[][] => {
  const [rows, columns] = shape.slice(-2);
  return Array.from({ length: rows }, (_, r) =>
    Array.from({ length: columns }, (_, c) => Number(data[r * columns + c])),
  );
};
const product = (a: number[][], b: number[][]): number[][] =>
  a.map((row) => b[0].map((_, c) => row.reduce((total, value, k) => total + value * b[k][c], 0)));
const transposed = (a: number[][]): number[][] => a[0].map((_, c) => a.map((row) => row[c]));

describe("the orthogonal factor", () => {
  it.each([
    [8, 12],
    [12, 8],
    [9, 9],
  ])("of a random %d by %d matrix has singular values near 1", async (rows, columns) => {
    const u = normal(key("u"), [1, rows, columns], { dtype: "float64" });
    const x = rowsOf((await evaluate((t: Tensor) => orthogonal(t), u)) as NdArray);
    const wide = rows <= columns ? x : transposed(x);
    // The trace of x xᵀ is Σ s² and that of its square Σ s⁴, which bound every s.
    const gram = product(wide, transposed(wide));
    const size = Math.min(rows, columns);
    const squares = gram.reduce((total, row, i) => total + row[i], 0) / size;
    const fourths = product(gram, gram).reduce((total, row, i) => total + row[i], 0) / size;
    expect(squares).toBeGreaterThan(0.6);
    expect(squares).toBeLessThan(1.3);
    // The squares of a random matrix itself have a relative spread of .8 and 1.
    expect(Math.sqrt(fourths - squares ** 2) / squares).toBeLessThan(0.45);
    // It turns as u does: u xᵀ is symmetric where x is the factor U Vᵀ itself.
    const turned = product(rowsOf(u), transposed(x));
    const asymmetry = Math.hypot(
      ...turned.flatMap((row, i) => row.map((v, j) => v - turned[j][i])),
    );
    expect(asymmetry / Math.hypot(...turned.flat())).toBeLessThan(0.25);
  });
});

describe("a step with Muon", () => {
  it("moves matrices by the orthogonal factor of the momentum, and other arrays by Adam", async () => {
    const [side, rate, factor] = [8, 0.02, 5];
    const parameters = {
      bias: { shape: [3], dtype: "float32", data: Float32Array.of(1, -2, 0.5) },
      w: normal(key("w"), [side, side]),
    } as const;
    const size = 3 + side * side;
    const gradients = [1, 2].map((i) => normal(key(`g${i}`), [size], { dtype: "float64" }));
    const loss = (p: { bias: Tensor; w: Tensor }, a: Tensor, b: Tensor): Tensor =>
      add(sum(mul(p.bias, a)), sum(mul(p.w, b)));
    const options = { device: "reference", type: "float64" } as const;
    const shapes = [[3], [side, side]];
    const plain = compileStep(loss, parameters, shapes as never, options);
    const step = compileStep(loss, parameters, shapes as never, { ...options, muon: factor });
    const zeros = new Float64Array(size);
    const theta = Float64Array.from([...parameters.bias.data, ...parameters.w.data], Number);
    const begin = { theta, m: zeros, v: zeros, ema: theta } as never;
    let [state, adam] = [begin, begin];
    let momentum = new Array<number>(side * side).fill(0);
    let w = [...parameters.w.data].map(Number);
    for (const [i, gradient] of gradients.entries()) {
      const g = [...gradient.data].map(Number);
      const batch = [
        g.slice(0, 3),
        Array.from({ length: side }, (_, r) => g.slice(3 + side * r, 3 + side * (r + 1))),
      ] as never;
      state = (await step(state, batch, i + 1, rate)).state as never;
      adam = (await plain(adam, batch, i + 1, rate)).state as never;
      momentum = momentum.map((m, j) => 0.95 * m + 0.05 * g[3 + j]);
      const mixed = momentum.map((m, j) => 0.95 * m + 0.05 * g[3 + j]);
      const u = { shape: [1, side, side], dtype: "float64", data: Float64Array.from(mixed) };
      const { data } = (await evaluate((t: Tensor) => orthogonal(t), u as NdArray)) as NdArray;
      const eta = rate * factor;
      w = w.map((value, j) => value * (1 - eta * 0.05) - eta * Number(data[j]));
      const got = [...(state as { theta: NdArray }).theta.data].map(Number);
      const byAdam = [...(adam as { theta: NdArray }).theta.data].map(Number);
      for (let j = 0; j < 3; j++) expect(got[j]).toBeCloseTo(byAdam[j], 12);
      w.forEach((value, j) => {
        expect(got[3 + j]).toBeCloseTo(value, 10);
      });
    }
    await Promise.all([step.dispose(), plain.dispose()]);
  });
});
