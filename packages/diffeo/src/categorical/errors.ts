/**
 * The squared error of a denoiser by time, e(t) = E‖x₀ − x̂₀(x_t, t)‖² of a whole grid. Time grids
 * are fitted to it (fittedGrid of diffeo/sampler). All times use the same grids and the same noise.
 */
import { sumEvent } from "../bijector/index.ts";
import { type CompileOptions, compile } from "../engine/index.ts";
import { add, constant, fail, mean, mul, square, sub, type Tensor, take } from "../graph/index.ts";
import { batches } from "../host/index.ts";
import { asConstants } from "../model/index.ts";
import { fold, type Key, normal, sampleKeys } from "../random/index.ts";
import {
  type DrawOptions,
  type ErrorByTime,
  fittedGrid,
  logSnrGrid,
  type SolverName,
  solverOf,
} from "../sampler/index.ts";
import type { ClassArray } from "./class-array.ts";
import { denoiserMean } from "./denoiser.ts";
import type { Model } from "./model.ts";
import { gridsOf } from "./training.ts";

/** Options of `errorsByTime`. */
export interface ErrorOptions extends Omit<CompileOptions, "keep" | "type"> {
  readonly key: Key;
  /** The number of times, at equal steps of the log signal-to-noise ratio. Default 64. */
  readonly times?: number;
  /** Grids per batch. Default 64. */
  readonly batch?: number;
  /** Called after every time of every batch. */
  readonly onStep?: () => void | Promise<void>;
  readonly signal?: AbortSignal;
}

/**
 * Measures the squared error of a denoiser by time, to which time grids can be fitted.
 *
 * @param classes the classes of the grids, concatenated
 */
export async function errorsByTime(
  model: Model,
  classes: ClassArray,
  options: ErrorOptions,
): Promise<ErrorByTime> {
  const { key, times: count = 64, batch = 64, onStep, signal, ...engine } = options;
  const { denoiser, encoding } = model;
  const { sde, codes } = denoiser;
  const { meanFactor, std } = sde.transition;
  const { grid, channels } = encoding;
  const denoise = denoiserMean(denoiser, asConstants(model.parameters));
  const error = compile(
    (k: Tensor, t: Tensor, noise: Tensor) => {
      const x0 = take(constant(codes, noise.dtype), k);
      const x = add(mul(x0, meanFactor(t)), mul(noise, std(t)));
      return mean(sumEvent(square(sub(denoise(x, t), x0)), grid.length + 1));
    },
    [{ shape: [null, ...grid], dtype: "int32" }, [], [null, ...grid, channels]],
    { ...engine, type: "float32" },
  );
  const { horizon } = sde;
  const times = logSnrGrid(sde.transition, horizon / 1000, horizon, count - 1);
  const grids = gridsOf(encoding, classes);
  const values = times.map(() => 0);
  try {
    for (const [first, rows] of batches(grids.count, batch)) {
      const own = grids.select(Array.from({ length: rows }, (_, i) => first + i));
      const k = { shape: [rows, ...grid], dtype: "int32", data: Int32Array.from(own) } as const;
      const noise = normal(sampleKeys(fold(key, "errors"), rows, first), [...grid, channels]);
      for (const [i, t] of times.entries()) {
        signal?.throwIfAborted();
        values[i] += (Number((await error(k, t, noise)).data[0]) * rows) / grids.count;
        await onStep?.();
      }
    }
  } finally {
    await error.dispose();
  }
  return { times, values };
}

/**
 * The share of the error at T below which a grid is known. The last evaluation, which gives x̂₀, is
 * at that time.
 */
const KNOWN = 1e-6;

/**
 * Fits a time grid with `steps` steps to the measured errors of a model, from T down to the time at
 * which x_t determines x₀.
 */
export function fittedTimes(
  { errors, denoiser: { sde } }: Pick<Model, "errors" | "denoiser">,
  steps: number,
): number[] {
  if (!errors)
    fail(
      "usage",
      "a time grid fitted to a model whose errors were not measured",
      "measure them with errorsByTime",
    );
  const { times, values } = errors;
  const unknown = values.findIndex((value) => value > KNOWN * values[values.length - 1]);
  return fittedGrid(sde.transition, errors, {
    from: sde.horizon,
    to: times[Math.max(0, unknown - 1)],
    steps,
  });
}

/**
 * The default times of a call: fitted times, if the model's errors were measured, the solver
 * supports them and the drift is not scaled. Undefined means the grid of the solver.
 */
export const usualTimes = (
  model: Pick<Model, "errors" | "denoiser">,
  solver: SolverName | undefined,
  steps: number,
  { driftScale = 1 }: Pick<DrawOptions, "driftScale">,
): number[] | undefined =>
  model.errors && solverOf(solver).takesFitted && driftScale === 1
    ? fittedTimes(model, steps)
    : undefined;
