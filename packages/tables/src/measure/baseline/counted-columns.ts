/** Columns of labels and integers in baselines: their frequencies and likelihoods. */
import type { Cell, ProductPart } from "diffeo/domain";
import { fold, key, uniform } from "diffeo/random";
import { isHole } from "../../diffusion/encode/index.ts";
import type { OpenCells } from "../table-distribution.ts";
import {
  type Discrete,
  labelDistribution,
  type NumberBounds,
  numberDistribution,
} from "./discrete.ts";

/** Number of draws of spread cells over which a row's density is averaged. */
export const DRAWS = 16;

export const isCategory = ({ domain }: ProductPart): boolean => domain.kind === "category";

const isInteger = ({ domain }: ProductPart): boolean => domain.kind === "integer";

export const isCounted = (part: ProductPart): boolean => isCategory(part) || isInteger(part);

/** A column of labels or integers. */
export interface Counted {
  readonly at: number;
  readonly distribution: Discrete<Cell>;
}

export function countedDistribution(
  { domain, at, name }: ProductPart,
  rows: readonly OpenCells[],
): Counted {
  const cells = rows.map((row) => row[at.cells]).filter((cell): cell is Cell => !isHole(cell));
  const spec = domain.spec as { readonly labels?: readonly Cell[] } & NumberBounds;
  if (spec.labels) return { at: at.cells, distribution: labelDistribution(spec.labels, cells) };
  const noise = uniform(fold(key("cells"), name), cells.length, { dtype: "float64" }).data;
  return {
    at: at.cells,
    distribution: numberDistribution(cells as number[], noise, spec) as Discrete<Cell>,
  };
}

/** log of the mean of e^v over draws, for each row. */
export function logMean(draws: readonly Float64Array[]): Float64Array {
  return draws[0].map((_, i) => {
    const most = draws.reduce((m, v) => Math.max(m, v[i]), Number.NEGATIVE_INFINITY);
    return most === Number.NEGATIVE_INFINITY
      ? most
      : most + Math.log(draws.reduce((s, v) => s + Math.exp(v[i] - most), 0) / draws.length);
  });
}

export const drawnRows = (count: number, columns: number): Cell[][] =>
  Array.from({ length: count }, () => Array<Cell>(columns).fill(0));

/** log probabilities of counted columns, independent of each other. */
export const countedLogs = (
  counted: readonly Counted[],
  rows: readonly OpenCells[],
): Float64Array =>
  Float64Array.from(rows, (row) =>
    counted.reduce(
      (s, { at, distribution }) =>
        isHole(row[at]) ? s : s + distribution.logProbability(row[at] as Cell),
      0,
    ),
  );
