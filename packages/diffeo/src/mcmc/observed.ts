/**
 * Checks that a value can be an observation of a distribution: its shape, and, if its numbers are
 * known, that they are in the support.
 */
import type { Bounds, Distribution } from "../distribution/index.ts";
import type { Domain } from "../domain/index.ts";
import { fail, type Shape, showShape, sizeOf, type Tensor, toFloat64 } from "../graph/index.ts";
import { broadcastOffsets } from "../graph/loops.ts";
import { sameShape } from "../graph/ndarray.ts";
import { constantValue } from "../graph/tensor.ts";

/** `name[i][j]`, counted from 0 as in the data. */
function placeOf(name: string, shape: Shape, at: number): string {
  const index: number[] = [];
  let rest = at;
  for (const size of [...shape].reverse()) {
    index.unshift(rest % size);
    rest = Math.floor(rest / size);
  }
  return index.length === 0 ? name : `${name}[${index.join("][")}]`;
}

/** The shape of the independent values in a value: its axes before those of the event. */
export function batchOfValue(what: string, value: Shape, { name, batch, event }: Distribution) {
  const own = value.slice(0, value.length - event.length);
  const fits =
    sameShape(value.slice(own.length), event) &&
    value.length >= event.length &&
    batch.length <= own.length &&
    batch.every((d, i) => d === 1 || d === own[own.length - batch.length + i]);
  if (!fits)
    fail(
      "shape",
      `${what} has shape ${showShape(value)}, and ${name} has values of shape ` +
        `${showShape([...batch, ...event])}`,
      "make the shapes equal, or such that the distribution's shape broadcasts to that of " +
        "the value",
    );
  return own;
}

/** Describes the first number outside the support. */
function faultOfNumbers(
  data: Float64Array,
  shape: Shape,
  own: Shape,
  { support }: Distribution,
  place: string,
) {
  if (support.kind !== "bounds") {
    const { fault, cells } = support as Domain;
    for (let at = 0; at < data.length; at += cells) {
      const found = fault(Array.from(data.subarray(at, at + cells)));
      if (found) return `${placeOf(place, own, at / cells)}: ${found}`;
    }
    return undefined;
  }
  const { above, below, integer = false } = support as Bounds;
  const limits = [above, below].map((bound) => {
    const known = bound && constantValue(bound);
    return known && { numbers: toFloat64(known.data), at: broadcastOffsets(known.shape, shape) };
  });
  for (let i = 0; i < data.length; i++) {
    const v = data[i];
    if (integer && !Number.isInteger(v))
      return `${placeOf(place, shape, i)} is ${v}, not an integer`;
    const [low, high] = limits.map((limit) => limit?.numbers[limit.at[i]]);
    if (low !== undefined && !(integer ? v >= low : v > low))
      return `${placeOf(place, shape, i)} is ${v}, not above ${low}`;
    if (high !== undefined && !(integer ? v <= high : v < high))
      return `${placeOf(place, shape, i)} is ${v}, not below ${high}`;
  }
  return undefined;
}

/** @param what the statement, as written in the model */
export function requireObservable(
  what: string,
  name: string,
  value: Tensor,
  distribution: Distribution,
): void {
  const own = batchOfValue(`${what}: the value`, value.shape, distribution);
  const known = constantValue(value);
  if (!known || sizeOf(value.shape) === 0) return;
  const found = faultOfNumbers(toFloat64(known.data), value.shape, own, distribution, name);
  if (found)
    fail(
      "data",
      `${what}: ${found}, so it is outside the support of ${distribution.name}`,
      "correct the data, or choose another distribution",
    );
}
