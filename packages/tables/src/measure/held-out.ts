/** What a model is worth on the rows that its own fit held out. */
import type { OpenCell } from "../diffusion/encode/index.ts";
import { wholeRows } from "../diffusion/encode/index.ts";
import { heldOut } from "../diffusion/fit/index.ts";
import type { TableModel } from "../diffusion/query/index.ts";
import { type Evaluated, evaluateTable } from "./evaluate.ts";
import { modelLaw } from "./law.ts";

/** Rows without missing values, held out and seen, below which there is nothing to measure on. */
const LEAST = { held: 2, seen: 10 };

export interface HeldOutEvaluation {
  /** Rows that have no missing values, which are those that measures see. */
  readonly whole: number;
  /** Absent where too few rows have no missing values. */
  readonly evaluated?: Evaluated;
}

/** Evaluates a model on the rows that its fit held out, beside those that it saw. */
export async function evaluateHeldOut(
  model: TableModel,
  rows: readonly (readonly OpenCell[])[],
  { seed, signal }: { readonly seed?: number; readonly signal?: AbortSignal } = {},
): Promise<HeldOutEvaluation> {
  const split = heldOut(rows.length);
  const [held, training] = [split.held, split.seen].map((order) =>
    wholeRows(Array.from(order, (i) => rows[i])),
  );
  const whole = held.length + training.length;
  if (held.length < LEAST.held || training.length < LEAST.seen) return { whole };
  const law = modelLaw(model, { signal });
  return {
    whole,
    evaluated: await evaluateTable(law, model.domain, { rows: held, training, seed }),
  };
}
