/**
 * The first stage of a fit: rows of cells become points z, those that training sees and those held
 * out, and the coordinates (domain, standard, atoms) that z is read in.
 */
import { type Domain, type Product, product } from "diffeo/domain";
import { fail } from "diffeo/graph";
import { finishInTurns } from "diffeo/host";
import { key as keyOf, permutation } from "diffeo/random";
import {
  atomsOf,
  cellNoise,
  cellsOf,
  clusteredStandard,
  codedRanges,
  coordinateName,
  encodeRows,
  type OpenCell,
  pointsOf,
  type Related,
  type Row,
  relatedColumns,
  type Standard,
  scoreRanges,
  settledCells,
  standardSteps,
  withParts,
  withTails,
} from "../encode/index.ts";
import type { Coordinates } from "../network/index.ts";
import { LEAST_ROWS } from "./fit-options.ts";

const MOST_HELD = 5000;

/** Points z of rows, those that training sees and those that it is only measured on. */
export interface SplitPoints {
  readonly seen: Float64Array;
  readonly unseen: Float64Array;
}

export interface PreparedRows extends SplitPoints {
  readonly coordinates: Coordinates;
  /** The cells of all rows, and which of them are held out. */
  readonly cells: readonly (readonly OpenCell[])[];
  readonly held: ArrayLike<number>;
  /** The standard that the network of given parts works in, where it is not that of the table. */
  readonly givenStandard?: Standard;
  /** Where columns follow from others: all columns, and their points. */
  readonly wide?: SplitPoints & { readonly related: Related };
  /** Whether rows have missing values. */
  readonly hasMissing: boolean;
}

/**
 * Which rows of so many training sees, and which it is only measured on: the same for all seeds, so
 * that they can be compared.
 */
export function heldOut(rows: number, held = 0.1) {
  const order = permutation(keyOf("held"), rows).data;
  const kept = Math.min(MOST_HELD, Math.max(1, Math.round(held * rows)));
  return { held: order.subarray(0, kept), seen: order.subarray(kept) };
}

/** All rows are seen, and measured on: nothing is held out. */
const allRows = (rows: number): ReturnType<typeof heldOut> => ({
  held: new Int32Array(0),
  seen: Int32Array.from({ length: rows }, (_, i) => i),
});

/** A column of which all values are missing is an error. */
function requireColumns(z: Float64Array, n: number, nameOf: (i: number) => string): void {
  const seen = new Uint8Array(n);
  for (let i = 0; i < z.length; i++) if (!Number.isNaN(z[i])) seen[i % n] = 1;
  const empty = seen.indexOf(0);
  if (empty >= 0) fail("data", `${nameOf(empty)} has no value in any row`, "leave it out");
}

/** Some rows of z, without those of which all values are missing. */
function rowsAt(z: Float64Array, n: number, order: ArrayLike<number>): Float64Array {
  const some = Array.from(order, (row) => z.subarray(row * n, (row + 1) * n)).filter(
    (row) => !row.every(Number.isNaN),
  );
  const out = new Float64Array(some.length * n);
  some.forEach((row, i) => {
    out.set(row, i * n);
  });
  return out;
}

/**
 * Points with NaN in rows held out, but with all codes, which are names of labels and not
 * measurements.
 */
function learnedFrom(
  z: Float64Array,
  n: number,
  held: ArrayLike<number>,
  codes: ReturnType<typeof codedRanges>,
) {
  const isCode = (i: number): boolean => codes.some(([from, to]) => i >= from && i < to);
  const numbers = Array.from({ length: n }, (_, i) => i).filter((i) => !isCode(i));
  const learned = z.slice();
  for (const row of Array.from(held)) for (const i of numbers) learned[row * n + i] = Number.NaN;
  return learned;
}

/** The cells of rows in all columns, those that follow from others included. */
function cellsIn(
  rows: readonly Row[],
  { columns }: Product,
  related: Related | undefined,
): (readonly OpenCell[])[] {
  if (!related) return rows.map((row, i) => cellsOf(row, columns, i, "refused"));
  return rows.map((row, i) => {
    const own = cellsOf(row, related.domain.columns, i, "absent");
    const found = settledCells(related, own);
    return typeof found === "string"
      ? fail("data", `row ${i + 1}: ${found}`, "fix or drop the row")
      : found;
  });
}

