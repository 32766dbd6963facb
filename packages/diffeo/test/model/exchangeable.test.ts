/** What an exchangeable network promises: the same answer after classes or sites are renamed. */
import { expect, it } from "vitest";
import { sudokuGroups } from "../../src/categorical/index.ts";
import { evaluate } from "../../src/engine/index.ts";
import {
  constant,
  isNdArray,
  logSoftmax,
  mapTree,
  type NdArray,
  type Tensor,
} from "../../src/graph/index.ts";
import { networkOf } from "../../src/model/index.ts";
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
