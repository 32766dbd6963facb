/**
 * Whether rows of a batch are apart: what f says of row c must depend on row c alone. A sum over all axes, chains included, added to
 * one number a chain has the right shape and mixes the chains; no shape tells it. So some rows are moved, and what is said of the
 * others must stay as it was:
 *
 *   f(x)_c = f(x′)_c   wherever x_c = x′_c
 *
 * The same graph, the same number of rows and row c in its place: every operation on its numbers is the same, and so are their bits.
 * SLACK leaves room for a runtime that adds in the order in which threads come; a mixture moves log p by far more.
 */
import { fail } from "../graph/index.ts";

const SLACK = 1e-10;

/** Every second row of n numbers, those of the given parity, elsewhere: by steps that no shift or scale undoes. */
const moved = (rows: Float64Array, n: number, parity: number): Float64Array =>
  rows.map((v, i) => (Math.floor(i / n) % 2 === parity ? v + 0.25 * Math.cos(1 + i) : v));

const same = (a: number, b: number): boolean =>
  a === b || (Number.isNaN(a) && Number.isNaN(b)) || Math.abs(a - b) <= SLACK * Math.max(1, Math.abs(a));

/** Numbers by name, as many of each row. */
type Said = Readonly<Record<string, ArrayLike<number>>>;

export interface Apart {
  /** Rows of n numbers. */
  readonly rows: Float64Array;
  readonly n: number;
  /** What is said of rows. */
  readonly of: (rows: Float64Array) => Promise<Said>;
  /** What a row is. */
  readonly row: "chain" | "draw";
}

/** Refuses a function of many rows that mixes them. @param before what it says of the rows as they are */
export async function requireApart(before: Said, { rows, n, of, row }: Apart): Promise<void> {
  for (const parity of [0, 1]) {
    const after = await of(moved(rows, n, parity));
    for (const [name, numbers] of Object.entries(before)) {
      const width = numbers.length / (rows.length / n);
      for (let i = 0; i < numbers.length; i++) {
        const at = Math.floor(i / width);
        if (at % 2 !== parity && !same(numbers[i], after[name][i])) refuse(name, row, at, numbers[i], after[name][i]);
      }
    }
  }
}

const refuse = (name: string, row: string, at: number, before: number, after: number): never =>
  fail(
    "shape",
    `${name} mixes ${row}s: of ${row} ${at} it goes from ${before} to ${after} where only other ${row}s move`,
    `reduce over the axes after the first, which is that of ${row}s: sum(x, -1), or sum(x, [1, 2]) of two axes; sum(x) and mean(x) run over all ${row}s`,
  );
