/** Networks in plain numbers: what their tests share. */
import { type NdArray, square, sum, type Tensor } from "diffeo/graph";
import { expect } from "vitest";
import { compile } from "../../src/engine/index.ts";
import { valueAndGrad } from "../../src/graph/index.ts";
import { key, normal } from "../../src/random/index.ts";

export type Vector = readonly number[];

export const silu = (z: number): number => z / (1 + Math.exp(-z));

/** Wᵀv of an array [rows, columns]. */
export function times({ shape: [rows, columns], data }: NdArray, v: Vector): number[] {
  const w = data as Float32Array;
  expect(v.length).toBe(rows);
  return Array.from({ length: columns }, (_, j) =>
    v.reduce((s, a, i) => s + a * w[i * columns + j], 0),
  );
}

export const affine = ({ w, b }: { w: NdArray; b: NdArray }, v: Vector): number[] =>
  times(w, v).map((a, j) => a + (b.data as Float32Array)[j]);

/** Layer normalisation without weights. */
export function norm(v: Vector): number[] {
  const mean = v.reduce((s, a) => s + a, 0) / v.length;
  const variance = v.reduce((s, a) => s + (a - mean) ** 2, 0) / v.length;
  return v.map((a) => (a - mean) / Math.sqrt(variance + 1e-5));
}

/** The embedding of a level of noise by 32 frequencies. */
export function levelOf(time: { w: NdArray; b: NdArray }, lambda: number): number[] {
  const f = Array.from({ length: 32 }, (_, i) =>
    Math.exp(Math.log(0.05) + (i / 31) * Math.log(80)),
  );
  const waves = [...f.map((w) => Math.sin(lambda * w)), ...f.map((w) => Math.cos(lambda * w))];
  return affine(time, waves).map(silu);
}

/**
 * Compares the gradient of Σ f(θ, x, t)² in θ with central differences of fourth order along random
 * directions.
 */
export async function expectGradient(
  f: (theta: Tensor, x: Tensor, t: Tensor) => Tensor,
  specs: Parameters<typeof compile>[1],
  [theta, x, t]: readonly [NdArray, NdArray, NdArray],
  directions: number,
): Promise<void> {
  const loss = (flat: Tensor, image: Tensor, time: Tensor): Tensor =>
    sum(square(f(flat, image, time)));
  const graph = compile(valueAndGrad(loss), specs as never, { type: "float64", threads: 1 });
  const run = (at: NdArray) => graph(at, x, t) as Promise<[NdArray, NdArray]>;
  const [, gradient] = await run(theta);
  for (let k = 0; k < directions; k++) {
    const direction = normal(key(10 + k), theta.shape, { dtype: "float64" }).data as Float64Array;
    const value = async (h: number): Promise<number> => {
      const moved = (theta.data as Float64Array).map((v, i) => v + h * direction[i]);
      return Number((await run({ ...theta, data: moved }))[0].data[0]);
    };
    const h = 1e-5;
    const difference =
      (8 * ((await value(h)) - (await value(-h))) -
        ((await value(2 * h)) - (await value(-2 * h)))) /
      (12 * h);
    const along = (gradient.data as Float64Array).reduce((s, g, i) => s + g * direction[i], 0);
    expect(Math.abs(along - difference) / Math.abs(difference)).toBeLessThan(1e-6);
  }
  await graph.dispose();
}
