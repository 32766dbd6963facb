/**
 * Distributions of k × k matrices, with densities on their lower triangles:
 *
 *   LKJ(η)              |R|^{η−1}/c,   c = Π_{i<k} π^{i/2} Γ(η + (k−1−i)/2)/Γ(η + (k−1)/2)
 *                       (D. Lewandowski, D. Kurowicka, H. Joe, 2009), off the diagonal
 *   Wishart(ν, V)       |S|^{(ν−k−1)/2} e^{−tr(V⁻¹S)/2} / (2^{νk/2} |V|^{ν/2} Γ_k(ν/2))
 *   inverse Wishart     |V|^{ν/2} |S|^{−(ν+k+1)/2} e^{−tr(VS⁻¹)/2} / (2^{νk/2} Γ_k(ν/2))
 *
 *   Γ_k(a) = π^{k(k−1)/4} Π_{i<k} Γ(a − i/2)
 *
 * With S = L Lᵀ and V = C Cᵀ: tr(V⁻¹S) = ‖C⁻¹L‖² and tr(VS⁻¹) = ‖L⁻¹C‖².
 */
import { correlationMatrix, covarianceMatrix } from "../domain/index.ts";
import {
  add,
  cholesky,
  div,
  expandDims,
  logGamma,
  mul,
  type Operand,
  type Shape,
  solve,
  square,
  sub,
  sum,
  type Tensor,
} from "../graph/index.ts";
import { lowerSolve } from "../host/index.ts";
import type { Sequence } from "../random/index.ts";
import type { Distribution } from "./distribution.ts";
import { factorOf, halfLogDet } from "./multivariate-normal.ts";
import { betaVariate, gammaVariate } from "./variates.ts";
import { sameSize, type VectorRule, vectorDistribution } from "./vector.ts";

const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
const total = (terms: readonly Tensor[]): Tensor => terms.reduce((a, b) => add(a, b));

const lkjRule = (k: number): VectorRule => ({
  name: "lkj",
  parameters: { concentration: { rank: 0, is: "positive" } },
  event: () => [k, k],
  support: () => correlationMatrix(k),
  logDensity: (r, eta) => {
    const ends = mul(logGamma(add(eta, (k - 1) / 2)), k - 1);
    const parts = total(range(k - 1).map((i) => logGamma(add(eta, (k - 2 - i) / 2))));
    const height = sub(sub(ends, parts), (Math.log(Math.PI) * k * (k - 1)) / 4);
    return add(mul(sub(eta, 1), mul(halfLogDet(cholesky(r)), 2)), height);
  },
  // Row i of the factor: partial correlations z_ij = 2 Beta(b, b) − 1, b = η + (k − 2 − j)/2,
  // applied to what the columns before leave.
  variate: (random, out, [eta]) => {
    const l = new Float64Array(k * k);
    for (let i = 0; i < k; i++) {
      let left = 1;
      for (let j = 0; j < i; j++) {
        const b = eta + (k - 2 - j) / 2;
        const z = 2 * betaVariate(random, b, b) - 1;
        l[i * k + j] = z * Math.sqrt(left);
        left *= 1 - z * z;
      }
      l[i * k + i] = Math.sqrt(left);
    }
    outerSquare(l, k, out);
    for (let i = 0; i < k; i++) out[i * k + i] = 1;
  },
});

/** M Mᵀ */
function outerSquare(m: Float64Array, k: number, out: Float64Array): void {
  for (let i = 0; i < k; i++)
    for (let j = 0; j < k; j++) {
      let sumOf = 0;
      for (let a = 0; a < k; a++) sumOf += m[i * k + a] * m[j * k + a];
      out[i * k + j] = sumOf;
    }
}

/**
 * The LKJ distribution of correlation matrices, `order` × `order`: uniform for concentration 1,
 * closer to the identity above.
 *
 * @example
 * import { cholesky, expandDims, mul } from "diffeo/graph";
 * import { model } from "diffeo/mcmc";
 *
 * export default model(({ parameter, observe }) => {
 *   const sigma = parameter("sigma", halfNormal(1), { shape: 3 });
 *   const R = parameter("R", lkj(3, 2));
 *   const L = mul(cholesky(R), expandDims(sigma, -1)); // of the covariance σ_i R_ij σ_j
 *   observe("y", multivariateNormal({ cholesky: L }));
 * });
 */
export const lkj = (order: number, concentration: Operand = 1): Distribution =>
  vectorDistribution(lkjRule(order), [concentration]);

