/** Equivariance of an exchangeable network under permutations of classes and sites. */
import { expect, it } from "vitest";
import { sudokuGroups } from "../../src/categorical/index.ts";
import { evaluate } from "../../src/engine/index.ts";
import {
  add,
  constant,
  exp,
  expandDims,
  isNdArray,
  layerNorm,
  logSoftmax,
  mapTree,
  matmul,
  maximum,
  mul,
  type NdArray,
  reshape,
  slice,
  square,
  stack,
  sum,
  type Tensor,
} from "../../src/graph/index.ts";
import type { Exchangeable } from "../../src/model/exchangeable.ts";
import { networkOf } from "../../src/model/index.ts";
import { linear } from "../../src/model/layers.ts";
import { fold, key, normal } from "../../src/random/index.ts";

const grid = [4, 4];
const groups = sudokuGroups(2);
const network = networkOf({
  ...{ kind: "exchangeable", channels: 4, grid, groups, width: 6, layers: 3 },
});
const random = (name: string, shape: readonly number[]): NdArray =>
  normal(fold(key("exchangeable"), name), shape, { dtype: "float64" });
const parameters = mapTree<NdArray, Tensor>(
  network.init(key(1)),
  ({ shape }, name) => constant(random(name, shape), "float64"),
  isNdArray,
);
const logits = random("x", [1, 4, 4, 4]);
const run = async (x: NdArray): Promise<number[]> => {
  const t: NdArray = { shape: [1], dtype: "float64", data: Float64Array.of(0.5) };
  const out = await evaluate(
    (z: Tensor, s: Tensor) => network.apply(parameters, logSoftmax(z), s),
    x,
    t,
  );
  return Array.from(out.data as Float64Array);
};
/** The numbers of candidate (site, class) taken from candidate (from(site), of(class)). */
const moved = (
  data: ArrayLike<number>,
  from: (site: number) => number,
  of: (k: number) => number,
): Float64Array => Float64Array.from(data, (_, i) => data[from(Math.floor(i / 4)) * 4 + of(i % 4)]);
const furthest = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  Math.max(...Array.from(a, (v, i) => Math.abs(v - b[i])));

const same = (i: number): number => i;
const digits = (k: number): number => [2, 0, 3, 1][k];
/** Rows 0 and 1 change places, and so do the stacks, and the grid is transposed. */
const symmetry = (site: number): number => {
  const [r, c] = [site % 4, Math.floor(site / 4)];
  return [1, 0, 2, 3][r] * 4 + [2, 3, 0, 1][c];
};
/** Columns 1 and 2 change places, which tears the boxes. */
const torn = (site: number): number => Math.floor(site / 4) * 4 + [0, 2, 1, 3][site % 4];

/** The network as its equations state it, one sum after the other. */
function writtenOut(p: Exchangeable<Tensor>, x: Tensor, kinds: readonly (readonly number[][])[]) {
  const sites = x.shape[1];
  const classes = x.shape[2];
  let h = linear(p.input, stack([exp(x), mul(x, 0.2)], -1));
  for (const { up, heard, down } of p.layers) {
    const u = linear(up, layerNorm(h));
    const own = matmul(mul(sum(u, 2), 1 / Math.sqrt(classes)), heard[0]);
    const z = kinds.flat().reduce(
      (all, group) => {
        const w = heard[1 + kinds.findIndex((kind) => kind.includes(group))];
        const total = group.map((s) => slice(u, null, [s, s + 1])).reduce(add);
        const said = matmul(total, w);
        const place = Array.from({ length: sites }, (_, s) => (group.includes(s) ? 1 : 0));
        const spread = mul(reshape(constant(place, x.dtype), [1, sites, 1, 1]), said);
        return add(all, mul(spread, 1 / group.length));
      },
      add(u, mul(expandDims(own, 2), 1 / Math.sqrt(classes))),
    );
    h = add(h, matmul(square(maximum(z, 0)), down));
  }
  return reshape(matmul(layerNorm(h), p.head), [1, sites, classes]);
}

it("is its equations, with kinds of unequal groups, and sites in none and in two of a kind", async () => {
  const kinds = [
    [
      [0, 1, 2],
      [2, 3, 4, 5],
    ],
    [[0, 5], [1]],
    [[0, 1, 2, 3, 4, 5]],
  ];
  const odd = networkOf({
    ...{ kind: "exchangeable", channels: 3, grid: [6], groups: kinds, width: 5, layers: 2 },
  });
  const p = mapTree<NdArray, Tensor>(
    odd.init(key(2)),
    ({ shape }, name) => constant(random(`odd ${name}`, shape), "float64"),
    isNdArray,
  );
  const [got, want] = await evaluate(
    (x: Tensor, t: Tensor) => [
      odd.apply(p, logSoftmax(x), t),
      writtenOut(p as unknown as Exchangeable<Tensor>, logSoftmax(x), kinds),
    ],
    random("odd x", [1, 6, 3]),
    { shape: [1], dtype: "float64", data: Float64Array.of(0.5) },
  );
  expect(got.data.length).toBe(18);
  expect(furthest(got.data as Float64Array, want.data as Float64Array)).toBeLessThan(1e-11);
});

it("moves with the digits and with the symmetries of the groups, and with nothing else", async () => {
  const answer = await run(logits);
  const after = async (from: (site: number) => number, of: (k: number) => number) => {
    const data = moved(logits.data as Float64Array, from, of);
    return furthest(await run({ ...logits, data }), moved(answer, from, of));
  };
  expect(await after(same, digits)).toBeLessThan(1e-11);
  // A transposition takes rows to columns, which have weights of their own.
  const [columns, rows, boxes] = groups;
  expect(await after((s) => [1, 0, 2, 3][Math.floor(s / 4)] * 4 + (s % 4), same)).toBeLessThan(
    1e-11,
  );
  expect(await after(symmetry, same)).toBeGreaterThan(1e-3);
  expect(await after(torn, same)).toBeGreaterThan(1e-3);
  expect([columns[1], rows[1], boxes[1]]).toEqual([
    [1, 5, 9, 13],
    [4, 5, 6, 7],
    [2, 3, 6, 7],
  ]);
});
