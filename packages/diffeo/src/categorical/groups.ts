/**
 * Groups of sites of a grid, for networks that know which sites belong together (`exchangeable`)
 * and for rules: the lines along an axis, and boxes. Sites are counted in reading order, the last
 * axis fastest.
 */
import { fail, type Shape, sizeOf } from "../graph/index.ts";

/** A kind of groups: lists of sites. */
export type Groups = readonly (readonly number[])[];

/** The coordinates of a site, from 0. */
const placeOf = (grid: Shape, site: number): number[] =>
  grid.map((d, axis) => Math.floor(site / sizeOf(grid.slice(axis + 1))) % d);

/**
 * Groups sites by a number that is a function of their coordinates, in the order of the numbers.
 */
function gather(grid: Shape, nameOf: (place: readonly number[]) => number): Groups {
  const groups: number[][] = [];
  for (let site = 0; site < sizeOf(grid); site++) {
    const name = nameOf(placeOf(grid, site));
    if (!groups[name]) groups[name] = [];
    groups[name].push(site);
  }
  return groups;
}

const indexIn = (sizes: readonly number[], place: readonly number[]): number =>
  sizes.reduce((index, d, axis) => index * d + place[axis], 0);

/**
 * The lines of a grid along each of its axes, one kind per axis: for two axes the columns, then the
 * rows.
 *
 * @example
 * import { linesOf } from "diffeo/categorical";
 *
 * linesOf([2, 3]); // [[[0, 3], [1, 4], [2, 5]], [[0, 1, 2], [3, 4, 5]]]
 */
export const linesOf = (grid: Shape): Groups[] =>
  grid.map((_, axis) =>
    gather(grid, (place) => indexIn(grid.toSpliced(axis, 1), place.toSpliced(axis, 1))),
  );

/**
 * The boxes of a given size that divide a grid.
 *
 * @example
 * import { boxesOf } from "diffeo/categorical";
 *
 * boxesOf([4, 4], [2, 2])[1]; // [2, 3, 6, 7]
 */
export function boxesOf(grid: Shape, box: Shape): Groups {
  if (box.length !== grid.length || !grid.every((d, axis) => d % box[axis] === 0))
    fail(
      "usage",
      `boxes [${box.join(", ")}] of a grid [${grid.join(", ")}]`,
      "give a size along every axis that divides the grid's",
    );
  const counts = grid.map((d, axis) => d / box[axis]);
  return gather(grid, (place) =>
    indexIn(
      counts,
      place.map((c, axis) => Math.floor(c / box[axis])),
    ),
  );
}

/**
 * Rows, columns and boxes of a Sudoku. A box has 3 by 3 sites by default.
 *
 * @param height The sites of a box from top to bottom
 * @param width The sites of a box from left to right
 */
export function sudokuGroups(height = 3, width = height): Groups[] {
  const grid = [height * width, height * width];
  return [...linesOf(grid), boxesOf(grid, [height, width])];
}
