/**
 * Adam in the graph: m ← β₁m + (1−β₁)g, v ← β₂v + (1−β₂)g², θ ← θ − η m̂/(√v̂ + ε). Parameters and
 * moments are flat vectors, so a step is a few large operations for any number of layers.
 */
import { add, div, fill, mul, pow, sqrt, sub, type Tensor } from "../graph/index.ts";

/** Parameters, and Adam's moving averages of gradients and of their squares. */
export interface AdamState<T> {
  readonly theta: T;
  readonly m: T;
  readonly v: T;
}

/** Options of `adam`; the defaults are those of its authors. */
export interface AdamOptions {
  readonly beta1?: number;
  readonly beta2?: number;
  readonly epsilon?: number;
  /**
   * Decoupled weight decay: θ shrinks by the factor 1 − η·decay per step, independently of the
   * gradient. Default 0.
   */
  readonly weightDecay?: number;
}

/**
 * One step of Adam with the gradient c·g. `step` counts from 1. `step`, `rate` and the clipping
 * factor c are scalar tensors, so one graph serves all steps, and clipping needs no pass over the
 * vectors.
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
  // m̂/(√v̂ + ε), with both bias corrections as scalars.
  const correction1 = sub(1, pow(beta1, step));
  const correction2 = sqrt(sub(1, pow(beta2, step)));
  const size = div(mul(rate, correction2), correction1);
  const kept = weightDecay === 0 ? state.theta : mul(state.theta, sub(1, mul(rate, weightDecay)));
  return { theta: sub(kept, mul(div(m, add(sqrt(v), mul(correction2, epsilon))), size)), m, v };
}
