/**
 * A mixture of Gaussians close enough to a density p̃ for chains and particles to start from:
 *
 *   q(x) = Σ_c π_c N(x; μ_c, P_c⁻¹),   P_c = −∇² log p̃(μ_c), its eigenvalues kept within [1/widest², 1/narrowest²]
 *
 * Each component is the local Gaussian of p̃ at a point μ_c. Densities fitted by score matching
 * have narrow spikes that a million draws of a broad Gaussian do not find. Chains that start at the
 * data and at the inducing points find them.
 */
import {
  add,
  logSumExp,
  matmul,
  mul,
  type NdArray,
  reshape,
  square,
  sub,
  sum,
  type Tensor,
} from "diffeo/graph";
import { rightSvd } from "diffeo/host";
import { fold, type Key, normal, uniform } from "diffeo/random";

export interface Mixture {
  readonly n: number;
  /** π, summing to 1. */
  readonly weights: Float64Array;
  /** μ_c, one per row. */
  readonly centres: Float64Array;
  /** A_c with A_cA_cᵀ = P_c, n×n row-major, concatenated. */
  readonly whiteners: Float64Array;
  /** B_c with B_cB_cᵀ = P_c⁻¹. */
  readonly roots: Float64Array;
  /** ½ log det P_c */
  readonly logDets: Float64Array;
}

const WIDEST = 0.8;
const NARROWEST = 0.01;
/** Weight of the broad component N(0, variance·I), which bounds p̃/q far from the data. */
const BROAD = 0.1;

/**
 * Gaussians at the rows of `centres` with the Hessians of log p̃ there, all of the same weight, and
 * a broad one.
 */
export function localMixture(
  centres: ArrayLike<number>,
  hessians: ArrayLike<number>,
  n: number,
  variance: number,
): Mixture {
  const count = centres.length / n + 1;
  const mixture = {
    n,
    weights: new Float64Array(count).fill((1 - BROAD) / (count - 1)),
    centres: new Float64Array(count * n),
    whiteners: new Float64Array(count * n * n),
    roots: new Float64Array(count * n * n),
    logDets: new Float64Array(count),
  };
  mixture.weights[count - 1] = BROAD;
  mixture.centres.set(Array.from(centres));
  for (let c = 0; c < count; c++) {
    const { values, vectors } =
      c === count - 1 ? broadAxes(n, variance) : localAxes(hessians, c * n * n, n);
    for (let e = 0; e < n; e++) {
      mixture.logDets[c] += 0.5 * Math.log(values[e]);
      for (let i = 0; i < n; i++) {
        mixture.whiteners[(c * n + i) * n + e] = vectors[i * n + e] * Math.sqrt(values[e]);
        mixture.roots[(c * n + i) * n + e] = vectors[i * n + e] / Math.sqrt(values[e]);
      }
    }
  }
  return mixture;
}

const broadAxes = (n: number, variance: number) => ({
  values: new Float64Array(n).fill(1 / variance),
  vectors: Float64Array.from({ length: n * n }, (_, i) => (i % (n + 1) === 0 ? 1 : 0)),
});

/**
 * Eigenvectors of −H, and its eigenvalues clipped to the bounds. H is shifted by a multiple of I to
 * make −H positive, which changes neither.
 */
function localAxes(hessians: ArrayLike<number>, at: number, n: number) {
  const shifted = new Float64Array(n * n);
  let bound = 0;
  for (let i = 0; i < n; i++) {
    let row = 0;
    for (let j = 0; j < n; j++) {
      shifted[i * n + j] = -0.5 * (hessians[at + i * n + j] + hessians[at + j * n + i]);
      row += Math.abs(shifted[i * n + j]);
    }
    bound = Math.max(bound, row); // Gershgorin
  }
  for (let i = 0; i < n; i++) shifted[i * (n + 1)] += bound;
  const { values, vectors } = rightSvd(shifted, n);
  return {
    values: values.map((v) => Math.min(NARROWEST ** -2, Math.max(WIDEST ** -2, v - bound))),
    vectors,
  };
}

/** The same components with other weights. */
export const reweight = (mixture: Mixture, weights: Float64Array): Mixture => ({
  ...mixture,
  weights,
});

/**
 * The index of the first number above a bound in an ascending list; the length if there is none.
 */
function firstAbove(values: Float64Array, bound: number): number {
  let [from, to] = [0, values.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (values[middle] > bound) to = middle;
    else from = middle + 1;
  }
  return from;
}

/** Draws as rows, float32. */
export function sampleMixture(
  { n, weights, centres, roots }: Mixture,
  count: number,
  key: Key,
): Float32Array {
  const z = normal(fold(key, "where"), [count, n]).data as Float32Array;
  const u = uniform(fold(key, "which"), [count]).data as Float32Array;
  const cumulative = new Float64Array(weights.length);
  weights.forEach((w, c) => {
    cumulative[c] = w + (c > 0 ? cumulative[c - 1] : 0);
  });
  const out = new Float32Array(count * n);
  for (let i = 0; i < count; i++) {
    const c = Math.min(firstAbove(cumulative, u[i]), weights.length - 1);
    for (let j = 0; j < n; j++) {
      let value = centres[c * n + j];
      for (let e = 0; e < n; e++) value += roots[(c * n + j) * n + e] * z[i * n + e];
      out[i * n + j] = value;
    }
  }
  return out;
}

/** The inputs of the graph: P_c^{½}x = x·whitener − offset, and the logarithms of weights. */
export interface MixtureInputs<T> {
  /** [n, C·n] */
  readonly whitener: T;
  /** [C·n] */
  readonly offset: T;
  /** log π_c + ½ log det P_c, [C] */
  readonly logWeights: T;
}

export function mixtureInputs({
  n,
  weights,
  centres,
  whiteners,
  logDets,
}: Mixture): MixtureInputs<NdArray> {
  const count = weights.length;
  const whitener = new Float32Array(n * count * n);
  const offset = new Float32Array(count * n);
  for (let c = 0; c < count; c++)
    for (let e = 0; e < n; e++) {
      let total = 0;
      for (let i = 0; i < n; i++) {
        const a = whiteners[(c * n + i) * n + e];
        whitener[i * count * n + c * n + e] = a;
        total += a * centres[c * n + i];
      }
      offset[c * n + e] = total;
    }
  const logWeights = Float32Array.from(weights, (w, c) => Math.log(w) + logDets[c]);
  return {
    whitener: { shape: [n, count * n], dtype: "float32", data: whitener },
    offset: { shape: [count * n], dtype: "float32", data: offset },
    logWeights: { shape: [count], dtype: "float32", data: logWeights },
  };
}

/** log π_c N(x; μ_c, P_c⁻¹) for points [B, n]: [B, C]. */
export function logComponents(
  { whitener, offset, logWeights }: MixtureInputs<Tensor>,
  x: Tensor,
): Tensor {
  const n = x.shape[1];
  const u = reshape(sub(matmul(x, whitener), offset), [x.shape[0], logWeights.shape[0], n]);
  return add(mul(sum(square(u), -1), -0.5), add(logWeights, -0.5 * n * Math.log(2 * Math.PI)));
}

/** log q(x), [B] */
export const logMixture = (inputs: MixtureInputs<Tensor>, x: Tensor): Tensor =>
  logSumExp(logComponents(inputs, x), -1);
