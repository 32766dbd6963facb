/**
 * Rows of cells as points z in the coordinates of the domains' maps; a cell may be a missing value.
 *
 * The map of a domain takes all its cells to all its coordinates, so a part of the row, a column or
 * a group of columns, is known whole or not at all, and its coordinates are NaN where it is not. If
 * one part of a whole is missing, it follows from the others and the total, so it does not count as
 * missing.
 */
import type { Cell, Domain, Product, ProductPart } from "diffeo/domain";
import { fail } from "diffeo/graph";
import { fold, key as keyOf, uniform } from "diffeo/random";
import { mapRows } from "./map-rows.ts";

/** A cell of a row: null, undefined, NaN and "" are missing values. */
export type OpenCell = Cell | null | undefined;

/** A row as cells in the order of the columns, or by their names. */
export type Row = readonly OpenCell[] | Readonly<Record<string, OpenCell>>;

const isList = (row: Row): row is readonly OpenCell[] => Array.isArray(row);

export const isHole = (cell: OpenCell): cell is null | undefined | "" =>
  cell === null || cell === undefined || cell === "" || Number.isNaN(cell);

/**
 * The cells of a row in the order of columns; a row by name has them all, unless those that are
 * absent are missing values: then a name that is not a column is an error, but where columns are
 * only `absent`. There a list may lack the last columns.
 */
export function cellsOf(
  row: Row,
  columns: readonly string[],
  at: number,
  absent: "refused" | "holes" | "absent",
): readonly OpenCell[] {
  if (isList(row)) {
    if (absent === "absent" && row.length < columns.length)
      return [...row, ...Array<null>(columns.length - row.length).fill(null)];
    if (row.length !== columns.length)
      fail(
        "data",
        `row ${at + 1} has ${row.length} cells, there are ${columns.length} columns`,
        "give a cell for each",
      );
    return row;
  }
  const stranger =
    absent === "holes" ? Object.keys(row).find((name) => !columns.includes(name)) : undefined;
  if (stranger !== undefined)
    fail(
      "usage",
      `there is no column "${stranger}"`,
      `use ${columns.map((name) => `"${name}"`).join(", ")}`,
    );
  return columns.map((name) => {
    if (absent === "refused" && !Object.hasOwn(row, name))
      fail(
        "data",
        `row ${at + 1} has no cell "${name}"`,
        "give every row a cell for each column, or null for a missing value",
      );
    // A column may have the name of a property that every object has.
    return Object.hasOwn(row, name) ? row[name] : undefined;
  });
}

/** The description of a domain, without its bend. */
export const plainSpec = ({ spec }: Domain): Domain["spec"] =>
  spec?.kind === "bent" ? spec.domain : spec;

/** The sum of the other parts of a whole and its total, where exactly one part is missing. */
function othersOf({ domain }: ProductPart, cells: readonly OpenCell[]) {
  const spec = plainSpec(domain);
  if (spec?.kind !== "simplex" || cells.filter(isHole).length !== 1) return undefined;
  const sum = cells.reduce<number>((s, cell) => s + (isHole(cell) ? 0 : Number(cell)), 0);
  return { sum, total: spec.total ?? 1 };
}

/** All parts of a whole where exactly one is missing and the others leave something for it. */
function rest(part: ProductPart, cells: readonly OpenCell[]): Cell[] | undefined {
  const others = othersOf(part, cells);
  if (!others || others.sum >= others.total) return undefined;
  return cells.map((cell) => (isHole(cell) ? others.total - others.sum : cell));
}

/** The cells of a part where they are known, undefined where the part is missing. */
export function partCells(
  part: ProductPart,
  cells: readonly OpenCell[],
): readonly Cell[] | undefined {
  const own = cells.slice(part.at.cells, part.at.cells + part.domain.cells);
  return own.some(isHole) ? rest(part, own) : (own as Cell[]);
}

/** What to do about a part that is torn. */
export const WHOLE_GROUPS =
  "give all of them or none; of the parts of a whole all but one are enough";

/**
 * What is wrong with cells of which some are there and some are not, though they belong together;
 * undefined where nothing is.
 */
export function tornFault({ parts }: Product, cells: readonly OpenCell[]): string | undefined {
  for (const part of parts) {
    const own = cells.slice(part.at.cells, part.at.cells + part.domain.cells);
    if (!own.some(isHole) || own.every(isHole) || partCells(part, cells)) continue;
    const names = part.columns.map((name) => `"${name}"`);
    const others = othersOf(part, own);
    return others
      ? `${names.filter((_, i) => !isHole(own[i])).join(", ")} sum to ${others.sum} and leave ` +
          `nothing of ${others.total} for ${names[own.findIndex(isHole)]}`
      : `of ${names.join(", ")} some are there and some are not, and they belong together`;
  }
  return undefined;
}

/** The part that a coordinate of x belongs to, in words. */
export const coordinateName = ({ parts }: Product, i: number): string => {
  const part = parts.findLast(({ at }) => at.x <= i);
  return part ? part.columns.map((name) => `"${name}"`).join(", ") : `coordinate ${i + 1}`;
};

/**
 * The points z of rows of cells, NaN where a part is missing; `u` are the uniform numbers that a
 * row's cells take, but for parts that are atoms, which are in the middle of their interval.
 */
export function encodeRows(
  rows: readonly (readonly OpenCell[])[],
  domain: Product,
  u: ArrayLike<number>,
  atoms: Readonly<Record<string, unknown>>,
): Float64Array {
  const { size, noise, dimension: n, parts } = domain;
  const y = new Float64Array(rows.length * size);
  const missing: [from: number, to: number][] = [];
  rows.forEach((row, i) => {
    let drawn = i * noise;
    for (const part of parts) {
      const { domain: own, at } = part;
      const cells = partCells(part, row);
      const fault = cells && own.fault(cells);
      if (fault !== undefined)
        fail(
          "data",
          `row ${i + 1}: ${part.columns.slice(0, 5).join(", ")}: ${fault}`,
          "fix or drop the row, or give the column another domain",
        );
      const isAtom = Object.hasOwn(atoms, part.name);
      const numbers = Array.from({ length: own.noise }, (_, j) => (isAtom ? 0.5 : u[drawn + j]));
      drawn += own.noise;
      y.set(cells ? own.encode(cells, numbers) : own.start, i * size + at.y);
      if (!cells) missing.push([i * n + at.x, i * n + at.x + own.dimension]);
    }
  });
  const z = mapRows(y, size, domain.map.inverse);
  const bad = z.findIndex((v) => !Number.isFinite(v));
  if (bad >= 0)
    fail(
      "numerical",
      `row ${Math.floor(bad / n) + 1}: ${coordinateName(domain, bad % n)} is so near a bound ` +
        `that its map gives ${z[bad]}`,
      "move the bound outwards, or drop the row",
    );
  for (const [from, to] of missing) z.fill(Number.NaN, from, to);
  return z;
}

/** The points of rows without atoms; noise that cells take is a function of the seed. */
export const pointsOf = (rows: readonly Row[], domain: Product, seed: number): Float64Array =>
  encodeRows(
    rows.map((row, i) => cellsOf(row, domain.columns, i, "refused")),
    domain,
    cellNoise(rows.length, domain, seed),
    {},
  );

/** The uniform numbers that rows of cells take. */
export const cellNoise = (rows: number, { noise }: Product, seed: number): ArrayLike<number> =>
  noise === 0 ? [] : uniform(fold(keyOf(seed), "cells"), [rows, noise], { dtype: "float64" }).data;
