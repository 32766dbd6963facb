/** y = a(t) x + c(t): the simplest map that depends on time. ∂ₜφ = a′x + c′. */
import { abs, add, div, fill, log, mul, sub, type Tensor } from "../graph/index.ts";
import type { Bijector } from "./bijector.ts";
import { coordinatewise } from "./coordinatewise.ts";
import { alignToEvent, requireTime } from "./event.ts";

/** Options of `timeAffine`: scale and shift as functions of time. */
export interface TimeAffineOptions {
  /** a(t), in the shape of t; not 0. */
  readonly scale: (t: Tensor) => Tensor;
  /** c(t), in the shape of t. Default 0. */
  readonly shift?: (t: Tensor) => Tensor;
}

/** The map y = a(t) x + c(t), which depends on time. */
export function timeAffine({ scale, shift }: TimeAffineOptions): Bijector {
  const a = (t?: Tensor): Tensor => alignToEvent(scale(requireTime(t, "timeAffine")), 1);
  const c = (t?: Tensor): Tensor => {
    const time = requireTime(t, "timeAffine");
    return shift ? alignToEvent(shift(time), 1) : fill([], 0, time.dtype);
  };
  return coordinatewise({
    name: "time affine",
    timeDependent: true,
    forward: (x, t) => add(mul(a(t), x), c(t)),
    inverse: (y, t) => div(sub(y, c(t)), a(t)),
    logSlope: (_, t) => log(abs(a(t))),
    slope: (_, t) => a(t),
    logSlopeDerivative: (x) => fill([], 0, x.dtype),
  });
}
