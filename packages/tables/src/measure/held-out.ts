/** The evaluation of a model on the rows that its fit held out. */
import type { OpenCell } from "../diffusion/encode/index.ts";
import { isHole, wholeRows } from "../diffusion/encode/index.ts";
import { heldOut } from "../diffusion/fit/index.ts";
import { takesGiven } from "../diffusion/network/index.ts";
import type { TableModel } from "../diffusion/query/index.ts";
import { evaluateTable } from "./evaluate.ts";
import type { Evaluated, EvaluateOptions } from "./evaluation.ts";
import { modelDistribution } from "./table-distribution.ts";

/** With fewer rows, held out or used in training, there is no evaluation. */
const LEAST = { held: 2, seen: 10 };

/** An evaluation on the rows that a fit held out. */
export interface HeldOutEvaluation {
  /** Rows that have no missing cells. */
  readonly whole: number;
  /** Absent if there are too few rows. */
  readonly evaluated?: Evaluated;
}

/**
 * Evaluates a model on the rows that its fit held out, compared with those it was trained on.
 *
 * @param model - the model
 * @param rows - all rows that it was fitted to, in their order
 * @param options - those of `evaluateTable`
 * @returns the evaluation, and the number of rows without missing cells
 */
export async function evaluateHeldOut(
  model: TableModel,
  rows: readonly (readonly OpenCell[])[],
  options: Omit<EvaluateOptions, "rows" | "training"> = {},
): Promise<HeldOutEvaluation> {
  const split = heldOut(rows.length);
  // A row without any cell has no information, and a fit leaves it out.
  const [held, training] = [split.held, split.seen].map((order) =>
    Array.from(order, (i) => rows[i]).filter((row) => !row.every(isHole)),
  );
  const whole = wholeRows(rows).length;
  const usable = (some: readonly (readonly OpenCell[])[]): number =>
    takesGiven(model) ? some.length : wholeRows(some).length;
  if (usable(held) < LEAST.held || usable(training) < LEAST.seen) return { whole };
  const distribution = modelDistribution(model, { signal: options.signal });
  return {
    whole,
    evaluated: await evaluateTable(distribution, model.domain, {
      ...options,
      rows: held,
      training,
    }),
  };
}
