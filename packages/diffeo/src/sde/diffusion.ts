/**
 * Products of a diffusion coefficient G with noise and scores: G w, Gᵀ u, G Gᵀ u, and the
 * divergence
 *
 *   ∇·(G Gᵀ) = Σⱼ ∂ⱼ(G Gᵀ eⱼ),   a vector: the term of eq:reverse_drift that is 0 if G is constant in x.
 *
 * G̃ = J G of a process under a map is not multiplied out: on a board of 64 simplices its matrix
 * would have 768² entries, while its product with noise costs one J v.
 */
import { applyPlainDiffusion, applyPlainTransposed, units } from "../bijector/coefficient.ts";
import { eventOf } from "../bijector/event.ts";
import {
  type Bijector,
  type Diffusion,
  pullCovector,
  pushDiffusion,
  pushVector,
} from "../bijector/index.ts";
import {
  expand,
  gradEach,
  input,
  jvp,
  mul,
  type Operand,
  type Shape,
  square,
  sum,
  type Tensor,
  zerosLike,
} from "../graph/index.ts";
import { sizeOf } from "../graph/ndarray.ts";

/** J G at y = φ(x, t), not multiplied out. */
export interface PushedDiffusion {
  readonly kind: "pushed";
  readonly phi: Bijector;
  readonly x: Tensor;
  readonly t: Tensor;
  /** G as a function of x at this t. */
  readonly inner: (x: Tensor) => Diffusion;
}

/** The diffusion coefficient of a process: a `Diffusion`, or J G not multiplied out. */
export type ProcessDiffusion = Diffusion | PushedDiffusion;

/** G as a `Diffusion`, multiplied out. */
export const multipliedOut = (g: ProcessDiffusion): Diffusion =>
  g.kind === "pushed" ? pushDiffusion(g.phi, g.x, g.inner(g.x), g.t) : g;

const innerEvent = ({ phi, x }: PushedDiffusion): Shape => eventOf(x, phi.eventRank);

/** G w, the sum of the noise of all columns, as an event. `w` has one number per column. */
export const applyDiffusion = (g: ProcessDiffusion, w: Tensor, event: Shape): Tensor =>
  g.kind === "pushed"
    ? pushVector(g.phi, g.x, applyPlainDiffusion(g.inner(g.x), w, innerEvent(g)), g.t)
    : applyPlainDiffusion(g, w, event);

/** Gᵀ u, one number per column. */
export const applyTransposed = (g: ProcessDiffusion, u: Tensor, event: Shape): Tensor =>
  g.kind === "pushed"
    ? applyPlainTransposed(g.inner(g.x), pullCovector(g.phi, g.x, u, g.t), innerEvent(g))
    : applyPlainTransposed(g, u, event);

/** G Gᵀ u */
export const applyCovariance = (g: ProcessDiffusion, u: Tensor, event: Shape): Tensor =>
  applyDiffusion(g, applyTransposed(g, u, event), event);

/** G times a number. */
export function scaledDiffusion(g: ProcessDiffusion, by: Operand): ProcessDiffusion {
  if (g.kind !== "pushed") return { ...g, value: mul(g.value, by) };
  const { inner } = g;
  return { ...g, inner: (x) => scaledDiffusion(inner(x), by) as Diffusion };
}

/** The shape of the noise of one event: that of the event, or the number of columns of a matrix. */
export function noiseShape(g: ProcessDiffusion, event: Shape): Shape {
  if (g.kind === "pushed") return noiseShape(g.inner(g.x), innerEvent(g));
  return g.kind === "matrix" ? [g.value.shape.at(-1) as number] : event;
}

/** Whether a tensor depends on another. */
export function dependsOn(result: Tensor, on: Tensor): boolean {
  const seen = new Set<Tensor>();
  const open = [result];
  for (let t = open.pop(); t; t = open.pop()) {
    if (t === on) return true;
    if (seen.has(t)) continue;
    seen.add(t);
    open.push(...t.inputs);
  }
  return false;
}

/** Whether G depends on x. If not, its derivatives are left out of the graph. */
export function dependsOnState(diffusion: (x: Tensor) => ProcessDiffusion, x: Tensor): boolean {
  const probe = input("x", x.shape, x.dtype);
  const g = diffusion(probe);
  return (g.kind === "pushed" ? [g.x, g.inner(g.x).value] : [g.value]).some((part) =>
    dependsOn(part, probe),
  );
}

/** The divergence ∇·(G Gᵀ) at x. */
export function covarianceDivergence(
  diffusion: (x: Tensor) => Diffusion,
  x: Tensor,
  eventRank: number,
): Tensor {
  if (!dependsOnState(diffusion, x)) return zerosLike(x);
  // G = g I:  Σⱼ ∂ⱼ(g² eⱼ) = ∇g²
  if (diffusion(x).kind === "scalar") return gradEach((z) => square(diffusion(z).value))(x);
  const event = eventOf(x, eventRank);
  const wide = [sizeOf(event), ...x.shape];
  const e = expand(units(x, eventRank), wide);
  return sum(jvp((z: Tensor) => applyCovariance(diffusion(z), e, event), expand(x, wide), e)[1], 0);
}
