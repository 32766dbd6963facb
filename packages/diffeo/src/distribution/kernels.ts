/**
 * Covariance functions of Gaussian processes on points x [n], or [n, d] of several coordinates,
 * with r the distance of two points:
 *
 *   squared exponential  a² exp(−r²/2ℓ²)
 *   Matérn ½, 3/2, 5/2   a² e^{−r/ℓ},   a²(1 + s)e^{−s}, s = √3 r/ℓ,   a²(1 + s + s²/3)e^{−s}, s = √5 r/ℓ
 *   rational quadratic   a² (1 + r²/2mℓ²)^{−m}
 *   periodic             a² exp(−2 sin²(πr/p)/ℓ²)        linear   a² (x − c)·(x′ − c)
 */
import {
  add,
  div,
  exp,
  expandDims,
  greater,
  log1p,
  mul,
  neg,
  type Operand,
  sin,
  sqrt,
  square,
  sub,
  sum,
  type Tensor,
  where,
} from "../graph/index.ts";
import { asTensor } from "../graph/tensor.ts";

/**
 * A covariance function: the covariances of two lists of points, [n] and [m] or [n, d] and [m, d] →
 * [n, m].
 */
export type Kernel = (x: Operand, y: Operand) => Tensor;

/** Amplitude and length scale of a covariance function. */
export interface KernelOptions {
  /** a, the standard deviation of the function. Default 1. */
  readonly amplitude?: Operand;
  /** ℓ, the length scale; one number, or one per coordinate. Default 1. */
  readonly scale?: Operand;
}

/** Differences of points along each coordinate, [n, m, d]. */
function differences(x: Operand, y: Operand): Tensor {
  const [a, b] = [x, y].map((points) => {
    const t = asTensor(points, "float64");
    return t.shape.length === 1 ? expandDims(t, -1) : t;
  });
  return sub(expandDims(a, 1), expandDims(b, 0));
}

/** r²/ℓ² */
const squaredDistance = (x: Operand, y: Operand, scale: Operand): Tensor =>
  sum(square(div(differences(x, y), scale)), -1);

/** √q with the derivative 0 at q = 0, where that of the root is infinite. */
const safeRoot = (q: Tensor): Tensor => {
  const isDistinct = greater(q, 0);
  return where(isDistinct, sqrt(where(isDistinct, q, 1)), 0);
};

const scaled = (amplitude: Operand, correlations: Tensor): Tensor =>
  mul(square(asTensor(amplitude, "float64")), correlations);

/** The squared exponential kernel a² exp(−r²/2ℓ²), for smooth functions. */
export const squaredExponential =
  ({ amplitude = 1, scale = 1 }: KernelOptions = {}): Kernel =>
  (x, y) =>
    scaled(amplitude, exp(mul(squaredDistance(x, y, scale), -0.5)));

/** Options of `matern`. */
export interface MaternOptions extends KernelOptions {
  /** ½, 3/2 or 5/2: continuous, once and twice differentiable functions. Default 3/2. */
  readonly smoothness?: 0.5 | 1.5 | 2.5;
}

/** The Matérn kernel, for rougher functions than those of the squared exponential. */
export const matern =
  ({ amplitude = 1, scale = 1, smoothness = 1.5 }: MaternOptions = {}): Kernel =>
  (x, y) => {
    const s = mul(safeRoot(squaredDistance(x, y, scale)), Math.sqrt(2 * smoothness));
    const polynomial =
      smoothness === 0.5
        ? 1
        : smoothness === 1.5
          ? add(s, 1)
          : add(add(s, 1), mul(square(s), 1 / 3));
    return scaled(amplitude, mul(exp(neg(s)), polynomial));
  };

/** The rational quadratic kernel, a scale mixture of squared exponentials; `mixture` is m. */
export const rationalQuadratic =
  ({
    amplitude = 1,
    scale = 1,
    mixture = 1,
  }: KernelOptions & { readonly mixture?: Operand } = {}): Kernel =>
  (x, y) => {
    const q = div(mul(squaredDistance(x, y, scale), 0.5), mixture);
    return scaled(amplitude, exp(neg(mul(log1p(q), mixture))));
  };

/** The periodic kernel, for functions that repeat after `period`. */
export const periodic =
  ({ amplitude = 1, scale = 1, period }: KernelOptions & { readonly period: Operand }): Kernel =>
  (x, y) => {
    const angle = mul(div(differences(x, y), period), Math.PI);
    return scaled(amplitude, exp(mul(sum(square(div(sin(angle), scale)), -1), -2)));
  };

/** The linear kernel, for linear functions that are 0 at `centre`. */
export const linear =
  ({
    amplitude = 1,
    centre = 0,
  }: {
    readonly amplitude?: Operand;
    readonly centre?: Operand;
  } = {}): Kernel =>
  (x, y) => {
    const [a, b] = [x, y].map((points) => {
      const t = sub(asTensor(points, "float64"), centre);
      return t.shape.length === 1 ? expandDims(t, -1) : t;
    });
    return scaled(amplitude, sum(mul(expandDims(a, 1), expandDims(b, 0)), -1));
  };

/** The covariance of a sum of independent functions. */
export const addKernels =
  (...kernels: readonly Kernel[]): Kernel =>
  (x, y) =>
    kernels.map((k) => k(x, y)).reduce((a, b) => add(a, b));

/** The covariance of a product of independent functions. */
export const multiplyKernels =
  (...kernels: readonly Kernel[]): Kernel =>
  (x, y) =>
    kernels.map((k) => k(x, y)).reduce((a, b) => mul(a, b));
