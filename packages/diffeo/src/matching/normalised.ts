/**
 * The unit field d = ∇v/‖∇v‖ of a random function, its second moment E[ddᵀ] and the divergence of
 * that, for normalised GSSM and its form with variance reduction.
 *
 * For v = ½xᵀAx + bᵀx with A from the Gaussian orthogonal ensemble (A_ij ~ N(0, τ²), A_ii ~ N(0,
 * 2τ²)) and b ~ N(0, σ²I), ∇v = Ax + b is Gaussian given x: with e = x/r, r = ‖x‖, its variance is
 * s₁ = 2τ²r² + σ² along e and s₂ = τ²r² + σ² orthogonal to e. So
 *
 *   E[ddᵀ] = a eeᵀ + c (I − eeᵀ),   a = E[s₁z²/(s₁z² + s₂Q)],   c = (1 − a)/(n − 1)
 *
 * with z² ~ χ²₁ and Q ~ χ²ₙ₋₁. From E[U/(U + V)] = ∫₀^∞ E[U e^{−λ(U + V)}] dλ, ρ = s₁/s₂ and
 * u = 1/(1 + 2λs₂),
 *
 *   a = ½ρ ∫₀¹ u^{n/2 − 1} (ρ − (ρ − 1)u)^{−3/2} du = (1/n) √(1 − z) F(z),   z = 1 − 1/ρ < ½,
 *
 * F = ₂F₁(3/2, n/2; n/2 + 1; z) = Σ (3/2)ₖ/k! · n/(n + 2k) zᵏ, whose terms decrease faster than
 * 2⁻ᵏ. Here z = τ²r²/(2τ²r² + σ²). The divergence, with β = (a − c)/r², is (a′/r + (n − 1)β) x.
 */
import {
  add,
  div,
  dot,
  expandDims,
  fill,
  mul,
  sqrt,
  square,
  squaredNorm,
  sub,
  type Tensor,
  zerosLike,
} from "../graph/index.ts";
import type { Moments, Slice } from "./slice.ts";

/** d and c = (∇d)d + d div d of a slice at its point. */
export interface UnitSlice {
  readonly direction: Tensor;
  /** Absent: zero. */
  readonly drift?: Tensor;
}

/**
 * With g = ‖∇v‖, J_d = (I − ddᵀ)H_v/g. So (∇d)d = (H_v d − (dᵀH_v d)d)/g and div d = (Δv − dᵀH_v
 * d)/g, both given H_v∇v = g H_v d and Δv, and c = (H_v d + (Δv − 2dᵀH_v d)d)/g.
 */
export function unitSlice({ grad, hvp, laplacian }: Slice): UnitSlice {
  const g = expandDims(sqrt(squaredNorm(grad)), -1);
  const d = div(grad, g);
  if (!hvp && !laplacian) return { direction: d };
  const bent = div(hvp ?? zerosLike(grad), g);
  const spread = sub(laplacian ?? 0, mul(dot(d, bent), 2));
  return { direction: d, drift: div(add(bent, mul(expandDims(spread, -1), d)), g) };
}

/** The number of terms of F that float64 resolves for z ≤ ½. */
const TERMS = 62;

/** Σ cₖ zᵏ */
const polynomial = (coefficients: readonly number[], z: Tensor): Tensor =>
  coefficients.reduceRight<Tensor>((sum, c) => add(mul(sum, z), c), mul(z, 0));

/** E[ddᵀ] and its divergence for ∇v = Ax + b, with τ² and σ² as above. */
export function gaussianUnitMoments(x: Tensor, tau2: number, sigma2: number): Moments {
  const n = x.shape.at(-1) as number;
  if (n === 1) return { covariance: { diagonal: fill([1], 1, x.dtype) } };
  const r2 = expandDims(squaredNorm(x), -1);
  const s1 = add(mul(r2, 2 * tau2), sigma2);
  const z = div(mul(r2, tau2), s1);
  const coefficients: number[] = [];
  for (let k = 0, rising = 1; k < TERMS; k++, rising *= (k + 0.5) / k)
    coefficients.push((rising * n) / (n + 2 * k));
  // With F = 1 + z F₁, na − 1 = √(1 − z) F − 1 has no cancellation near x = 0.
  const first = polynomial(coefficients.slice(1), z);
  const f = add(mul(first, z), 1);
  const slope = polynomial(
    coefficients.slice(1).map((c, k) => c * (k + 1)),
    z,
  );
  const root = sqrt(sub(1, z));
  const a = mul(mul(root, f), 1 / n);
  const excess = sub(mul(root, first), div(1, add(root, 1)));
  const beta = div(mul(excess, tau2 / (n - 1)), s1);
  // a′/r = (da/dz)(z′/r), z′/r = 2τ²σ²/s₁².
  const rate = mul(sub(mul(root, slope), div(f, mul(root, 2))), 1 / n);
  const turned = div(mul(rate, 2 * tau2 * sigma2), square(s1));
  return {
    covariance: {
      diagonal: mul(sub(1, a), 1 / (n - 1)),
      directions: expandDims(mul(x, sqrt(beta)), -2),
    },
    divergence: mul(x, add(turned, mul(beta, n - 1))),
  };
}