/** log Γ_k(a) */
const logMultiGamma = (a: Tensor, k: number): Tensor =>
  add(total(range(k).map((i) => logGamma(sub(a, i / 2)))), (Math.log(Math.PI) * k * (k - 1)) / 4);

/** ‖A⁻¹B‖² */
const solvedNorm = (a: Tensor, b: Tensor): Tensor => sum(square(solve(a, b)), [-2, -1]);

/** A Cholesky factor of a Wishart(ν, I) matrix (M. Bartlett, 1933). */
function bartlett(random: Sequence, v: number, k: number): Float64Array {
  const a = new Float64Array(k * k);
  for (let i = 0; i < k; i++) {
    for (let j = 0; j < i; j++) a[i * k + j] = random.normal();
    a[i * k + i] = Math.sqrt(2 * gammaVariate(random, (v - i) / 2));
  }
  return a;
}

/** L A for lower triangular matrices. */
function lowerProduct(l: Float64Array, a: Float64Array, k: number): Float64Array {
  const out = new Float64Array(k * k);
  for (let i = 0; i < k; i++)
    for (let j = 0; j <= i; j++)
      for (let m = j; m <= i; m++) out[i * k + j] += l[i * k + m] * a[m * k + j];
  return out;
}

const common = {
  parameters: { degrees: { rank: 0, is: "positive" }, scale: { rank: 2 } },
  event: (_: Shape, v: Shape): Shape => {
    const k = sameSize("wishart", "the scale's axes", [v]);
    return [k, k];
  },
  support: ([k]: Shape) => covarianceMatrix(k),
} as const;

const wishartRule: VectorRule = {
  name: "wishart",
  ...common,
  logDensity: (s, v, scale) => {
    const k = scale.shape.at(-1) as number;
    const [l, c] = [cholesky(s), cholesky(scale)];
    const norm = add(
      add(mul(v, (k * Math.LN2) / 2), mul(v, halfLogDet(c))),
      logMultiGamma(mul(v, 0.5), k),
    );
    const shape = sub(mul(sub(v, k + 1), halfLogDet(l)), mul(solvedNorm(c, l), 0.5));
    return sub(shape, norm);
  },
  mean: (v, scale) => mul(expandDims(expandDims(v, -1), -1), scale),
  variate: (random, out, [v], scale) => {
    const k = Math.sqrt(scale.length);
    outerSquare(lowerProduct(factorOf("wishart", scale), bartlett(random, v, k), k), k, out);
  },
};

/**
 * The Wishart distribution of positive-definite matrices: that of the sum of `degrees` outer
 * products of N(0, scale) vectors.
 */
export const wishart = (degrees: Operand, scale: Operand): Distribution =>
  vectorDistribution(wishartRule, [degrees, scale]);

const inverseWishartRule: VectorRule = {
  name: "inverseWishart",
  ...common,
  logDensity: (s, v, scale) => {
    const k = scale.shape.at(-1) as number;
    const [l, c] = [cholesky(s), cholesky(scale)];
    const norm = sub(
      add(mul(v, (k * Math.LN2) / 2), logMultiGamma(mul(v, 0.5), k)),
      mul(v, halfLogDet(c)),
    );
    const shape = add(mul(add(v, k + 1), halfLogDet(l)), mul(solvedNorm(l, c), 0.5));
    return sub(mul(shape, -1), norm);
  },
  // (C⁻ᵀ A Aᵀ C⁻¹)⁻¹ = M Mᵀ with M = C A⁻ᵀ, whose rows solve A Mᵀ = Cᵀ.
  variate: (random, out, [v], scale) => {
    const k = Math.sqrt(scale.length);
    const [c, a] = [factorOf("inverseWishart", scale), bartlett(random, v, k)];
    const m = new Float64Array(k * k);
    for (let i = 0; i < k; i++) m.set(lowerSolve(a, c.slice(i * k, (i + 1) * k)), i * k);
    outerSquare(m, k, out);
  },
  mean: (v, scale) => {
    const k = scale.shape.at(-1) as number;
    return div(scale, expandDims(expandDims(sub(v, k + 1), -1), -1));
  },
};

/**
 * The inverse Wishart distribution: that of the inverse of a Wishart matrix with scale⁻¹. Its mean
 * is scale/(degrees − k − 1).
 */
export const inverseWishart = (degrees: Operand, scale: Operand): Distribution =>
  vectorDistribution(inverseWishartRule, [degrees, scale]);
