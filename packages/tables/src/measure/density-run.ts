/** A run from prepared points to measures of a density, for the command and the study. */
import { DiffeoError } from "diffeo/graph";
import type { ObjectiveName } from "diffeo/matching";
import { fold, key } from "diffeo/random";
import { type Fit, fitDensity } from "../dkef/fit.ts";
import type { Fitted } from "../dkef/fitted.ts";
import type { DensitySpec } from "../dkef/model-bytes.ts";
import type { FitOptions } from "../dkef/settings.ts";
import type { Prepared } from "../table/prepare.ts";
import { type Measures, measureFitted } from "./measure.ts";

/** Options for the fit and the evaluation of a density. */
export interface DensityRunOptions extends FitOptions {
  readonly loss: ObjectiveName;
  /** Draws of plain importance sampling for the state that the protocol chooses. Default 10⁶. */
  readonly samples?: number;
}

/** A fit of a density with its measures. */
export interface DensityRun {
  readonly fit: Fit;
  /** Seconds of the search alone. */
  readonly seconds: number;
  /**
   * The measures of the fit, and the same for the state chosen by exact score matching if that was
   * requested.
   */
  readonly measures?: { readonly chosen: Measures; readonly chosenByExact?: Measures };
  /** Why there are no measures: numbers were lost on the way. */
  readonly lost?: DiffeoError;
  /** What the file contains in addition to the chosen state. */
  readonly spec: DensitySpec;
}

/** Errors of lost numbers, as opposed to wrong options. */
const isLoss = (error: unknown): error is DiffeoError =>
  error instanceof DiffeoError && ["numerical", "device"].includes(error.kind);

async function measured(
  fit: Fit,
  data: Prepared,
  { seed, samples = 1_000_000, signal }: DensityRunOptions,
): Promise<NonNullable<DensityRun["measures"]>> {
  const measure = (which: Fitted, draws: number): Promise<Measures> =>
    measureFitted(which, data, {
      key: fold(key(seed), "measure"),
      samples: draws,
      signal,
    });
  const chosen = await measure(fit.chosen, samples);
  if (!fit.chosenByExact) return { chosen };
  return {
    chosen,
    chosenByExact: fit.chosenByExact === fit.chosen ? chosen : await measure(fit.chosenByExact, 0),
  };
}

/** Fits a density to prepared points and evaluates it. */
export async function runDensity(data: Prepared, options: DensityRunOptions): Promise<DensityRun> {
  const { loss, seed, onStep } = options;
  const began = performance.now();
  let trained = began;
  const fit = await fitDensity(data, {
    ...options,
    onStep: (progress) => {
      trained = performance.now();
      return onStep?.(progress);
    },
  });
  const outcome = await measured(fit, data, options).then(
    (measures) => ({ measures }),
    (error: unknown) => {
      if (!isLoss(error)) throw error;
      return { lost: error };
    },
  );
  const logZ = "measures" in outcome ? { logZ: outcome.measures.chosen.annealed.logZ } : {};
  return {
    fit,
    seconds: (trained - began) / 1000,
    spec: { loss, seed, columns: data.columns, whitening: data.whitening, ...logZ },
    ...outcome,
  };
}
