import {
  constant,
  input,
  isNdArray,
  mapTree,
  type NdArray,
  reference,
  type Tensor,
} from "diffeo/graph";
import { networkOf } from "diffeo/model";
import { key, normal } from "diffeo/random";
import { describe, expect, it } from "vitest";
import type { Columns } from "../../src/model/columns.ts";
import { affine, levelOf, norm, silu, times, type Vector } from "./plain.ts";

/** Three tokens: a number, two that belong together, a number; the second says two more. */
const spec = {
  kind: "columns",
  channels: 4,
  outputs: 6,
  sees: [[0], [1, 2], [3]],
  says: [0, 1, 1, 2, 1, 1],
  width: 8,
  layers: 2,
  heads: 2,
} as const;
const network = networkOf(spec);
const fresh = network.init(key(1));
const parameters = fresh as unknown as Columns<NdArray>;
const wide = mapTree<NdArray, Tensor>(fresh, (a) => constant(a, "float64"), isNdArray);

/** The file's equation for one row, in plain numbers. */
function byHand(x: Vector, lambda: number): number[] {
  const row = ({ shape: [, columns], data }: NdArray, i: number): number[] =>
    Array.from((data as Float32Array).subarray(i * columns, (i + 1) * columns));
  const plus = (a: Vector, b: Vector): number[] => a.map((v, i) => v + b[i]);
  const e = levelOf(parameters.time, lambda);
  const level = (h: Vector, scale: NdArray, shift: NdArray): number[] => {
    const [c, s] = [times(scale, e), times(shift, e)];
    return norm(h).map((a, j) => a * (1 + c[j]) + s[j]);
  };
  let h = spec.sees.map((some, t) =>
    some.reduce(
      (sum, c) =>
        plus(
          sum,
          row(parameters.value, c).map((u) => u * x[c]),
        ),
      row(parameters.place, t),
    ),
  );
  for (const layer of parameters.layers) {
    const seen = h.map((token) => level(token, layer.scale1, layer.shift1));
    const [q, k, z] = [layer.query, layer.key, layer.value].map((w) =>
      seen.map((token) => times(w, token)),
    );
    const d = spec.width / spec.heads;
    const mixed = q.map((own) =>
      own.map((_, j) => {
        const from = Math.floor(j / d) * d;
        const weights = k.map((other) =>
          Math.exp(
            other.slice(from, from + d).reduce((s, v, i) => s + v * own[from + i], 0) /
              Math.sqrt(d),
          ),
        );
        const total = weights.reduce((s, v) => s + v, 0);
        return weights.reduce((s, w, t) => s + (w / total) * z[t][j], 0);
      }),
    );
    h = h.map((token, t) => plus(token, times(layer.out, mixed[t])));
    h = h.map((token) =>
      plus(
        token,
        affine(layer.down, affine(layer.up, level(token, layer.scale2, layer.shift2)).map(silu)),
      ),
    );
  }
  return spec.says.map(
    (t, o) =>
      norm(h[t]).reduce((s, a, i) => s + a * row(parameters.output.w, o)[i], 0) +
      (parameters.output.b.data as Float32Array)[o],
  );
}

const rows = [
  [0.3, -1.2, 0.7, 2],
  [2, 0.1, -0.4, -1],
  [-1, 1, 1, 0.2],
  [0, 0.5, -3, 1.4],
];

describe("a transformer over columns", () => {
  it("follows its equation, with a noise level per row, per group of rows or for all", () => {
    const x = input("x", [4, 4], "float64");
    const grouped = input("grouped", [2, 2, 4], "float64");
    const data = Float64Array.from(rows.flat());
    const [each, pairs, all] = reference(
      [
        network.apply(wide, x, constant([-2, 0.5, 3, 8], "float64")),
        network.apply(wide, grouped, constant([[-2], [3]], "float64")),
        network.apply(wide, x, constant(1.5, "float64")),
      ],
      new Map([
        [x, data],
        [grouped, data],
      ]),
    );
    const close = (found: ArrayLike<number>, levels: readonly number[]): void => {
      const wanted = rows.flatMap((row, i) => byHand(row, levels[i]));
      expect(found.length).toBe(wanted.length);
      for (const [i, value] of wanted.entries()) expect(found[i]).toBeCloseTo(value, 11);
    };
    close(each, [-2, 0.5, 3, 8]);
    close(pairs, [-2, -2, 3, 3]);
    close(all, [1.5, 1.5, 1.5, 1.5]);
  });

  it("lets any token predict a number, also with equally many of both", () => {
    const said = (says: readonly number[]): number[] => {
      const two = networkOf({ ...spec, channels: 2, outputs: 2, sees: [[0], [1]], says });
      const same = two.init(key(5)) as unknown as Columns<NdArray>;
      const { data } = same.output.w;
      (data as Float32Array).copyWithin(spec.width, 0, spec.width);
      const p = mapTree<NdArray, Tensor>(same, (a) => constant(a, "float64"), isNdArray);
      const [found] = reference(
        [two.apply(p, constant([[0.3, -1]], "float64"), constant(1, "float64"))],
        new Map(),
      );
      return [...found];
    };
    expect(said([0, 1])[0]).not.toBe(said([0, 1])[1]);
    expect(said([1, 0])).toEqual(said([0, 1]).reverse());
  });

  it("starts near zero at every noise level", () => {
    const n = 20;
    const places = Array.from({ length: n }, (_, i) => i);
    const big = networkOf({
      kind: "columns",
      channels: n,
      sees: places.map((i) => [i]),
      says: places,
      width: 32,
      layers: 2,
      heads: 4,
    });
    const p = mapTree<NdArray, Tensor>(big.init(key(3)), (a) => constant(a, "float64"), isNdArray);
    const x = constant(normal(key(4), [50, n], { dtype: "float64" }), "float64");
    for (const lambda of [-10, 0, 10]) {
      const [found] = reference([big.apply(p, x, constant(lambda, "float64"))], new Map());
      expect(Math.sqrt(found.reduce((s, a) => s + a * a, 0) / found.length)).toBeLessThan(0.15);
    }
  });

  it("refuses tokens that read or predict numbers that do not exist", () => {
    expect(() => networkOf({ ...spec, says: [0, 1, 1, 2, 1, 3] }).init(key(1))).toThrow(
      "do not exist",
    );
    expect(() => networkOf({ ...spec, says: [0, 1] }).init(key(1))).toThrow("do not exist");
    expect(() => networkOf({ ...spec, sees: [[0], [1, 4], [3]] }).init(key(1))).toThrow(
      "do not exist",
    );
    expect(() => networkOf({ ...spec, heads: 3 }).init(key(1))).toThrow("heads");
  });
});
