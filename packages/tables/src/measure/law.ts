/**
 * A law of rows of a table, whatever makes it: a model or a baseline. Densities are in nats and the
 * units of the cells.
 */
import type { Cell } from "diffeo/domain";
import type { LogLikelihoodOptions, TableModel } from "../diffusion/query/index.ts";

export type Cells = readonly Cell[];

export interface TableLaw {
  readonly name: string;
  /** log q of each row: a density in numbers, a probability in labels and whole numbers. */
  readonly logLikelihood: (rows: readonly Cells[]) => Promise<Float64Array> | Float64Array;
  /** Rows of it, the same for the same seed. */
  readonly draw: (count: number, seed: number) => Promise<readonly Cells[]> | readonly Cells[];
}

export interface ModelLawOptions extends Pick<LogLikelihoodOptions, "spread"> {
  readonly signal?: AbortSignal;
}

/** The law of a model. */
export const modelLaw = (
  model: TableModel,
  { signal, spread }: ModelLawOptions = {},
): TableLaw => ({
  name: "model",
  logLikelihood: (rows) => model.logLikelihood(rows, { signal, spread }),
  draw: async (count, seed) => (await model.sample({ count, seed, signal })).rows,
});
