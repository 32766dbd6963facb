/**
 * Adam inside the graph: m ← β₁m + (1−β₁)g, v ← β₂v + (1−β₂)g², θ ← θ − η m̂/(√v̂ + ε).
 * Parameters and moments are flat vectors, so that a step is a handful of large operations however
 * many layers there are.
 */
import { add, div, fill, mul, pow, sqrt, sub, type Tensor } from "../graph/index.ts";

/** Parameters, and Adam's moving averages of gradients and of their squares. */
export interface AdamState<T> {
  readonly theta: T;
  readonly m: T;
  readonly v: T;
}

/** Settings of Adam; defaults are those of its authors. */
export interface AdamOptions {
  readonly beta1?: number;
  readonly beta2?: number;
  readonly epsilon?: number;
  /** Decoupled: θ shrinks by η·decay a step, apart from the gradient. Default 0. */
  readonly weightDecay?: number;
}

/**
 * One update by the gradient c·g. `step` counts from 1; it, `rate` and the factor c, from clipping,
 * are scalars, so that one graph serves all steps and clipping costs no pass over the vectors.
 */
export function adam(
  state: AdamState<Tensor>,
  g: Tensor,
  step: Tensor,
  rate: Tensor,
  options: AdamOptions = {},
  c: Tensor = fill([], 1, g.dtype),
): AdamState<Tensor> {
  const { beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weightDecay = 0 } = options;
  const m = add(mul(state.m, beta1), mul(g, mul(c, 1 - beta1)));
  const v = add(mul(state.v, beta2), mul(mul(g, g), mul(mul(c, c), 1 - beta2)));
  // m̂/(√v̂ + ε) with both corrections folded into scalars.
  const correction1 = sub(1, pow(beta1, step));
  const correction2 = sqrt(sub(1, pow(beta2, step)));
  const size = div(mul(rate, correction2), correction1);
  const kept = weightDecay === 0 ? state.theta : mul(state.theta, sub(1, mul(rate, weightDecay)));
  return { theta: sub(kept, mul(div(m, add(sqrt(v), mul(correction2, epsilon))), size)), m, v };
}
