import {
  constant,
  input,
  isNdArray,
  mapTree,
  type NdArray,
  reference,
  type Tensor,
} from "diffeo/graph";
import { networkOf, velocityScore } from "diffeo/model";
import { key, normal } from "diffeo/random";
import { vp } from "diffeo/sde";
import { describe, expect, it } from "vitest";
import { type Residual, residual } from "../../src/model/residual.ts";
import { affine, levelOf, norm, silu, times } from "./plain.ts";

const parameters = networkOf({ kind: "residual", channels: 3, width: 8, blocks: 2, time: 5 }).init(
  key(1),
) as unknown as Residual<NdArray>;
const wide = mapTree<NdArray, Tensor>(
  parameters,
  (a) => constant(a, "float64"),
  isNdArray,
) as unknown as Residual<Tensor>;

/** The file's equation for one row, in plain numbers. */
function byHand(x: readonly number[], lambda: number): number[] {
  const e = levelOf(parameters.time, lambda);
  let h = affine(parameters.input, x);
  for (const { scale, shift, first, second } of parameters.blocks) {
    const [c, s] = [times(scale, e), times(shift, e)];
    const seen = norm(h).map((a, j) => a * (1 + c[j]) + s[j]);
    const gained = affine(second, affine(first, seen).map(silu));
    h = h.map((a, j) => a + gained[j]);
  }
  return affine(parameters.output, norm(h).map(silu));
}

const rows = [
  [0.3, -1.2, 0.7],
  [2, 0.1, -0.4],
  [-1, 1, 1],
  [0, 0.5, -3],
];

describe("a residual network", () => {
  it("follows its equation, with a noise level per row, per group of rows or for all", () => {
    const x = input("x", [4, 3], "float64");
    const grouped = input("grouped", [2, 2, 3], "float64");
    const data = Float64Array.from(rows.flat());
    const [each, pairs, all] = reference(
      [
        residual(wide, x, constant([-2, 0.5, 3, 8], "float64")),
        residual(wide, grouped, constant([[-2], [3]], "float64")),
        residual(wide, x, constant(1.5, "float64")),
      ],
      new Map([
        [x, data],
        [grouped, data],
      ]),
    );
    const close = (found: ArrayLike<number>, levels: readonly number[]): void => {
      const wanted = rows.flatMap((row, i) => byHand(row, levels[i]));
      for (const [i, value] of wanted.entries()) expect(found[i]).toBeCloseTo(value, 12);
    };
    close(each, [-2, 0.5, 3, 8]);
    close(pairs, [-2, -2, 3, 3]);
    close(all, [1.5, 1.5, 1.5, 1.5]);
  });

  it("gives the score of a Gaussian if it predicts v of a Gaussian", () => {
    // x₀ ~ N(0, c²): E[x₀ | x] = m c² x/(m²c² + σ²) and the score is −x/(m²c² + σ²); v̂ = (m x −
    // x̂₀)/σ.
    const sde = vp();
    const c2 = 0.3;
    const t = constant([0.02, 0.3, 0.9, 0.999], "float64");
    const x = constant(rows, "float64");
    const [m, sigma] = reference([sde.transition.meanFactor(t), sde.transition.std(t)], new Map());
    let asked: Tensor | undefined;
    const score = velocityScore(sde, (_, lambda) => {
      asked = lambda;
      return constant(
        rows.map((row, i) => {
          const mean = (m[i] * c2) / (m[i] ** 2 * c2 + sigma[i] ** 2);
          return row.map((a) => (m[i] * a - mean * a) / sigma[i]);
        }),
        "float64",
      );
    })(x, t);
    const [found, levels] = reference([score, asked as Tensor], new Map());
    rows.forEach((row, i) => {
      expect(levels[i]).toBeCloseTo(Math.log(m[i] ** 2 / sigma[i] ** 2), 10);
      row.forEach((a, j) => {
        expect(found[3 * i + j]).toBeCloseTo(-a / (m[i] ** 2 * c2 + sigma[i] ** 2), 9);
      });
    });
  });

  it("starts near zero at every noise level", () => {
    const big = networkOf({ kind: "residual", channels: 20, width: 64, blocks: 3 }).init(key(3));
    const p = mapTree<NdArray, Tensor>(
      big,
      (a) => constant(a, "float64"),
      isNdArray,
    ) as unknown as Residual<Tensor>;
    const x = normal(key(4), [200, 20], { dtype: "float64" });
    for (const lambda of [-10, 0, 10]) {
      const [found] = reference(
        [residual(p, constant(x, "float64"), constant(lambda, "float64"))],
        new Map(),
      );
      const size = Math.sqrt(found.reduce((s, a) => s + a * a, 0) / found.length);
      expect(size).toBeLessThan(0.15);
    }
  });
});
