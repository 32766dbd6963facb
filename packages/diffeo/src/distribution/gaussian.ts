/**
 * Gaussians with covariance S = QΛQᵀ, and their marginals: if x_t | x₀ ~ N(m x₀, σ²I) then
 *
 *   x_t ~ N(mμ, m²S + σ²I)     log p = −½ Σ (zᵢ²/dᵢ + log 2πdᵢ)     ∇ log p = −Q(z/d)
 *
 * with z = Qᵀ(x − mμ) and d = m²Λ + σ².
 */
import {
  add,
  constant,
  div,
  log,
  matmul,
  matvec,
  mul,
  neg,
  square,
  sub,
  sum,
  type Tensor,
  transpose,
} from "../graph/index.ts";
import { type Keys, normal } from "../random/index.ts";
import { type Density, type Diffusible, overEvent, vectors } from "./distribution.ts";
import { type Covariance, type Principal, principalAxes } from "./principal.ts";

/** Options of `gaussian`: mean and covariance. */
export interface GaussianOptions {
  readonly mean: readonly number[];
  /** A variance, one variance per coordinate, or a matrix. Default 1. */
  readonly covariance?: Covariance;
}

/** The Gaussian with the given mean and covariance, and with its marginals along a process. */
export function gaussian({ mean, covariance = 1 }: GaussianOptions): Diffusible {
  const n = mean.length;
  const principal = principalAxes(covariance, n, "gaussian");
  const marginal = (m: number | Tensor, sigma: number | Tensor): Density => {
    const [scale, noise] = [overEvent(m), overEvent(sigma)];
    const parts = (x: Tensor): { readonly z: Tensor; readonly d: Tensor } => ({
      z: alongAxes(principal, sub(x, mul(constant(mean, x.dtype), scale))),
      d: add(mul(constant(principal.variances, x.dtype), squareOf(scale)), squareOf(noise)),
    });
    return {
      logDensity: (x) => {
        const { z, d } = parts(x);
        return mul(sum(add(div(square(z), d), log(mul(d, 2 * Math.PI))), -1), -0.5);
      },
      score: (x) => {
        const { z, d } = parts(x);
        return neg(fromAxes(principal, div(z, d)));
      },
    };
  };
  return {
    ...vectors("gaussian", n, (keys) => drawEllipse(keys, mean, principal)),
    ...marginal(1, 0),
    marginal,
  };
}

const squareOf = (v: number | Tensor): number | Tensor =>
  typeof v === "number" ? v * v : square(v);

/** Qᵀv */
export function alongAxes({ axes }: Principal, v: Tensor): Tensor {
  return axes ? rotate(constant(axes, v.dtype), v) : v;
}
/** Q v */
export function fromAxes({ axes }: Principal, v: Tensor): Tensor {
  return axes ? rotate(transpose(constant(axes, v.dtype)), v) : v;
}
/** Mᵀv for each row v. */
const rotate = (m: Tensor, v: Tensor): Tensor =>
  v.shape.length > 1 ? matmul(v, m) : matvec(transpose(m), v);

/** μ + QΛ^½ ε, one row per key; ε scaled by `stretch` for row i if given. */
export function drawEllipse(
  keys: Keys,
  mean: readonly number[],
  { variances, axes }: Principal,
  stretch: (row: number) => number = () => 1,
): Float64Array {
  const n = mean.length;
  const { data } = normal(keys, [n], { dtype: "float64" });
  const out = new Float64Array(data.length);
  for (let row = 0; row < keys.count; row++) {
    const factor = stretch(row);
    for (let i = 0; i < n; i++) {
      let step = 0;
      if (axes)
        for (let k = 0; k < n; k++)
          step += axes[i][k] * Math.sqrt(variances[k]) * data[row * n + k];
      else step = Math.sqrt(variances[i]) * data[row * n + i];
      out[row * n + i] = mean[i] + factor * step;
    }
  }
  return out;
}
