/**
 * Evaluates a fitted density: its log-likelihood on test points, compared point by point with a
 * Gaussian fitted to the training points, and the mass of its samples by cluster. Score matching
 * alone does not detect a wrong mass of separate modes.
 */
import type { NdArray } from "diffeo/graph";
import { fold, type Key } from "diffeo/random";
import { measurePoints } from "../dkef/evaluate.ts";
import type { DensityModel } from "../dkef/model-bytes.ts";
import { sampleRows } from "../dkef/sample.ts";
import type { Prepared } from "../table/prepare.ts";
import { whitenRows } from "../table/whitening.ts";
import { gaussianLogDensity, gaussianOf } from "./baseline/gaussian.ts";
import { type Clusters, clusterMasses } from "./clusters.ts";
import type { DensityRun } from "./density-run.ts";
import { isBetter, massFaults } from "./faults.ts";
import { type Mean, meanOf } from "./mean.ts";

/** The log-likelihood of a density on held-out rows, compared with a Gaussian's. */
export interface DensityEvaluation {
  /** The Gaussian's log-likelihood, in the units of the points, and the gain of the density. */
  readonly gaussian: Mean & { readonly gain: Mean };
  readonly clusters: Clusters;
  /** The faults, as sentences. */
  readonly faults: readonly string[];
}

/**
 * Chains, and transitions per chain. They start at draws of a mixture that has the modes already.
 */
const SAMPLES = 800;
const STEPS = 100;
const doubles = ({ data }: NdArray): Float64Array => Float64Array.from(data as Float32Array);

/**
 * Evaluates a density on the test points of a table.
 *
 * @param model with its normaliser
 */
export async function evaluateDensity(
  { spec, fitted }: DensityModel,
  { train, test, n }: Prepared,
  { key, signal }: { readonly key: Key; readonly signal?: AbortSignal },
): Promise<DensityEvaluation> {
  const { logDensity } = await measurePoints(fitted, test);
  const distribution = gaussianOf(doubles(train), n, (i) => `coordinate ${i + 1}`);
  const scores = gaussianLogDensity(distribution, doubles(test));
  const gaussian = {
    name: "Gaussian",
    ...meanOf(scores),
    gain: meanOf(logDensity.map((v, i) => v - (spec.logZ ?? 0) - scores[i])),
  };
  const drawn = await sampleRows({ spec, fitted }, SAMPLES, {
    steps: STEPS,
    key: fold(key, "samples"),
    signal,
  });
  const clusters = clusterMasses(
    { shape: [SAMPLES, n], dtype: "float64", data: whitenRows(drawn.values, spec.whitening) },
    { shape: train.shape, dtype: "float64", data: doubles(train) },
    fold(key, "clusters"),
  );
  const { mean, error, gain } = gaussian;
  return {
    gaussian: { mean, error, gain },
    clusters,
    faults: [
      ...(isBetter(gaussian, test.shape[0])
        ? [
            `a Gaussian has a log-likelihood of ${mean.toFixed(3)}, ` +
              `${(-gain.mean).toFixed(3)} ± ${gain.error.toFixed(3)} nats per row more than the ` +
              "model",
          ]
        : []),
      ...massFaults(clusters),
    ],
  };
}

/**
 * Mean log-likelihood of the validation points, in the units of the table, so that fits of several
 * seeds can be compared.
 */
export async function validationLikelihood(
  { fit, spec }: DensityRun,
  { validation }: Prepared,
): Promise<number> {
  if (spec.logZ === undefined) return Number.NEGATIVE_INFINITY;
  const { logDensity } = await measurePoints(fit.chosen, validation);
  return meanOf(logDensity).mean - spec.logZ + spec.whitening.logDet;
}
