/**
 * Batch and event axes: the last `eventRank` axes of a tensor are one event, and the axes before
 * them are the batch.
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
 * Appends axes of size 1 for the event to a value of shape [] or of the batch, such as a time or a
 * noise level, so that it broadcasts against x.
 */
export const alignToEvent = (value: Tensor, eventRank: number): Tensor =>
  reshape(value, [...value.shape, ...Array<number>(eventRank).fill(1)]);

/** A tensor with one value everywhere, by broadcasting. */
export const filled = (shape: Shape, value: number, dtype: DType): Tensor =>
  expand(fill([], value, dtype), shape);

/** The sum over the axes of the event. */
export const sumEvent = (x: Tensor, eventRank: number): Tensor =>
  sum(
    x,
    Array.from({ length: eventRank }, (_, i) => -1 - i),
  );

/** Whether all flags of a vector are true. */
export const everyCoordinate = (flags: Tensor, dtype: DType): Tensor =>
  less(sum(cast(logicalNot(flags), dtype), -1), 0.5);

/** Flattens the event to one axis: […, n]. */
export const flattenEvent = (x: Tensor, eventRank: number): Tensor =>
  reshape(x, [...batchOf(x, eventRank), sizeOf(eventOf(x, eventRank))]);

/** Throws if the time is missing for a map that depends on it. */
export const requireTime = (t: Tensor | undefined, name: string): Tensor =>
  t ??
  fail(
    "usage",
    `${name}: the map depends on time, and no time is given`,
    "pass t with the shape [] or that of the batch",
  );

const withBatch = (x: Tensor, eventRank: number, batch: Shape): Tensor => {
  const shape = [...batch, ...eventOf(x, eventRank)];
  return sameShape(shape, x.shape) ? x : expand(x, shape);
};

/** Broadcasts x, v and t to one batch shape. t is undefined unless φ depends on it. */
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
        `${name}: shape ${showShape(each.shape)} has fewer axes than an event (${eventRank})`,
        "put the event on the last axes and the batch before it",
      );
  const time = phi.timeDependent ? requireTime(t, name) : undefined;
  const batches = [batchOf(x, eventRank), v ? batchOf(v, eventRank) : [], time?.shape ?? []];
  const batch = batches.reduce((a, b) => broadcastShapes(a, b, name));
  return { x: withBatch(x, eventRank, batch), v: withBatch(v ?? x, eventRank, batch), t: time };
}
