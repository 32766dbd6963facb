/**
 * Measures of a fitted density on new points:
 *
 *   exact score matching   ½‖s‖² + tr ∇s                      in float64
 *   log-likelihood         log p̃(x) − log Ẑ
 *   Ẑ                      ∫ e^f q₀ = (8π)^{n/2} E_{x ~ N(0, 4I)}[e^{f(x)}],   since q₀ = e^{−‖x‖²/8} is that Gaussian
 *
 * The mean of e^f may depend on a few heavy weights, so an effective sample size (Σw)²/Σw² comes
 * with it, and a warning if that is low.
 */
import { type Compiled, compile } from "diffeo/engine";
import { matvec, type NdArray, reshape, sum, type Tensor } from "diffeo/graph";
import { lossOf, scoreMatching } from "diffeo/matching";
import { BASE_VARIANCE, dkefLogDensity, dkefScore, pairs } from "diffeo/model";
import { fold, type Key, normal } from "diffeo/random";
import type { Fitted } from "./fitted.ts";
import { parametersOf } from "./steps.ts";

/** ½‖s‖² + tr ∇s and log p̃, for each point. */
export interface PointMeasures {
  readonly scoreMatching: Float64Array;
  readonly logDensity: Float64Array;
}

/**
 * Evaluates each point with a fitted state: its unnormalised log-density and its score matching
 * loss.
 */
export async function measurePoints(
  { theta, alpha, parameters }: Fitted,
  points: NdArray,
): Promise<PointMeasures> {
  const measure = compile(
    (t: Tensor, a: Tensor, x: Tensor) => {
      const p = parametersOf(t, parameters);
      return {
        loss: lossOf(scoreMatching())(dkefScore(p, a), x, {}),
        density: dkefLogDensity(p, a, x),
      };
    },
    [[theta.length], [alpha.length], points.shape],
    { type: "float64", threads: 1 },
  );
  try {
    const { loss, density } = await measure(
      Float64Array.from(theta),
      alpha,
      Float64Array.from(points.data as Float32Array),
    );
    return { scoreMatching: loss.data as Float64Array, logDensity: density.data as Float64Array };
  } finally {
    await measure.dispose();
  }
}

/** log Ẑ from weights, and the effective number of weights. */
export interface Normaliser {
  readonly logZ: number;
  /** (Σw)²/Σw² */
  readonly effectiveSamples: number;
  readonly samples: number;
}

/** log of the mean weight. */
export function normaliserOf(logWeights: ArrayLike<number>, offset = 0): Normaliser {
  let largest = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < logWeights.length; i++) largest = Math.max(largest, logWeights[i]);
  let [first, second] = [0, 0];
  for (let i = 0; i < logWeights.length; i++) {
    const w = Math.exp(logWeights[i] - largest);
    first += w;
    second += w * w;
  }
  return {
    logZ: offset + largest + Math.log(first / logWeights.length),
    effectiveSamples: first ** 2 / second,
    samples: logWeights.length,
  };
}

/** log ∫ q₀ */
export const logBaseVolume = (n: number): number => (n / 2) * Math.log(2 * Math.PI * BASE_VARIANCE);

/** With fewer effective samples, an estimate depends more on a few draws than on Ẑ. */
export const ENOUGH_SAMPLES = 1000;

interface Worth {
  readonly scoreMatching: number;
  readonly logLikelihood: number;
}

/**
 * The measures of N(0, I), ½‖x‖² − n and −½‖x‖² − (n/2) log 2π, where ‖x‖² has the mean `squares`;
 * n if the points are whitened.
 */
export const unitGaussianWith = (n: number, squares = n): Worth => ({
  scoreMatching: squares / 2 - n,
  logLikelihood: -squares / 2 - (n / 2) * Math.log(2 * Math.PI),
});

/** The measures of N(0, I) on points. */
export const unitGaussian = ({ shape: [rows, n], data }: NdArray): Worth =>
  unitGaussianWith(n, (data as Float32Array).reduce((total, v) => total + v * v, 0) / rows);

const CHUNK = 1000;

/** f at points, in float32. */
function energyFunction({ theta, parameters }: Fitted): Compiled<[Tensor, Tensor, Tensor], Tensor> {
  return compile(
    (t: Tensor, a: Tensor, x: Tensor) => {
      const p = parametersOf(t, parameters);
      return reshape(sum(matvec(pairs(p, x).kappa, a), 0), [x.shape[0]]);
    },
    [[theta.length], [parameters.inducing.shape[0]], [null, parameters.inducing.shape[1]]],
    { threads: 1 },
  );
}

/** Plain importance sampling from N(0, 4I), as in the protocol. */
export async function importanceNormaliser(
  fitted: Fitted,
  samples: number,
  key: Key,
  signal?: AbortSignal,
): Promise<Normaliser> {
  const [, n] = fitted.parameters.inducing.shape;
  const energy = energyFunction(fitted);
  const alpha = Float32Array.from(fitted.alpha);
  const weights = new Float64Array(samples);
  try {
    for (let from = 0; from < samples; from += CHUNK) {
      signal?.throwIfAborted();
      const count = Math.min(CHUNK, samples - from);
      const x = normal(fold(key, from), [count, n]);
      const data = x.data.map((v) => v * Math.sqrt(BASE_VARIANCE));
      weights.set((await energy(fitted.theta, alpha, { ...x, data })).data as Float32Array, from);
    }
  } finally {
    await energy.dispose();
  }
  return normaliserOf(weights, logBaseVolume(n));
}
