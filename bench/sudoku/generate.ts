/**
 * Random grids and puzzles. A grid is the first solution of the empty puzzle with the digits of
 * every site tried in random order: every grid is possible, but not all are equally likely. A
 * puzzle is a grid whose clues are removed in random order as long as the solution is unique.
 */
import type { Grids } from "diffeo/categorical";
import { fail } from "diffeo/graph";
import { fold, integers, type Key, permutation, uniform } from "diffeo/random";
import { BLANK, type Layout } from "./layout.ts";
import { solutions } from "./solve.ts";

/** A stream of numbers in [0, 1), drawn in blocks. */
function stream(key: Key): () => number {
  let [block, at, count] = [uniform(key, [1024], { dtype: "float64" }).data, 0, 0];
  return () => {
    if (at === block.length) {
      block = uniform(fold(key, ++count), [1024], { dtype: "float64" }).data;
      at = 0;
    }
    return block[at++] as number;
  };
}

/** The same values in a random order. */
function shuffled(values: readonly number[], random: () => number): number[] {
  const out = [...values];
  for (let i = out.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [out[i], out[j]] = [out[j], out[i]];
  }
  return out;
}

/**
 * Full grids, determined by the key and their index.
 *
 * @example
 * import { key } from "diffeo/random";
 * import { layoutOf, randomGrids } from "diffeo-sudoku";
 *
 * const grids = randomGrids(layoutOf([3, 3]), 100, key(7)); // 100 · 81 digits, 0 to 8
 */
export function randomGrids(layout: Layout, count: number, key: Key): Uint8Array {
  const random = stream(key);
  const empty = new Uint8Array(layout.sites).fill(BLANK);
  const out = new Uint8Array(count * layout.sites);
  for (let i = 0; i < count; i++) {
    // Every order of the digits is a possible first row.
    const start = empty.slice();
    start.set(
      shuffled(
        Array.from({ length: layout.size }, (_, k) => k),
        random,
      ),
    );
    const [grid] = solutions(layout, start, 1, (digits) => shuffled(digits, random));
    out.set(grid, i * layout.sites);
  }
  return out;
}

/**
 * A puzzle with a unique solution and a given number of clues, from a full grid; undefined if the
 * random order of removal ends with more clues.
 */
export function puzzleOf(
  layout: Layout,
  grid: Uint8Array,
  clues: number,
  key: Key,
): Uint8Array | undefined {
  const { sites } = layout;
  if (!(Number.isSafeInteger(clues) && clues >= 0 && clues <= sites))
    fail("usage", `a puzzle of ${clues} clues`, `give 0 to ${sites}`);
  const puzzle = grid.slice();
  let left = sites;
  for (const site of permutation(key, sites).data) {
    if (left === clues) return puzzle;
    puzzle[site] = BLANK;
    if (solutions(layout, puzzle).length === 1) left--;
    else puzzle[site] = grid[site];
  }
  return left === clues ? puzzle : undefined;
}

/**
 * A grid under a random symmetry of Sudoku: digits renamed, bands, stacks, and the rows and columns
 * in them permuted, and the grid transposed if boxes are square.
 */
function moved(layout: Layout, grid: Uint8Array, random: () => number): Uint8Array {
  const { box, size } = layout;
  const [height, width] = box;
  const order = (block: number): number[] =>
    shuffled(
      Array.from({ length: size / block }, (_, b) => b),
      random,
    ).flatMap((b) =>
      shuffled(
        Array.from({ length: block }, (_, i) => b * block + i),
        random,
      ),
    );
  const [rows, columns] = [order(height), order(width)];
  const digits = shuffled(
    Array.from({ length: size }, (_, k) => k),
    random,
  );
  const transpose = height === width && random() < 0.5;
  return Uint8Array.from(grid, (_, site) => {
    const [r, c] = [rows[Math.floor(site / size)], columns[site % size]];
    return digits[grid[transpose ? c * size + r : r * size + c]];
  });
}

/**
 * Unlimited data from a pool of grids: grid i is a grid of the pool under a symmetry that the key
 * and i determine.
 */
export function movedGrids(layout: Layout, pool: Uint8Array, key: Key): Grids {
  const { sites } = layout;
  const own = pool.length / sites;
  return {
    count: 2 ** 31 - 1,
    select: (chosen) => {
      const out = new Uint8Array(chosen.length * sites);
      const from = integers(fold(key, "pool"), [1], 0, 2 ** 31 - 1).data[0];
      const random = stream(fold(fold(key, "moves"), chosen[0]));
      for (let i = 0; i < chosen.length; i++) {
        const g = (chosen[i] + from) % own;
        out.set(moved(layout, pool.subarray(g * sites, (g + 1) * sites), random), i * sites);
      }
      return out;
    },
  };
}
