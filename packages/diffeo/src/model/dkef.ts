/**
 * Deep kernel exponential families (appendix:gssm_dkef):
 *
 *   log p̃(x) = f(x) + log q₀(x),   f(x) = Σ_l α_l k(x, z_l),   log q₀(x) = −‖x‖²/8
 *   k(x, z) = Σ_r ρ_r exp(−½‖φ_r(x) − φ_r(z)‖²),   ρ = softmax(w)
 *
 * The score is linear in α, so every loss of `matching` is quadratic in α. α is the solution of
 * linear equations (`dkef-alpha.ts`), and the other parameters are trained through this solution.
 */

import {
  add,
  concat,
  dot,
  exp,
  expandDims,
  fail,
  fill,
  gradEach,
  logSoftmax,
  matmul,
  matvec,
  mul,
  type NdArray,
  neg,
  reshape,
  type Shape,
  slice,
  square,
  squaredNorm,
  sub,
  sum,
  type Tensor,
  transpose,
} from "../graph/index.ts";
import { partsOf } from "../host/index.ts";
import type { ScoreFunction } from "../matching/index.ts";
import type { Key } from "../random/index.ts";
import {
  type Features,
  featureJet,
  featureShapes,
  features,
  featuresInit,
  lastDirections,
} from "./dkef-features.ts";
import { filledArray } from "./layers.ts";

/** The parameters of a deep kernel exponential family, without α. */
export interface Dkef<T> {
  /** z_l, [L, n] */
  readonly inducing: T;
  /** φ_r */
  readonly features: Features<T>;
  /** w, [R] */
  readonly mixture: T;
  /** log₁₀ of the ridge λ, [] */
  readonly logLambda: T;
}

/** Options of a deep kernel exponential family: its kernels and their feature networks. */
export interface DkefOptions {
  /** Width of the feature networks. Default 30. */
  readonly width?: number;
  /** Initial values of ℓ, one per kernel. Default 0, 0.5185, 1. */
  readonly logScales?: readonly number[];
  /** The initial log₁₀ λ. Default −2. */
  readonly logLambda?: number;
}

/** The sizes of a deep kernel exponential family. */
export interface DkefSizes {
  /** L */
  readonly points: number;
  readonly n: number;
  /** R */
  readonly kernels: number;
  readonly width: number;
}

/** q₀ = N(0, 4I), unnormalised. */
export const BASE_VARIANCE = 4;
const logBase = (x: Tensor): Tensor => mul(squaredNorm(x), -0.5 / BASE_VARIANCE);
/** ∇log q₀ */
export const baseScore = (x: Tensor): Tensor => mul(x, -1 / BASE_VARIANCE);

/**
 * Initial parameters of a deep kernel exponential family.
 *
 * @param inducing the points z_l, [L, n]
 */
export function dkefInit(key: Key, inducing: NdArray, options: DkefOptions = {}): Dkef<NdArray> {
  const { width = 30, logScales = [0, 0.5185, 1], logLambda = -2 } = options;
  if (inducing.shape.length !== 2 || inducing.data.length === 0)
    fail(
      "shape",
      `dkefInit: \`inducing\` has shape [${inducing.shape}]`,
      "give one row per point, [L, n]",
    );
  return {
    inducing,
    features: featuresInit(key, inducing.shape[1], width, logScales),
    mixture: filledArray([logScales.length], 0),
    logLambda: filledArray([], logLambda),
  };
}

/**
 * The shapes of the parameters, given the numbers of inducing points, dimensions, kernels and
 * features.
 */
export function dkefShapes({ points, n, kernels, width }: DkefSizes): Dkef<Shape> {
  return {
    inducing: [points, n],
    features: featureShapes(n, kernels, width),
    mixture: [kernels],
    logLambda: [],
  };
}

const joinColumns = (...columns: readonly Tensor[]): Tensor => concat(columns, -1);

/** All kernels between points [B, n] and all inducing points. */
export interface Pairs {
  /** φ(x), [R, B, width] */
  readonly fx: Tensor;
  /** The columns (φ(z_l), 1), [R, width + 1, L] */
  readonly columns: Tensor;
  /** κ = ρ_r exp(−½‖φ_r(x) − φ_r(z_l)‖²), [R, B, L] */
  readonly kappa: Tensor;
}

/** −½‖a − b‖² + log ρ = (a, 1, −½‖a‖²)·(b, log ρ − ½‖b‖², 1): all pairs in one product. */
export function pairs(p: Dkef<Tensor>, x: Tensor): Pairs {
  const fx = features(p.features, x);
  const fz = features(p.features, p.inducing);
  const one = (t: Tensor): Tensor => fill([...t.shape.slice(0, -1), 1], 1, t.dtype);
  const halfNorm = (t: Tensor): Tensor => mul(sum(square(t), -1, { keepDims: true }), -0.5);
  const logRho = reshape(logSoftmax(p.mixture), [-1, 1, 1]);
  const left = joinColumns(fx, one(fx), halfNorm(fx));
  const right = joinColumns(fz, add(halfNorm(fz), logRho), one(fz));
  return {
    fx,
    columns: transpose(joinColumns(fz, one(fz))),
    kappa: exp(matmul(left, transpose(right))),
  };
}

