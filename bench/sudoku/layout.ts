/**
 * The layout of a Sudoku: n × n sites with n = height · width of a box, in reading order. Classes 0
 * to n − 1 are the digits 1 to n; `BLANK` is a site without a clue.
 */
import { fail } from "diffeo/graph";

/** A site without a clue. */
export const BLANK = 255;

/**
 * The size of a box: [3, 3] for the usual Sudoku, [2, 2] and [2, 3] for those of 4 and 6 digits.
 */
export type Box = readonly [height: number, width: number];

/**
 * The rows, the columns and the boxes, each a list of groups of sites that hold every digit once.
 */
export interface Layout {
  readonly box: Box;
  /** n, the number of digits and of sites in a group. */
  readonly size: number;
  readonly sites: number;
  readonly rows: readonly (readonly number[])[];
  readonly columns: readonly (readonly number[])[];
  readonly boxes: readonly (readonly number[])[];
}

const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

/**
 * The layout of Sudokus with boxes of a size.
 *
 * @example
 * layoutOf([3, 3]).boxes[0]; // [0, 1, 2, 9, 10, 11, 18, 19, 20]
 */
export function layoutOf(box: Box = [3, 3]): Layout {
  const [height, width] = box;
  const size = height * width;
  if (!box.every((side) => Number.isSafeInteger(side) && side >= 1) || size < 2 || size > 16)
    fail("usage", `a Sudoku with boxes of ${box.join(" by ")}`, "use boxes of 2 to 16 sites");
  const rows = range(size).map((r) => range(size).map((c) => r * size + c));
  const boxes = range(size).map((b) => {
    const [top, left] = [Math.floor(b / height) * height, (b % height) * width];
    return range(size).map((i) => (top + Math.floor(i / width)) * size + left + (i % width));
  });
  const columns = range(size).map((c) => rows.map((row) => row[c]));
  return { box, size, sites: size * size, rows, columns, boxes };
}

/** Whether every row, column and box holds every digit once. */
export function isSolved({ size, ...layout }: Layout, grid: ArrayLike<number>): boolean {
  return [...layout.rows, ...layout.columns, ...layout.boxes].every((group) => {
    let seen = 0;
    for (const s of group) seen |= 1 << grid[s];
    return seen === 2 ** size - 1;
  });
}

/** A grid from text: digits, and 0, `.`, `_` or `*` for blanks; other characters are ignored. */
export function parseGrid({ size, sites }: Layout, text: string): Uint8Array {
  const signs = [...text].filter((sign) => /[0-9a-gA-G._*]/.test(sign));
  if (signs.length !== sites)
    fail("data", `the text has ${signs.length} sites`, `give ${sites}, with 0 or . for a blank`);
  return Uint8Array.from(signs, (sign, site) => {
    if ("0._*".includes(sign)) return BLANK;
    const digit = Number.parseInt(sign, 17);
    if (digit > size)
      fail("data", `site ${site} holds ${sign}`, `use digits 1 to ${size.toString(17)}`);
    return digit - 1;
  });
}

/** A grid as one line, `.` for a blank. */
export const formatGrid = (grid: ArrayLike<number>): string =>
  Array.from(grid, (k) => (k === BLANK ? "." : (k + 1).toString(17))).join("");
