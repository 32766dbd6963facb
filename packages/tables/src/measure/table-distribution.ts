/**
 * A distribution of rows of a table, from a model or a baseline. Densities are in nats and the
 * units of the cells.
 */
import type { Cell, Product } from "diffeo/domain";
import type { OpenCell } from "../diffusion/encode/index.ts";
import { takesGiven } from "../diffusion/network/index.ts";
import {
  allCells,
  knownDomain,
  type LogLikelihoodOptions,
  type TableModel,
} from "../diffusion/query/index.ts";

/** The cells of a row. */
export type Cells = readonly Cell[];
/** Cells, some of which may be missing. */
export type OpenCells = readonly OpenCell[];

/** The columns of a table, where some of them follow from those that a distribution is over. */
export interface ShownRows {
  readonly domain: Product;
  /** Rows with the cells of these columns, from rows of the distribution. */
  readonly cells: <C extends OpenCell>(
    rows: readonly (readonly C[])[],
  ) => readonly (readonly (C | Cell)[])[];
}

/** A named distribution of rows: a model or a baseline. */
export interface TableDistribution {
  readonly name: string;
  /**
   * Number of random directions per row with which `logLikelihood` estimates the divergence of the
   * flow. Absent if it is exact.
   */
  readonly probes?: number;
  /** The columns that a report names. Default: those of the distribution. */
  readonly shown?: ShownRows;
  /**
   * log q of the present cells of each row: a density for numbers, a probability for labels and
   * integers.
   */
  readonly logLikelihood: (rows: readonly OpenCells[]) => Promise<Float64Array> | Float64Array;
  /** Samples of rows, the same for the same seed. */
  readonly draw: (count: number, seed: number) => Promise<readonly Cells[]> | readonly Cells[];
  /**
   * Samples the missing cells of rows given the others. Without it, rows with missing cells cannot
   * be evaluated.
   */
  readonly complete?: (rows: readonly OpenCells[], seed: number) => Promise<readonly Cells[]>;
}

/** Options for a model as a distribution. */
export interface ModelDistributionOptions extends Pick<LogLikelihoodOptions, "spread"> {
  readonly signal?: AbortSignal;
}

/** With more coordinates per row, likelihoods are estimated with this many random directions. */
const EXACT = 64;
const PROBES = 16;

/** Network evaluations per row of an estimate. */
const ESTIMATED = 60;

/**
 * Whether the likelihood of a model is estimated: an exact one takes one derivative per coordinate.
 */
const isEstimated = ({ domain }: TableModel): boolean => domain.dimension > EXACT;

/** The distribution of a model. */
export const modelDistribution = (
  model: TableModel,
  { signal, spread }: ModelDistributionOptions = {},
): TableDistribution => ({
  name: "model",
  ...(isEstimated(model) && { probes: PROBES }),
  ...(model.related && {
    shown: { domain: knownDomain(model), cells: (rows) => allCells(model, rows) },
  }),
  logLikelihood: (rows) =>
    model.logLikelihood(rows, {
      signal,
      spread,
      ...(isEstimated(model) && { probes: PROBES, evaluations: ESTIMATED }),
    }),
  draw: async (count, seed) => (await model.sample({ count, seed, signal })).rows,
  ...(takesGiven(model) && {
    complete: async (rows, seed) =>
      (await model.complete(rows, { seed, signal })).rows.map(([row]) => row),
  }),
});
