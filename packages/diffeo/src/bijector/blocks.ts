/**
 * Different maps on consecutive parts of a vector. J is block diagonal, ℓ is the sum over blocks,
 * and every other quantity is computed per block.
 */
import { addAll, concat, fail, logicalAnd, showShape, slice, type Tensor } from "../graph/index.ts";
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

/** A map with the number of coordinates it acts on. */
export interface Block {
  readonly map: Bijector;
  /** The number of coordinates of x. */
  readonly size: number;
  /** The number of coordinates of y. Default `size`. */
  readonly sizeY?: number;
}

/** Consecutive pieces of the given sizes along an axis. */
function cut(v: Tensor, sizes: readonly number[], axis = -1): Tensor[] {
  const a = v.shape.length + axis;
  const total = sizes.reduce((n, s) => n + s, 0);
  if (v.shape[a] !== total)
    fail(
      "shape",
      `blocks: ${showShape(v.shape)} has ${v.shape[a]} coordinates, the blocks have ` +
        `${sizes.join(" + ")}`,
      `give ${total} coordinates`,
    );
  let start = 0;
  return sizes.map((size) => {
    const range = [start, start + size] as const;
    start += size;
    return slice(v, ...v.shape.map((_, i) => (i === a ? range : null)));
  });
}

const timeOf = (phi: Bijector, t?: Tensor): Tensor | undefined =>
  phi.timeDependent ? t : undefined;

/** The parts of x and y, and functions applied to each block. */
function piecesOf(parts: readonly Block[]) {
  const sizesX = parts.map((b) => b.size);
  const sizesY = parts.map((b) => b.sizeY ?? b.size);
  /** f on each block of x, with the matching part of v if given. */
  const over = (
    x: Tensor,
    f: (phi: Bijector, x: Tensor, v: Tensor) => Tensor,
    v: Tensor = x,
    sizes: readonly number[] = sizesX,
  ): Tensor => {
    const xs = cut(x, sizesX);
    const vs = v === x ? xs : cut(v, sizes);
    return concat(parts.map(({ map }, i) => f(map, xs[i], vs[i])));
  };
  const diffusionOf = (diffusion: Diffusion, i: number): Diffusion => {
    const { kind, value } = diffusion;
    if (kind === "scalar") return diffusion;
    return { kind, value: cut(value, sizesX, kind === "matrix" ? -2 : -1)[i] };
  };
  /** f on each block of x, with the matching rows of a diffusion. */
  const overDiffusion = (
    f: typeof itoTrace,
    x: Tensor,
    diffusion: Diffusion,
    t?: Tensor,
  ): Tensor => {
    const xs = cut(x, sizesX);
    return concat(parts.map(({ map }, i) => f(map, xs[i], diffusionOf(diffusion, i), t)));
  };
  return { sizesX, sizesY, over, overDiffusion };
}

/** Applies maps to consecutive parts of a vector. */
export function blocks(parts: readonly Block[]): Bijector {
  if (parts.length === 0) fail("usage", "blocks: no blocks", "give at least one");
  const odd = parts.find(({ map }) => map.eventRank !== 1);
  if (odd)
    fail(
      "shape",
      `blocks: "${odd.map.name}" acts on events of ${odd.map.eventRank} axes`,
      "use maps of vectors",
    );
  const { sizesX, sizesY, over, overDiffusion } = piecesOf(parts);
  return {
    name: parts.map(({ map }) => map.name).join(" | "),
    eventRank: 1,
    timeDependent: parts.some(({ map }) => map.timeDependent),
    coordinatewise: parts.every(({ map }) => map.coordinatewise),
    forward: (x, t) => over(x, (phi, z) => phi.forward(z, timeOf(phi, t))),
    inverse: (y, t) => {
      const ys = cut(y, sizesY);
      return concat(parts.map(({ map }, i) => map.inverse(ys[i], timeOf(map, t))));
    },
    logDet: (x, t) => {
      const xs = cut(x, sizesX);
      return addAll(parts.map(({ map }, i) => map.logDet(xs[i], timeOf(map, t))));
    },
    pushVector: (x, v, t) => over(x, (phi, z, w) => pushVector(phi, z, w, t), v),
    pushCovector: (x, u, t) => over(x, (phi, z, w) => pushCovector(phi, z, w, t), u),
    pullVector: (x, v, t) => over(x, (phi, z, w) => pullVector(phi, z, w, t), v, sizesY),
    pullCovector: (x, u, t) => over(x, (phi, z, w) => pullCovector(phi, z, w, t), u, sizesY),
    gradLogDet: (x, t) => over(x, (phi, z) => gradLogDet(phi, z, t)),
    itoTrace: (x, diffusion, t) => overDiffusion(itoTrace, x, diffusion, t),
    pullItoTrace: (x, diffusion, t) => overDiffusion(pullItoTrace, x, diffusion, t),
    timeDerivative: (x, t) => over(x, (phi, z) => timeDerivative(phi, z, t)),
    contains: (y, t) => {
      const ys = cut(y, sizesY);
      return parts.map(({ map }, i) => contains(map, ys[i], t)).reduce((a, b) => logicalAnd(a, b));
    },
  };
}
