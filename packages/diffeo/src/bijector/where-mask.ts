/**
 * One map where a mask is true, and another (by default the identity) elsewhere.
 *
 * For coordinatewise maps the mask selects coordinates and broadcasts against an event. For other
 * maps it selects events and broadcasts against the batch; within `each` these are the sites of a
 * grid.
 */
import {
  abs,
  constant,
  fail,
  log,
  logicalAnd,
  type Nested,
  Tensor,
  where,
} from "../graph/index.ts";
import type { Bijector } from "./bijector.ts";
import {
  contains,
  gradLogDet,
  itoTrace,
  pullCovector,
  pullItoTrace,
  pullVector,
  pushCovector,
  pushVector,
  timeDerivative,
} from "./derive.ts";
import { alignToEvent, filled, sumEvent } from "./event.ts";
import { identity } from "./identity.ts";

/**
 * Applies one map where a mask is true and another one elsewhere, by default the identity. The mask
 * selects coordinates if both maps are coordinatewise, else whole events.
 *
 * @param mask nested arrays of 0 and 1, or a bool tensor
 */
export function whereMask(
  mask: Nested | Tensor,
  inside: Bijector,
  outside: Bijector = identity(),
): Bijector {
  const { eventRank } = inside;
  if (outside.eventRank !== eventRank)
    fail(
      "shape",
      `whereMask: "${inside.name}" acts on events of ${eventRank} axes, "${outside.name}" on ` +
        `${outside.eventRank}`,
      "bring them to one event rank with each",
    );
  const chosen = mask instanceof Tensor ? mask : constant(mask, "bool");
  const coordinatewise = (inside.coordinatewise && outside.coordinatewise) ?? false;
  const here = coordinatewise ? chosen : alignToEvent(chosen, eventRank);
  const own = (phi: Bijector, t?: Tensor): Tensor | undefined =>
    phi.timeDependent ? t : undefined;
  const both = (f: (phi: Bijector) => Tensor): Tensor => where(here, f(inside), f(outside));

  /**
   * y where `phi` inverts it and a point of its image elsewhere, so that the branch that is not
   * used is not NaN.
   */
  const safe = (phi: Bijector, y: Tensor, t?: Tensor): Tensor => {
    const image = phi.forward(filled(y.shape, 0, y.dtype), own(phi, t));
    return phi === inside ? where(here, y, image) : where(here, image, y);
  };
  return {
    name: `${inside.name} where masked, else ${outside.name}`,
    eventRank,
    coordinatewise,
    timeDependent: (inside.timeDependent || outside.timeDependent) ?? false,
    forward: (x, t) => both((phi) => phi.forward(x, own(phi, t))),
    inverse: (y, t) => both((phi) => phi.inverse(safe(phi, y, t), own(phi, t))),
    logDet: (x, t) => {
      if (!coordinatewise)
        return where(chosen, inside.logDet(x, own(inside, t)), outside.logDet(x, own(outside, t)));
      // J is diagonal, so J·1 has the derivative of each coordinate.
      const ones = filled(x.shape, 1, x.dtype);
      return sumEvent(log(abs(both((phi) => pushVector(phi, x, ones, t)))), eventRank);
    },
    pushVector: (x, v, t) => both((phi) => pushVector(phi, x, v, t)),
    pullCovector: (x, u, t) => both((phi) => pullCovector(phi, x, u, t)),
    pullVector: (x, v, t) => both((phi) => pullVector(phi, x, v, t)),
    pushCovector: (x, u, t) => both((phi) => pushCovector(phi, x, u, t)),
    gradLogDet: (x, t) => both((phi) => gradLogDet(phi, x, t)),
    itoTrace: (x, diffusion, t) => both((phi) => itoTrace(phi, x, diffusion, t)),
    pullItoTrace: (x, diffusion, t) => both((phi) => pullItoTrace(phi, x, diffusion, t)),
    timeDerivative: (x, t) => both((phi) => timeDerivative(phi, x, t)),
    contains: (y, t) =>
      logicalAnd(
        contains(inside, safe(inside, y, t), t),
        contains(outside, safe(outside, y, t), t),
      ),
  };
}
