/**
 * The same map on every site of a grid: an event […sites, …] of φ's events. J is block diagonal and
 * ℓ is the sum over sites. For φ the sites are batch axes, so a time or a noise level of the batch
 * gets axes of size 1 for them.
 */
import { cast, greater, reshape, type Shape, sum, type Tensor } from "../graph/index.ts";
import { sizeOf } from "../graph/ndarray.ts";
import type { Bijector, Diffusion } from "./bijector.ts";
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
import { alignToEvent, batchOf, flattenEvent } from "./event.ts";

/**
 * Applies the same map to every site of a grid. An event has the axes of the grid, then those of an
 * event of φ.
 *
 * @param siteRank the number of axes of the grid: 1 for a sequence, 2 for a grid such as a chess
 * board
 */
export function each(phi: Bijector, siteRank = 1): Bijector {
  const eventRank = phi.eventRank + siteRank;
  const at = (t: Tensor): Tensor => alignToEvent(t, siteRank);
  const time = (t?: Tensor): Tensor | undefined => (t && phi.timeDependent ? at(t) : undefined);
  const overSites = (perSite: Tensor): Tensor => sum(flattenEvent(perSite, siteRank), -1);
  return {
    name: `${phi.name} on each site`,
    eventRank,
    timeDependent: phi.timeDependent ?? false,
    coordinatewise: phi.coordinatewise ?? false,
    forward: (x, t) => phi.forward(x, time(t)),
    inverse: (y, t) => phi.inverse(y, time(t)),
    logDet: (x, t) => overSites(phi.logDet(x, time(t))),
    pushVector: (x, v, t) => pushVector(phi, x, v, time(t)),
    pullCovector: (x, u, t) => pullCovector(phi, x, u, time(t)),
    pullVector: (x, v, t) => pullVector(phi, x, v, time(t)),
    pushCovector: (x, u, t) => pushCovector(phi, x, u, time(t)),
    gradLogDet: (x, t) => gradLogDet(phi, x, time(t)),
    itoTrace: (x, diffusion, t) =>
      itoTrace(phi, x, perSite(diffusion, x.shape, phi.eventRank, siteRank), time(t)),
    pullItoTrace: (x, diffusion, t) =>
      pullItoTrace(phi, x, perSite(diffusion, x.shape, phi.eventRank, siteRank), time(t)),
    timeDerivative: (x, t) => timeDerivative(phi, x, at(t)),
    contains: (y, t) => {
      const inside = contains(phi, y, time(t));
      const sites = sizeOf(inside.shape.slice(batchOf(y, eventRank).length));
      return greater(overSites(cast(inside, y.dtype)), sites - 0.5);
    },
  };
}

/** The rows of G that act on each site. */
function perSite(
  diffusion: Diffusion,
  shape: Shape,
  eventRank: number,
  siteRank: number,
): Diffusion {
  const { kind, value } = diffusion;
  if (kind === "scalar") return { kind, value: alignToEvent(value, siteRank) };
  if (kind === "diagonal") return diffusion;
  const sites = shape.slice(shape.length - eventRank - siteRank, shape.length - eventRank);
  const k = value.shape.at(-1) as number;
  return { kind, value: reshape(value, [...value.shape.slice(0, -2), ...sites, -1, k]) };
}
