/**
 * Noise levels λ = log m²/σ² of a process with m² + σ² = 1:
 *
 *   m(λ)² = 1/(1 + e^{−λ})        σ(λ)² = 1/(1 + e^λ)
 */
import { add, expandDims, mul, neg, sigmoid, sqrt, sub, type Tensor } from "diffeo/graph";

/** m and σ at levels [...], shaped [..., 1] to scale rows. */
export const scalesOf = (lambda: Tensor): { readonly m: Tensor; readonly sigma: Tensor } => ({
  m: expandDims(sqrt(sigmoid(lambda)), -1),
  sigma: expandDims(sqrt(sigmoid(neg(lambda))), -1),
});

/** m and σ at one level, on the host. */
export const scalesAt = (lambda: number): { readonly m: number; readonly sigma: number } => ({
  m: 1 / Math.sqrt(1 + Math.exp(-lambda)),
  sigma: 1 / Math.sqrt(1 + Math.exp(lambda)),
});

/** x = m x₀ + σε of rows x₀ and noise ε, and v = m ε − σ x₀, which a network predicts. */
export function noisedRows(rows: Tensor, noise: Tensor, lambda: Tensor) {
  const { m, sigma } = scalesOf(lambda);
  return {
    x: add(mul(rows, m), mul(noise, sigma)),
    velocity: sub(mul(noise, m), mul(rows, sigma)),
  };
}
