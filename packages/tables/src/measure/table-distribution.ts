/**
 * A distribution of rows of a table, whatever makes it: a model or a baseline. Densities are in
 * nats and the units of the cells.
 */
import type { Cell } from "diffeo/domain";
import type { OpenCell } from "../diffusion/encode/index.ts";
import { takesGiven } from "../diffusion/network/index.ts";
import type { LogLikelihoodOptions, TableModel } from "../diffusion/query/index.ts";

/** The cells of a row. */
export type Cells = readonly Cell[];
/** Cells of which some may be missing. */
export type OpenCells = readonly OpenCell[];

/** A distribution of rows under a name: a model or a baseline. */
export interface TableDistribution {
  readonly name: string;
  /**
   * Random directions per row by which `logLikelihood` estimates the divergence of the flow.
   * Absent: it is exact.
   */
  readonly probes?: number;
  /**
   * log q of each row, of the cells that are there: a density in numbers, a probability in labels
   * and integers.
   */
  readonly logLikelihood: (rows: readonly OpenCells[]) => Promise<Float64Array> | Float64Array;
  /** Rows of it, the same for the same seed. */
  readonly draw: (count: number, seed: number) => Promise<readonly Cells[]> | readonly Cells[];
  /**
   * Rows with their missing cells sampled given the others. Where it is absent, rows with missing
   * cells cannot be measured.
   */
  readonly complete?: (rows: readonly OpenCells[], seed: number) => Promise<readonly Cells[]>;
}

/** How a model is measured as a distribution. */
export interface ModelDistributionOptions extends Pick<LogLikelihoodOptions, "spread"> {
  readonly signal?: AbortSignal;
}

/** Coordinates of a row beyond which likelihoods are estimated by so many random directions. */
const EXACT = 64;
const PROBES = 16;

/** Evaluations of the network per row of an estimate. */
const ESTIMATED = 60;

/** Whether the likelihood of a model is estimated: exact ones take a derivative per coordinate. */
const isEstimated = ({ domain }: TableModel): boolean => domain.dimension > EXACT;

/** The distribution of a model. */
export const modelDistribution = (
  model: TableModel,
  { signal, spread }: ModelDistributionOptions = {},
): TableDistribution => ({
  name: "model",
  ...(isEstimated(model) && { probes: PROBES }),
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
