/**
 * Rows with missing values, completed: what is there stays as it is, and the rest is sampled from
 * its distribution given that. An integer that is there and no atom is spread over its interval,
 * again for every draw.
 */
import type { Cell, ProductPart } from "diffeo/domain";
import { fail } from "diffeo/graph";
import { batches } from "diffeo/host";
import { fold, key as keyOf, sampleKeys, uniform } from "diffeo/random";
import {
  beyondFault,
  cellsOf,
  EMPTY_OR_DROP,
  encodeRows,
  mapRows,
  type OpenCell,
  partCells,
  type Row,
  resolvedCells,
  settledCells,
  strangers,
  tornFault,
  WHOLE_GROUPS,
} from "../encode/index.ts";
import {
  type FittedTable,
  givenCoordinates,
  type OpenedTable,
  requireTakesGiven,
} from "../network/index.ts";
import { type DrawnRows, type DrawRows, requireDraw } from "./draw.ts";
import { filledPoints } from "./fill.ts";
import { POINT_DRAWS, pointOf } from "./point.ts";

/** Cells by the names of their columns. */
export type Given = Readonly<Record<string, Cell>>;

/** How rows are completed. */
export interface TableCompleteOptions extends Omit<DrawRows, "count"> {
  /** How often each row is completed. Default: 1, or 41 with `point`. */
  readonly draws?: number;
  /**
   * Whether a row is completed once, by one value for each missing cell (`point.ts`): the median of
   * its draws, of labels the mode. Default no.
   */
  readonly point?: boolean;
  /**
   * The number of the first row: rows of a file are drawn alike whole and in batches. Default 0.
   */
  readonly first?: number;
}

/** Rows with their missing cells filled in. */
export interface CompletedRows {
  readonly columns: readonly string[];
  /** Of each row its draws, or its point, in the order of the rows. */
  readonly rows: readonly (readonly (readonly Cell[])[])[];
  readonly evaluations: number;
}

/** Rows that are drawn at once: memory does not grow beyond them. */
const BATCH = 10_000;

const namesOf = ({ columns }: ProductPart): string => columns.map((name) => `"${name}"`).join(", ");

/**
 * Draws the rest of rows of cells, of all columns; row i is number `first + i` of the seed. What
 * comes out are the cells of the columns that are learned.
 */
async function drawRest(
  model: OpenedTable,
  rows: readonly (readonly OpenCell[])[],
  options: Omit<DrawRows, "count" | "first">,
  first: number,
): Promise<Cell[][]> {
  const { related } = model;
  const { domain } = givenCoordinates(model);
  const { size, noise, dimension: n } = domain;
  const keys = sampleKeys(
    fold(fold(keyOf(options.seed ?? 0), "holes"), "cells"),
    rows.length,
    first,
  );
  const u = noise === 0 ? [] : uniform(keys, noise, { dtype: "float64" }).data;
  const z = await filledPoints(model, encodeRows(rows, domain, u, model.atoms ?? {}), {
    ...options,
    first,
  });
  const y = mapRows(z, n, domain.map.forward);
  return rows.map((row, i) => {
    const drawn = domain.parts.flatMap((part) => {
      const { domain: own, at } = part;
      return (
        partCells(part, row) ?? own.decode(y.subarray(i * size + at.y, i * size + at.y + own.size))
      );
    });
    return related
      ? resolvedCells(related, row, drawn, y.subarray(i * size, (i + 1) * size)).slice(
          0,
          model.domain.cells,
        )
      : drawn;
  });
}

/**
 * The cells of a row in all columns, those that follow from others included; or a sentence on why
 * they do not go together.
 */
function knownCells(model: FittedTable, row: Row, at: number): readonly OpenCell[] | string {
  const { domain, related } = model;
  if (!related) return cellsOf(row, domain.columns, at, "holes");
  const isShort = Array.isArray(row) && row.length === domain.columns.length;
  return settledCells(
    related,
    cellsOf(row, related.domain.columns, at, isShort ? "absent" : "holes"),
  );
}