/** Derivatives of the kernels along directions, as rows to multiply with `columns`. */
export interface KernelRows {
  /** ∂_{d_k} k = Σ_r κ ∘ U,  U = first · columns.  [R, B, k, width + 1] */
  readonly first: Tensor;
  /** Σ_k ∂²_{d_k} k = Σ_r κ ∘ (Σ_k U_k² + second · columns).  [R, B, width + 1] */
  readonly second: Tensor;
}

/**
 * At points [B, n] along directions [B, k, n], where `second` sums over the last `curved` of them.
 * Without directions: along all unit vectors. With δ_l = φ(x) − φ(z_l) and t_k = J_φ d_k,
 *
 *   ∂_{d} κ = −κ δ·t       Σ_k ∂²_{d_k} κ = κ [ Σ_k (δ·t_k)² − Σ_k ‖t_k‖² − δ·Σ_k φ″[d_k, d_k] ]
 *
 * (differentiate κ′ = −κ δ·δ′ once more). Since −δ·t = (t, −t·φ(x))·(φ(z_l), 1), everything is a
 * product with `columns`. Automatic differentiation would propagate the inducing points through
 * every layer of the derivative.
 */
export function kernelRows(
  p: Dkef<Tensor>,
  x: Tensor,
  fx: Tensor,
  directions?: Tensor,
  curved?: number,
): KernelRows {
  const jet = featureJet(p.features, x, directions, curved);
  const along = expandDims(fx, -2);
  const lengths = sum(square(lastDirections(jet.tangents, curved)), [-2, -1]);
  return {
    first: joinColumns(jet.tangents, neg(sum(mul(jet.tangents, along), -1, { keepDims: true }))),
    second: joinColumns(jet.second, expandDims(neg(add(dot(jet.second, fx), lengths)), -1)),
  };
}

/**
 * The number of derivatives, with some hundred inducing points, that fit into the second-level
 * cache.
 */
export const DERIVATIVES = 768;

/** The unnormalised log-density log p̃(x) of a deep kernel exponential family, […]. */
export function dkefLogDensity(p: Dkef<Tensor>, alpha: Tensor, x: Tensor): Tensor {
  const flat = reshape(x, [-1, x.shape.at(-1) as number]);
  const f = sum(matvec(pairs(p, flat).kappa, alpha), 0);
  return add(reshape(f, x.shape.slice(0, -1)), logBase(x));
}

/** Σ_l α_l Σ_k ∂²_{d_k} k(x, z_l) at points [B, n]: […, B]. */
function curvatureAt(p: Dkef<Tensor>, alpha: Tensor, x: Tensor, directions?: Tensor): Tensor {
  const { fx, columns, kappa } = pairs(p, x);
  const { first, second } = kernelRows(p, x, fx, directions);
  const weights = mul(kappa, alpha);
  const [kernels, points, k, width] = first.shape;
  const squares = partsOf(points, Math.round(DERIVATIVES / k)).map(([from, to]) => {
    const rows = reshape(slice(first, null, [from, to]), [kernels, (to - from) * k, width]);
    const u = reshape(matmul(rows, columns), [kernels, to - from, k, -1]);
    return sum(mul(sum(square(u), -2), slice(weights, null, [from, to])), [0, -1]);
  });
  const bends = sum(mul(second, matmul(weights, transpose(columns))), [0, -1]);
  return add(squares.length === 1 ? squares[0] : concat(squares, 0), bends);
}

/** The score ∇ log p̃ of a deep kernel exponential family, with its derivatives in closed form. */
export function dkefScore(p: Dkef<Tensor>, alpha: Tensor): ScoreFunction {
  const score = gradEach((x) => dkefLogDensity(p, alpha, x));
  const total = (x: Tensor, w?: Tensor): Tensor => {
    const n = x.shape.at(-1) as number;
    const directions = w && reshape(w, [-1, w.shape.at(-2) as number, n]);
    return reshape(curvatureAt(p, alpha, reshape(x, [-1, n]), directions), x.shape.slice(0, -1));
  };
  return Object.assign((x: Tensor) => score(x), {
    curvature: (x: Tensor, w: Tensor) =>
      sub(total(x, w), mul(sum(square(w), [-2, -1]), 1 / BASE_VARIANCE)),
    divergence: (x: Tensor) => sub(total(x), (x.shape.at(-1) as number) / BASE_VARIANCE),
  });
}
