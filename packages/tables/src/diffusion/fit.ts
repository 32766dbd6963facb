/** From rows to a model: cells are encoded, mapped to x, standardised, a tenth is held out, and the network is trained. */
import { type Cell, type Domain, type Product, product } from "diffeo/domain";
import { fail, type NdArray } from "diffeo/graph";
import { pickRows } from "diffeo/host";
import { fold, key as keyOf, permutation, uniform } from "diffeo/random";
import { withTails } from "./bend.ts";
import { mapped, type TableModel } from "./model.ts";
import { standardMap, standardOf } from "./standard.ts";
import { type TrainingOptions, trainScore } from "./train.ts";

/** A row as cells in the order of the columns, or by their names. */
export type Row = readonly Cell[] | Readonly<Record<string, Cell>>;

export interface FitTableOptions extends TrainingOptions {
  /** Domains by name: a column's, or that of a group of columns that the domain names itself. */
  readonly columns: Readonly<Record<string, Domain>>;
  /** The share of rows that training does not see. Default 0.1, of no more than 5,000 rows. */
  readonly held?: number;
}

const isList = (row: Row): row is readonly Cell[] => Array.isArray(row);

/** The cells of a row in the order of a domain's columns. */
function cellsOf(row: Row, columns: readonly string[], at: number): readonly Cell[] {
  if (isList(row)) return row;
  return columns.map((name) => {
    if (!Object.hasOwn(row, name))
      fail("data", `row ${at + 1} has no cell "${name}"`, "give every row a cell for each column");
    return row[name];
  });
}

/** The points z of rows in the coordinates of the domains' maps; noise that cells take is a function of the seed. */
export function pointsOf(rows: readonly Row[], domain: Product, seed: number): Float64Array {
  const { size, noise, columns } = domain;
  const drawn =
    noise === 0 ? undefined : uniform(fold(keyOf(seed), "cells"), [rows.length, noise], { dtype: "float64" });
  const y = new Float64Array(rows.length * size);
  rows.forEach((row, i) => {
    const cells = cellsOf(row, columns, i);
    const fault = domain.fault(cells);
    if (fault !== undefined)
      fail("data", `row ${i + 1}: ${fault}`, "mend or drop the row, or give the column another domain");
    y.set(domain.encode(cells, drawn ? drawn.data.subarray(i * noise, (i + 1) * noise) : []), i * size);
  });
  const z = mapped(y, size, domain.map.inverse);
  const n = domain.dimension;
  const bad = z.findIndex((v) => !Number.isFinite(v));
  if (bad >= 0)
    fail(
      "numerical",
      `row ${Math.floor(bad / n) + 1}: ${coordinateName(domain, bad % n)} is so near a bound that its map gives ${z[bad]}`,
      "move the bound outwards, or drop the row",
    );
  return z;
}

/** The part that a coordinate of x belongs to, in words. */
const coordinateName = ({ parts }: Product, i: number): string => {
  const part = parts.findLast(({ at }) => at.x <= i);
  return part ? part.columns.map((name) => `"${name}"`).join(", ") : `coordinate ${i + 1}`;
};

const LEAST_ROWS = 10;
const MOST_HELD = 5000;

/** Which rows of so many training sees, and which it is only measured on: the same for all seeds, so that they can be compared. */
export function heldOut(rows: number, held = 0.1) {
  const order = permutation(keyOf("held"), rows).data;
  const kept = Math.min(MOST_HELD, Math.max(1, Math.round(held * rows)));
  return { held: order.subarray(0, kept), seen: order.subarray(kept) };
}

/** Fits a model of rows whose columns live in the given domains. */
export async function fitTable(rows: readonly Row[], options: FitTableOptions): Promise<TableModel> {
  const { columns, held = 0.1, seed = 0, ...training } = options;
  if (rows.length < LEAST_ROWS)
    fail("data", `${rows.length} rows are too few to fit and to measure`, `give at least ${LEAST_ROWS}`);
  if (!(held > 0 && held < 1)) fail("usage", `held is ${held}`, "give a share between 0 and 1");
  const plain = product(columns);
  const domain = product(withTails(plain, pointsOf(rows, plain, seed)));
  const n = domain.dimension;
  const z = pointsOf(rows, domain, seed);
  const standard = standardOf(z, n, (i) => coordinateName(domain, i));
  const points: NdArray = {
    shape: [rows.length, n],
    dtype: "float32",
    data: Float32Array.from(mapped(z, n, standardMap(standard).inverse)),
  };
  const split = heldOut(rows.length, held);
  const { network, parameters, best, validation } = await trainScore(
    pickRows(points, split.seen),
    pickRows(points, split.held),
    { ...training, seed },
  );
  return { domain, standard, network, parameters, training: { seed, rows: rows.length, step: best, validation } };
}