/** The cells of a row of which some are given; what cannot be given is an error. */
export function requireGiven(model: FittedTable, given: Given): readonly OpenCell[] {
  const { atoms = {} } = model;
  const { domain } = givenCoordinates(model);
  const cells = knownCells(model, given, 0);
  if (typeof cells === "string")
    return fail("usage", `given: ${cells}`, "give values that go together");
  const half = tornFault(domain, cells);
  if (half !== undefined) fail("usage", `given: ${half}`, WHOLE_GROUPS);
  for (const part of domain.parts) {
    const own = partCells(part, cells);
    const fault = own && part.domain.fault(own);
    if (fault !== undefined)
      fail("usage", `given: ${namesOf(part)}: ${fault}`, "give a value of its domain");
    const beyond = beyondFault(part, atoms, cells);
    if (beyond !== undefined)
      fail("usage", `given: ${namesOf(part)}: ${beyond}`, "give one of these");
  }
  if (Object.keys(given).length > 0) requireTakesGiven(model);
  return cells;
}

/** Draws rows with given cells. */
export async function sampleGiven(
  model: OpenedTable,
  given: Given,
  { count, first = 0, ...options }: DrawRows,
): Promise<DrawnRows> {
  requireDraw({ count, ...options });
  const cells = requireGiven(model, given);
  const rows: Cell[][] = [];
  for (const [from, some] of batches(count, Math.min(count, BATCH))) {
    const alike = Array.from({ length: some }, () => cells);
    rows.push(...(await drawRest(model, alike, options, first + from)));
  }
  return { columns: model.domain.columns, rows, evaluations: options.evaluations ?? 50 };
}

/** A point in which columns follow from others as the rules say: medians need not add up. */
function pointIn(
  { related, domain }: FittedTable,
  given: readonly OpenCell[],
  point: readonly Cell[],
): readonly Cell[] {
  if (!related) return point;
  const helpers = related.domain.cells - domain.cells;
  const all = [...point, ...Array<Cell>(helpers).fill("")];
  return resolvedCells(related, given, all, []).slice(0, domain.cells);
}

/** Completes rows, each as often as `draws` says, or by one point. */
export async function completeRows(
  model: OpenedTable,
  rows: readonly Row[],
  {
    point = false,
    draws = point ? POINT_DRAWS : 1,
    first = 0,
    ...options
  }: TableCompleteOptions = {},
): Promise<CompletedRows> {
  if (!(Number.isSafeInteger(draws) && draws >= 1))
    fail("usage", `draws is ${draws}`, "give an integer, at least 1");
  requireDraw({ count: draws, ...options });
  const { domain, atoms = {} } = model;
  const evaluations = options.evaluations ?? 50;
  if (rows.length === 0) return { columns: domain.columns, rows: [], evaluations };
  const cells = rows.map((row, i) => {
    const own = knownCells(model, row, i);
    if (typeof own === "string") return fail("data", `row ${i + 1}: ${own}`, "fix or drop the row");
    const fault = tornFault(domain, own);
    if (fault !== undefined) fail("data", `row ${i + 1}: ${fault}`, WHOLE_GROUPS);
    const [far] = strangers(domain, atoms, own);
    if (far) fail("data", `row ${i + 1}: ${namesOf(far.part)}: ${far.fault}`, EMPTY_OR_DROP);
    return own;
  });
  const found: (readonly Cell[])[][] = rows.map(() => []);
  const total = rows.length * draws;
  for (const [from, count] of batches(total, Math.min(total, BATCH))) {
    const some = Array.from({ length: count }, (_, i) => Math.floor((from + i) / draws));
    const filled = await drawRest(
      model,
      some.map((row) => cells[row]),
      options,
      first * draws + from,
    );
    filled.forEach((row, i) => {
      const own = found[some[i]];
      own.push(row);
      // A point stands for its draws as soon as all are there.
      if (point && own.length === draws)
        own.splice(0, draws, pointIn(model, cells[some[i]], pointOf(domain.parts, own)));
    });
  }
  return { columns: domain.columns, rows: found, evaluations };
}
