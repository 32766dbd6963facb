/**
 * Batch and event axes: the last `eventRank` axes of a tensor are one event, everything before them
 * is batch.
 */
import {
  cast,
  type DType,
  expand,
  fail,
  fill,
  less,
  logicalNot,
  reshape,
  type Shape,
  showShape,
  sizeOf,
  sum,
  type Tensor,
} from "../graph/index.ts";
import { broadcastShapes, sameShape } from "../graph/ndarray.ts";
import type { Bijector } from "./bijector.ts";

/** The batch axes of a tensor's shape, before its event axes. */
export const batchOf = (x: Tensor, eventRank: number): Shape =>
  x.shape.slice(0, x.shape.length - eventRank);
/** The event axes of a tensor's shape, the last ones. */
export const eventOf = (x: Tensor, eventRank: number): Shape =>
  x.shape.slice(x.shape.length - eventRank);

/**
 * A value of shape [] or of the batch (a time, a noise level) with axes of size 1 for the event: it
 * multiplies x.
 */
export const alignToEvent = (value: Tensor, eventRank: number): Tensor =>
  reshape(value, [...value.shape, ...Array<number>(eventRank).fill(1)]);

/** One value everywhere, without storing it. */
export const filled = (shape: Shape, value: number, dtype: DType): Tensor =>
  expand(fill([], value, dtype), shape);

/** Σ over the event. */
export const sumEvent = (x: Tensor, eventRank: number): Tensor =>
  sum(
    x,
    Array.from({ length: eventRank }, (_, i) => -1 - i),
  );

/** Whether all of an event's coordinates are true, of flags on a vector. */
export const everyCoordinate = (flags: Tensor, dtype: DType): Tensor =>
  less(sum(cast(logicalNot(flags), dtype), -1), 0.5);

/** The event as one axis: […, n]. */
export const flattenEvent = (x: Tensor, eventRank: number): Tensor =>
  reshape(x, [...batchOf(x, eventRank), sizeOf(eventOf(x, eventRank))]);

/** The time, which a map that depends on it cannot do without. */
export const requireTime = (t: Tensor | undefined, name: string): Tensor =>
  t ??
  fail(
    "usage",
    `${name}: depends on time and was given none`,
    "pass t, of shape [] or of the batch",
  );

const withBatch = (x: Tensor, eventRank: number, batch: Shape): Tensor => {
  const shape = [...batch, ...eventOf(x, eventRank)];
  return sameShape(shape, x.shape) ? x : expand(x, shape);
};

/**
 * Events of x and v over one batch, to which t's shape belongs too; t itself only where φ depends
 * on it.
 */
export function aligned(
  phi: Bijector,
  x: Tensor,
  t: Tensor | undefined,
  v?: Tensor,
): { readonly x: Tensor; readonly v: Tensor; readonly t: Tensor | undefined } {
  const { eventRank, name } = phi;
  for (const each of v ? [x, v] : [x])
    if (each.shape.length < eventRank)
      fail(
        "shape",
        `${name}: shape ${showShape(each.shape)} has fewer axes than an event, which has ${eventRank}`,
        "put the event on the last axes and the batch before it",
      );
  const time = phi.timeDependent ? requireTime(t, name) : undefined;
  const batches = [batchOf(x, eventRank), v ? batchOf(v, eventRank) : [], time?.shape ?? []];
  const batch = batches.reduce((a, b) => broadcastShapes(a, b, name));
  return { x: withBatch(x, eventRank, batch), v: withBatch(v ?? x, eventRank, batch), t: time };
}
