/**
 * A property of maps: two expressions that must agree for every φ. A property is about one event;
 * its two sides hold a batch of events.
 */
import {
  type Bijector,
  type ClosedForm,
  type Diffusion,
  gradLogDet,
  itoTrace,
  pullCovector,
  pullItoTrace,
  pullVector,
  pushCovector,
  pushVector,
  timeDerivative,
} from "../bijector/index.ts";
import { add, mul, sub, type Tensor } from "../graph/index.ts";
import { pushScore } from "../score/score.ts";

/** Points and random directions at them: the arguments of a property. */
export interface Probe {
  readonly x: Tensor;
  /** Times, one per point; maps that do not depend on time ignore them. */
  readonly t: Tensor;
  /** In the space of x. */
  readonly v: Tensor;
  readonly s: Tensor;
  /** In the space of y. */
  readonly w: Tensor;
  readonly scalar: Diffusion;
  readonly diagonal: Diffusion;
  /** […, n, 2] */
  readonly matrix: Diffusion;
}

/** A property: a name and two sides that must be equal. */
export interface Property {
  readonly name: string;
  /** The closed form that the property checks, if it checks one. */
  readonly of?: ClosedForm;
  /** The two expressions that must be equal. */
  readonly sides: (phi: Bijector, probe: Probe) => readonly [Tensor, Tensor];
  /** Whether the property applies to this map. Default: to every map. */
  readonly applies?: (phi: Bijector, embeds: boolean) => boolean;
  /** The largest relative error: relative to the right side, or to `floor` if that is larger. */
  readonly tolerance: number;
  readonly floor: number;
  /** Whether it is also checked at large |x|, with a larger tolerance for rounding. */
  readonly hard?: boolean;
  /** The likely cause of a failure. */
  readonly remedy: string;
}

/**
 * ∂f along v by central differences of fourth order; their error is about 1e-16 h⁻¹ + h⁴ in units
 * of f.
 */
export function difference(f: (z: Tensor) => Tensor, x: Tensor, v: Tensor, h = 1e-5): Tensor {
  const step = (k: number): Tensor => f(add(x, mul(v, k * h)));
  return mul(sub(mul(sub(step(1), step(-1)), 8), sub(step(2), step(-2))), 1 / (12 * h));
}

/** ∂²f along v by central differences. */
export function secondDifference(f: (z: Tensor) => Tensor, x: Tensor, v: Tensor, h = 1e-4): Tensor {
  const step = (k: number): Tensor => f(add(x, mul(v, k * h)));
  const near = mul(add(step(1), step(-1)), 16);
  const far = add(step(2), step(-2));
  return mul(sub(sub(near, far), mul(f(x), 30)), 1 / (12 * h * h));
}

/** Quantities that are computed from x, and must be finite for finite x. */
export function fromX(
  phi: Bijector,
  { x, t, v, s, w, scalar, matrix }: Probe,
): Readonly<Record<string, Tensor>> {
  return {
    "φ(x)": phi.forward(x, t),
    "log|det J|": phi.logDet(x, t),
    "J v": pushVector(phi, x, v, t),
    Jᵀu: pullCovector(phi, x, w, t),
    "J⁻¹v": pullVector(phi, x, w, t),
    "J⁻ᵀu": pushCovector(phi, x, s, t),
    "∇ log|det J|": gradLogDet(phi, x, t),
    "Tr[GᵀHG], scalar G": itoTrace(phi, x, scalar, t),
    "Tr[GᵀHG], matrix G": itoTrace(phi, x, matrix, t),
    "J⁻¹Tr[GᵀHG], scalar G": pullItoTrace(phi, x, scalar, t),
    "J⁻¹Tr[GᵀHG], matrix G": pullItoTrace(phi, x, matrix, t),
    "pushed score": pushScore(phi, x, s, t),
    ...(phi.timeDependent && { "∂ₜφ": timeDerivative(phi, x, t) }),
  };
}
