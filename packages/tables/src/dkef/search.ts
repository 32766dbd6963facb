/**
 * The search of a fit: training steps, each followed by an evaluation on the validation set, until
 * the patience runs out.
 */
import type { NdArray } from "diffeo/graph";
import { choice, fold, permutation } from "diffeo/random";
import { type AdamState, flatten } from "diffeo/train";
import { type Fitted, parameterArrays } from "./fitted.ts";
import { type Fitting, freshState, pickRows, stateOf } from "./fitting.ts";

/** Steps between evaluations of exact score matching, each of which costs a tenth of a step. */
export const EXACT_EVERY = 5;

/** The parameters of a step, and the value they were chosen by. */
export interface Best {
  readonly step: number;
  readonly value: number;
  readonly theta: Float32Array;
}

export interface Found {
  readonly steps: number;
  readonly stopped: number;
  /**
   * By the loss on the validation set, and by exact score matching there, if that was evaluated.
   */
  readonly best: Best;
  readonly bestByExact?: Best;
  readonly curve: { readonly loss: readonly number[]; readonly exact: readonly number[] };
  readonly failure?: string;
}

/** Numbers that are not finite end a search, which keeps what it has found so far. */
class Lost extends Error {}

/** Batches of training points; each epoch has its own order. */
function* batchesOf({
  data: { train },
  root,
  settings: { batch },
}: Fitting): Generator<NdArray, never> {
  const rows = train.shape[0];
  for (let epoch = 0; ; epoch++) {
    const order = permutation(fold(fold(root, "epoch"), epoch), rows).data;
    for (let at = 0; at + batch <= rows; at += batch)
      yield pickRows(train, order.subarray(at, at + batch));
  }
}

async function trained(
  { steps, draws, settings: { batch } }: Fitting,
  state: AdamState<Float32Array>,
  x: NdArray,
  step: number,
): Promise<AdamState<Float32Array>> {
  const result = await steps.train(
    state,
    x,
    draws("alpha", step, batch / 2),
    draws("loss", step, batch / 2),
    step,
  );
  const loss = result.loss.data[0] as number;
  const next = stateOf(result.state);
  if (!Number.isFinite(loss) || !next.theta.every(Number.isFinite))
    throw new Lost(
      `the training loss became ${loss} at step ` +
        `${step}${Number.isFinite(loss) ? " and its gradient is not finite" : ""}`,
    );
  return next;
}

/** The loss on the validation set with α from random training points, and this α. */
async function validated(
  { data: { train, validation }, steps, draws, points, root }: Fitting,
  theta: Float32Array,
  step: number,
): Promise<{ readonly value: number; readonly alpha: NdArray }> {
  const chosen = choice(fold(fold(root, "points"), step), train.shape[0], points, {
    replace: false,
  }).data;
  const { loss, alpha } = await steps.validate(
    theta,
    pickRows(train, chosen),
    draws("validation alpha", step, points),
    validation,
    draws("validation loss", step, validation.shape[0]),
  );
  const value = loss.data[0] as number;
  if (!Number.isFinite(value))
    throw new Lost(`the validation loss became ${value} at step ${step}`);
  return { value, alpha };
}

async function exactly(
  { data: { validation }, steps }: Fitting,
  theta: Float32Array,
  alpha: NdArray,
  step: number,
): Promise<number> {
  const value = (await steps.exact(theta, alpha, validation)).data[0] as number;
  if (!Number.isFinite(value))
    throw new Lost(`exact score matching on the validation set became ${value} at step ${step}`);
  return value;
}

const better = (best: Best | undefined, found: Best): Best =>
  best && !(found.value < best.value) ? best : found;

export async function search(fitting: Fitting): Promise<Found> {
  const { data, settings, start } = fitting;
  const { batch, epochs, patience, leastSteps, signal, onStep } = settings;
  const most = epochs * Math.floor(data.train.shape[0] / batch);
  const batches = batchesOf(fitting);
  const curve = { loss: [] as number[], exact: [] as number[] };
  let state = freshState(flatten(start));
  let best: Best = { step: 0, value: Number.POSITIVE_INFINITY, theta: state.theta };
  let bestByExact: Best | undefined;
  let stopped: number | undefined;
  let failure: string | undefined;
  let step = 0;
  try {
    while (step < most && (stopped === undefined || step < leastSteps)) {
      signal?.throwIfAborted();
      state = await trained(fitting, state, batches.next().value, step + 1);
      step++;
      const { value, alpha } = await validated(fitting, state.theta, step);
      curve.loss.push(value);
      const open = stopped === undefined;
      if (open) best = better(best, { step, value, theta: state.theta });
      let exact: number | undefined;
      if (step % EXACT_EVERY === 0) {
        exact = await exactly(fitting, state.theta, alpha, step);
        curve.exact.push(exact);
        if (open) bestByExact = better(bestByExact, { step, value: exact, theta: state.theta });
      }
      if (open && step - best.step >= patience) stopped = step;
      const now = {
        step,
        theta: state.theta,
        alpha: Float64Array.from(alpha.data as Float32Array),
      };
      const fitted = (): Fitted => ({ ...now, parameters: parameterArrays(now.theta, start) });
      await onStep?.({
        step,
        most,
        validation: value,
        best: best.value,
        exact,
        fitted,
      });
    }
  } catch (error) {
    if (!(error instanceof Lost)) throw error;
    failure = error.message;
  }
  return {
    steps: step,
    stopped: stopped ?? step,
    best,
    curve,
    bestByExact,
    failure,
  };
}
