/**
 * The features of R deep kernels, with their first and second derivatives along given directions:
 *
 *   φ_r(x) = (softplus(softplus(x W₁ + b₁) W₂ + b₂) W₃ + x S) / √s_r,   s_r = 10^{ℓ_r}
 *
 * The networks of all kernels are stacked: every parameter has a leading axis r. A last bias would
 * cancel in φ(x) − φ(z) and is left out. Because of the division by √s all kernels have the length
 * scale 1.
 */
import {
  add,
  exp,
  expandDims,
  matmul,
  mul,
  type NdArray,
  neg,
  reshape,
  type Shape,
  sigmoid,
  slice,
  softplus,
  square,
  sum,
  type Tensor,
} from "../graph/index.ts";
import { fold, type Key } from "../random/index.ts";
import { gaussianArray } from "./layers.ts";

export interface Features<T> {
  /** [R, n, width] */
  readonly w1: T;
  /** [R, 1, width] */
  readonly b1: T;
  /** [R, width, width] */
  readonly w2: T;
  readonly b2: T;
  readonly w3: T;
  /** S, [R, n, width] */
  readonly skip: T;
  /** ℓ, [R] */
  readonly logScales: T;
}

/** The shapes of the parameters of `kernels` networks from n coordinates to `width` features. */
export const featureShapes = (n: number, kernels: number, width: number): Features<Shape> => ({
  w1: [kernels, n, width],
  b1: [kernels, 1, width],
  w2: [kernels, width, width],
  b2: [kernels, 1, width],
  w3: [kernels, width, width],
  skip: [kernels, n, width],
  logScales: [kernels],
});

/** Initial parameters: all weights and biases are N(0, 1/width). */
export function featuresInit(
  key: Key,
  n: number,
  width: number,
  logScales: readonly number[],
): Features<NdArray> {
  const shapes = featureShapes(n, logScales.length, width);
  const draw = (name: keyof Features<Shape>): NdArray =>
    gaussianArray(fold(key, name), shapes[name], 1 / width);
  return {
    w1: draw("w1"),
    b1: draw("b1"),
    w2: draw("w2"),
    b2: draw("b2"),
    w3: draw("w3"),
    skip: draw("skip"),
    logScales: { shape: shapes.logScales, dtype: "float32", data: Float32Array.from(logScales) },
  };
}

/** The last layer divided by √s = 10^{ℓ/2}. */
function scaledOutput({ w3, skip, logScales }: Features<Tensor>): { w3: Tensor; skip: Tensor } {
  const factor = reshape(exp(mul(logScales, -0.5 * Math.LN10)), [-1, 1, 1]);
  return { w3: mul(w3, factor), skip: mul(skip, factor) };
}

/** φ at points [B, n]: [R, B, width]. */
export function features(p: Features<Tensor>, x: Tensor): Tensor {
  const { w3, skip } = scaledOutput(p);
  const a1 = softplus(add(matmul(x, p.w1), p.b1));
  const a2 = softplus(add(matmul(a1, p.w2), p.b2));
  return add(matmul(a2, w3), matmul(x, skip));
}

export interface FeatureJet {
  /** J_φ d_k, [R, B, k, width] */
  readonly tangents: Tensor;
  /** Σ_k φ″[d_k, d_k] over the last `curved` directions, [R, B, width] */
  readonly second: Tensor;
}

/** The last `count` of the directions [R, B, k, …]; all if `count` is undefined. */
export const lastDirections = (t: Tensor, count?: number): Tensor =>
  count === undefined || count === t.shape[2]
    ? t
    : slice(t, null, null, [t.shape[2] - count, t.shape[2]]);

/**
 * J_φ d_k and Σ_k φ″[d_k, d_k] at points [B, n] along directions [B, k, n]. Without directions:
 * along all unit vectors, so that the sum is Δφ.
 *
 * For a = softplus(z), with dots for derivatives along d: ȧ = σ(z) ż and ä = σ(z) z̈ + σ(z)σ(−z)
 * ż²; for z = a W: ż = ȧ W and z̈ = ä W. The second derivatives are linear in z̈, so their sum over
 * k needs no additional axis; only Σ_k ż_k² does. All n directions cost as much as n evaluations of
 * φ. Nested automatic differentiation would compute z̈ for each direction.
 */
export function featureJet(
  p: Features<Tensor>,
  x: Tensor,
  directions?: Tensor,
  curved?: number,
): FeatureJet {
  const [kernels, n, width] = p.w1.shape;
  const points = x.shape[0];
  const k = directions ? directions.shape[1] : n;
  const perPoint = (t: Tensor): Tensor => reshape(t, [kernels, points, k, width]);
  const rows = (t: Tensor): Tensor => reshape(t, [kernels, points * k, width]);
  const { w3, skip } = scaledOutput(p);
  const push = (w: Tensor): Tensor =>
    directions ? perPoint(matmul(reshape(directions, [points * k, n]), w)) : expandDims(w, 1);
  const squares = (t: Tensor): Tensor => sum(square(lastDirections(t, curved)), -2);

  const z1 = add(matmul(x, p.w1), p.b1);
  const slope1 = sigmoid(z1);
  const dz1 = push(p.w1);
  const second1 = mul(mul(slope1, sigmoid(neg(z1))), squares(dz1));

  const z2 = add(matmul(softplus(z1), p.w2), p.b2);
  const slope2 = sigmoid(z2);
  const dz2 = perPoint(matmul(rows(mul(expandDims(slope1, -2), dz1)), p.w2));
  const bend2 = mul(mul(slope2, sigmoid(neg(z2))), squares(dz2));
  const second2 = add(mul(slope2, matmul(second1, p.w2)), bend2);

  return {
    tangents: add(perPoint(matmul(rows(mul(expandDims(slope2, -2), dz2)), w3)), push(skip)),
    second: matmul(second2, w3),
  };
}
