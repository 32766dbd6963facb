/**
 * Whether a value can be an observation of a distribution: its shape, and, where its numbers are
 * known, that they lie in the support.
 */
import type { Bounds, Distribution } from "../distribution/index.ts";
import type { Domain } from "../domain/index.ts";
import { fail, type Shape, showShape, sizeOf, type Tensor, toFloat64 } from "../graph/index.ts";
import { broadcastOffsets } from "../graph/loops.ts";
import { sameShape } from "../graph/ndarray.ts";
import { constantValue } from "../graph/tensor.ts";

/** `name[i, j]`, from 0, as the data are written. */
function placeOf(name: string, shape: Shape, at: number): string {
  const index: number[] = [];
  let rest = at;
  for (const size of [...shape].reverse()) {
    index.unshift(rest % size);
    rest = Math.floor(rest / size);
  }
  return index.length === 0 ? name : `${name}[${index.join("][")}]`;
}

/** The shape of the independent values in a value: what comes before its event. */
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
      `${what} has shape ${showShape(value)}, and ${name} makes values of shape ${showShape([...batch, ...event])}`,
      "make the shapes equal, or the distribution's one that broadcasts to the other",
    );
  return own;
}

/** The first number that is not inside, in words. */
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

/** @param what the statement, as it is written */
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
      `${what}: ${found}, which ${distribution.name} cannot have made`,
      "correct the data, or choose another distribution",
    );
}
