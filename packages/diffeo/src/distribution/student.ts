/**
 * Student's t in n dimensions with ν degrees of freedom, centre μ and shape S = QΛQᵀ: the Gaussian
 * N(μ, S) with its deviation divided by √(χ²_ν/ν). With δ² = (x − μ)ᵀS⁻¹(x − μ):
 *
 *   log p = log Γ((ν+n)/2) − log Γ(ν/2) − (n/2) log νπ − ½ log det S − ((ν+n)/2) log(1 + δ²/ν)
 *   ∇ log p = −(ν + n)/(ν + δ²) S⁻¹(x − μ)
 *
 * Its tails fall like a power of ‖x‖, so its score fades with distance where a Gaussian's grows.
 */
import {
  add,
  constant,
  div,
  expandDims,
  fail,
  log1p,
  mul,
  neg,
  sub,
  sum,
  type Tensor,
} from "../graph/index.ts";
import { fold, type Keys, normal, uniform } from "../random/index.ts";
import type { Distribution } from "./distribution.ts";
import { logStudentPeak } from "./gamma.ts";
import { alongAxes, drawEllipse, fromAxes } from "./gaussian.ts";
import { type Covariance, principalAxes } from "./principal.ts";

export interface StudentOptions {
  /** ν > 0 */
  readonly degrees: number;
  readonly mean: readonly number[];
  /** S, by default 1. The covariance is ν/(ν − 2) times this, and exists for ν > 2. */
  readonly shape?: Covariance;
}

export function studentT({ degrees, mean, shape = 1 }: StudentOptions): Distribution {
  if (!(degrees > 0 && Number.isFinite(degrees)))
    fail("usage", `studentT: ${degrees} degrees of freedom`, "use a positive number");
  const n = mean.length;
  const principal = principalAxes(shape, n, "studentT");
  const logVolume = principal.variances.reduce((s, v) => s + Math.log(v), 0) / 2;
  const constantTerm = logStudentPeak(degrees, n) - logVolume;
  /** z = Qᵀ(x − μ), z/Λ and δ². */
  const parts = (x: Tensor) => {
    const z = alongAxes(principal, sub(x, constant(mean, x.dtype)));
    const scaled = div(z, constant(principal.variances, x.dtype));
    return { scaled, distance: sum(mul(z, scaled), -1) };
  };
  return {
    name: "student-t",
    dimension: n,
    logDensity: (x) => {
      const { distance } = parts(x);
      return add(mul(log1p(mul(distance, 1 / degrees)), -(degrees + n) / 2), constantTerm);
    },
    score: (x) => {
      const { scaled, distance } = parts(x);
      const pull = div(degrees + n, add(distance, degrees));
      return neg(mul(fromAxes(principal, scaled), expandDims(pull, -1)));
    },
    draw: (keys) => {
      const gammas = drawGamma(fold(keys, "gamma"), degrees / 2);
      return drawEllipse(keys, mean, principal, (row) => Math.sqrt(degrees / (2 * gammas[row])));
    },
  };
}

/**
 * One Gamma(a, 1) number a key, by Marsaglia and Tsang's rejection (2000): d(1 + cz)³ is accepted
 * where
 * log u < ½z² + d − dv + d log v, v = (1 + cz)³, d = a − ⅓, c = 1/√(9d). For a < 1, Gamma(a) =
 * Gamma(a + 1) U^{1/a}. Try k of a row reads stream k of its key, so no row depends on another's
 * luck.
 */
function drawGamma(keys: Keys, a: number): Float64Array {
  const d = (a < 1 ? a + 1 : a) - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  const out = new Float64Array(keys.count).fill(Number.NaN);
  for (let attempt = 0; out.some(Number.isNaN); attempt++) {
    const { data: z } = normal(fold(fold(keys, attempt), "normal"), [], { dtype: "float64" });
    const { data: u } = uniform(fold(fold(keys, attempt), "uniform"), [], { dtype: "float64" });
    for (let i = 0; i < out.length; i++) {
      const v = (1 + c * z[i]) ** 3;
      if (
        Number.isNaN(out[i]) &&
        v > 0 &&
        Math.log(u[i]) < z[i] * z[i] * 0.5 + d - d * v + d * Math.log(v)
      )
        out[i] = d * v;
    }
  }
  if (a >= 1) return out;
  const { data: u } = uniform(fold(keys, "boost"), [], { dtype: "float64" });
  return out.map((v, i) => v * u[i] ** (1 / a));
}
