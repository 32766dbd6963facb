/** A deep kernel density compared with its equation in plain numbers. */
import { expect, it } from "vitest";
import {
  constant,
  input,
  isNdArray,
  mapTree,
  type NdArray,
  reference,
  type Tensor,
} from "../../src/graph/index.ts";
import { type Dkef, dkefInit, dkefLogDensity } from "../../src/model/index.ts";
import { key, normal } from "../../src/random/index.ts";

const [n, points, width] = [2, 3, 4];
const logScales = [0, 0.7];
const fresh = dkefInit(key(1), normal(key(2), [points, n]), { width, logScales });
const p: Dkef<NdArray> = {
  ...fresh,
  mixture: { shape: [2], dtype: "float32", data: Float32Array.of(0.5, -1) },
};
const alpha = [0.3, -1.2, 0.8];

/** φ_r(x)/√s_r */
function features(r: number, x: readonly number[]): number[] {
  const softplus = (z: number): number => Math.log1p(Math.exp(z));
  const entry = ({ shape: [, rows, columns], data }: NdArray, i: number, j: number): number =>
    Number(data[(r * rows + i) * columns + j]);
  const times = (v: readonly number[], w: NdArray): number[] =>
    Array.from({ length: width }, (_, j) => v.reduce((s, a, i) => s + a * entry(w, i, j), 0));
  const { w1, b1, w2, b2, w3, skip } = p.features;
  const first = times(x, w1).map((v, j) => softplus(v + entry(b1, 0, j)));
  const second = times(first, w2).map((v, j) => softplus(v + entry(b2, 0, j)));
  const straight = times(x, skip);
  // The scales are kept in float32.
  return times(second, w3).map(
    (v, j) => (v + straight[j]) / Math.sqrt(10 ** Math.fround(logScales[r])),
  );
}

it("a density is Σ α k(x, z) relative to N(0, 4I), k a softmax mixture of kernels of different scales", () => {
  const rho = [0.5, -1].map((w) => Math.exp(w) / (Math.exp(0.5) + Math.exp(-1)));
  const rows = [[0.4, -0.9], [1.5, 2]]; // biome-ignore format: points
  const x = input("x", [2, n], "float64");
  const wide = mapTree<NdArray, Tensor>(
    p,
    (a) => constant(a, "float64"),
    isNdArray,
  ) as unknown as Dkef<Tensor>;
  const [found] = reference(
    [dkefLogDensity(wide, constant(alpha, "float64"), x)],
    new Map([[x, Float64Array.from(rows.flat())]]),
  );
  rows.forEach((row, i) => {
    let f = -(row[0] ** 2 + row[1] ** 2) / 8;
    for (let l = 0; l < points; l++)
      for (const [r, weight] of rho.entries()) {
        const z = Array.from({ length: n }, (_, j) => Number(p.inducing.data[l * n + j]));
        const [a, b] = [features(r, row), features(r, z)];
        f += alpha[l] * weight * Math.exp(-0.5 * a.reduce((s, v, j) => s + (v - b[j]) ** 2, 0));
      }
    expect(found[i]).toBeCloseTo(f, 12);
  });
});
