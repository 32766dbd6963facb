/** The measures of one fitted density, as plain data. */
import type { NdArray } from "diffeo/graph";
import { mean, quantile } from "diffeo/host";
import { fold, type Key } from "diffeo/random";
import { type Annealed, annealedNormaliser } from "../dkef/annealed.ts";
import { importanceNormaliser, measurePoints, type Normaliser } from "../dkef/evaluate.ts";
import type { Fitted } from "../dkef/fitted.ts";

/** Mean and quartiles over points. */
export interface MeasureSummary {
  readonly mean: number;
  readonly lowerQuartile: number;
  readonly median: number;
  readonly upperQuartile: number;
}

/** Measures of a fitted density on test points. */
export interface Measures {
  /** The step of the measured state. */
  readonly step: number;
  /** ½‖s‖² + tr ∇s over the test points. */
  readonly scoreMatching: MeasureSummary;
  /** log p̃ over the test points; minus a logZ it is the log-likelihood. */
  readonly logDensity: MeasureSummary;
  /** From N(0, 4I), as in earlier studies; only if requested. */
  readonly importance?: Normaliser;
  readonly annealed: Annealed;
}

/** Options for the measures of a fitted density. */
export interface DensityMeasureOptions {
  /** Draws of plain importance sampling. Default 0: none. */
  readonly samples?: number;
  readonly key: Key;
  readonly signal?: AbortSignal;
}

/** Mean log-likelihood of the test points under the annealed normaliser. */
export const likelihood = ({ logDensity, annealed }: Measures): number =>
  logDensity.mean - annealed.logZ;

/** The same under the plain normaliser, if there is one. */
export const plainLikelihood = ({ logDensity, importance }: Measures): number | undefined =>
  importance && logDensity.mean - importance.logZ;

const summary = (values: Float64Array): MeasureSummary => ({
  mean: mean(values),
  lowerQuartile: quantile(values, 0.25),
  median: quantile(values, 0.5),
  upperQuartile: quantile(values, 0.75),
});

/** Measures a fitted state: score matching, log-density and normalisers on test points. */
export async function measureFitted(
  fitted: Fitted,
  data: { readonly train: NdArray; readonly test: NdArray },
  { samples = 0, key, signal }: DensityMeasureOptions,
): Promise<Measures> {
  const points = await measurePoints(fitted, data.test);
  return {
    step: fitted.step,
    scoreMatching: summary(points.scoreMatching),
    logDensity: summary(points.logDensity),
    ...(samples > 0 && {
      importance: await importanceNormaliser(fitted, samples, fold(key, "importance"), signal),
    }),
    annealed: await annealedNormaliser(fitted, data.train, {
      key: fold(key, "annealed"),
      signal,
    }),
  };
}