/** The first coordinates of each row of points. */
function firstOf(z: Float64Array, size: number, n: number): Float64Array {
  if (size === n) return z;
  const out = new Float64Array((z.length / size) * n);
  for (let i = 0; i < z.length / size; i++) out.set(z.subarray(i * size, i * size + n), i * n);
  return out;
}

/**
 * Points z of rows in their domains, bent where the rows that training sees have heavy tails, and
 * what z are standardised by. Where columns follow from others, `all` are the points with these.
 */
async function pointsIn(
  columns: Readonly<Record<string, Domain>>,
  rows: readonly Row[],
  split: ReturnType<typeof heldOut>,
  seed: number,
  signal: AbortSignal | undefined,
) {
  const { domain: learnedDomain, related } = relatedColumns(columns);
  const plain = related?.domain ?? learnedDomain;
  const cells = cellsIn(rows, learnedDomain, related);
  const wide = product(
    withTails(plain, rowsAt(pointsOf(cells, plain, seed), plain.dimension, split.seen)),
  );
  const found = related ? withParts(related, wide) : { domain: wide };
  const { domain } = found;
  const n = domain.dimension;
  const atoms = atomsOf(cells, wide);
  const nameOf = (i: number): string => coordinateName(wide, i);
  const all = encodeRows(cells, wide, cellNoise(rows.length, wide, seed), atoms);
  requireColumns(all, wide.dimension, nameOf);
  const rangesOf = (product: Product) => {
    const codes = codedRanges(product, atoms);
    return { codes, apart: [...codes, ...scoreRanges(product, atoms)] };
  };
  const z = firstOf(all, wide.dimension, n);
  const { codes, apart } = rangesOf(domain);
  const learned = learnedFrom(z, n, split.held, codes);
  const standard = await finishInTurns(standardSteps(learned, n, nameOf, apart), signal);
  const coordinates = { domain, standard, atoms };
  const own = related ? cells.map((row) => row.slice(0, domain.cells)) : cells;
  if (!found.related || wide.dimension === n) {
    const givenStandard = clusteredStandard(learned, domain, nameOf, apart);
    return {
      ...{ coordinates, givenStandard, z, cells: own },
      ...(found.related && { wide: { related: found.related, all } }),
    };
  }
  const ranges = rangesOf(wide);
  const seen = learnedFrom(all, wide.dimension, split.held, ranges.codes);
  return {
    coordinates,
    givenStandard:
      clusteredStandard(seen, wide, nameOf, ranges.apart) ??
      (await finishInTurns(standardSteps(seen, wide.dimension, nameOf, ranges.apart), signal)),
    z,
    cells: own,
    wide: { related: found.related, all },
  };
}

/**
 * The points of rows whose columns live in domains, split into those seen and those held out. Where
 * the share held out is 0, all rows are both.
 *
 * @param signal stops the preparation, which takes seconds where there are hundreds of columns
 */
export async function preparedRows(
  rows: readonly Row[],
  columns: Readonly<Record<string, Domain>>,
  held: number,
  seed: number,
  signal?: AbortSignal,
): Promise<PreparedRows> {
  const split = held === 0 ? allRows(rows.length) : heldOut(rows.length, held);
  const { z, wide, ...found } = await pointsIn(columns, rows, split, seed, signal);
  const { coordinates } = found;
  const n = coordinates.domain.dimension;
  const seen = rowsAt(z, n, split.seen);
  const unseen = held === 0 ? seen : rowsAt(z, n, split.held);
  if (seen.length < n * (LEAST_ROWS - 1) || unseen.length === 0)
    fail(
      "data",
      `${(seen.length + unseen.length) / n} rows are too few to fit and to measure`,
      "fill some missing values",
    );
  const points = { ...found, held: split.held, seen, unseen, hasMissing: z.some(Number.isNaN) };
  if (!wide) return points;
  const { related, all } = wide;
  const size = related.domain.dimension;
  const wideSeen = rowsAt(all, size, split.seen);
  const wideUnseen = held === 0 ? wideSeen : rowsAt(all, size, split.held);
  return { ...points, wide: { related, seen: wideSeen, unseen: wideUnseen } };
}
