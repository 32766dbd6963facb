/**
 * Mixtures with the component of each value summed out:
 *
 *   log p(x) = log Σ_k w_k p_k(x),   where w_k are the weights divided by their sum
 */
import {
  add,
  div,
  expand,
  expandDims,
  fail,
  log,
  logSumExp,
  mul,
  type Operand,
  type Shape,
  showShape,
  sizeOf,
  stack,
  sub,
  sum,
  Tensor,
} from "../graph/index.ts";
import { broadcastOffsets } from "../graph/loops.ts";
import { broadcastShapes } from "../graph/ndarray.ts";
import { asTensor } from "../graph/tensor.ts";
import { fold, sequence } from "../random/index.ts";
import { type Distribution, distribution } from "./distribution.ts";
import { commonSupport, joinParameters } from "./parts.ts";
import { batchOf, bounds } from "./univariate.ts";

/** The weights as one tensor, with the components on its last axis. */
function weightTensor(weights: Operand | readonly Operand[]): Tensor {
  if (Array.isArray(weights) && weights.some((w) => w instanceof Tensor)) {
    const parts = (weights as readonly Operand[]).map((w) => asTensor(w, "float64"));
    const shape = parts.reduce<Shape>((all, t) => broadcastShapes(all, t.shape, "mixture"), []);
    return stack(
      parts.map((t) => expand(t, shape)),
      -1,
    );
  }
  return asTensor(weights as Operand, "float64");
}

/** All components together: log p_k(x) on the last axis, and samples of every component. */
interface Components {
  readonly parts: readonly Distribution[];
  readonly count: number;
  readonly batch: Shape;
  readonly joint: (x: Tensor) => Tensor;
}

function componentsOf(given: Distribution | readonly Distribution[]): Components {
  if (!Array.isArray(given)) {
    const one = given as Distribution;
    const count =
      one.batch.at(-1) ??
      fail(
        "shape",
        `mixture: ${one.name} has no axis of components`,
        "give a list of distributions, or one whose parameters have the components on their " +
          "last axis",
      );
    return {
      parts: [one],
      count,
      batch: one.batch.slice(0, -1),
      joint: (x) => one.logDensity(expandDims(x, -1 - one.event.length)),
    };
  }
  const parts = given as readonly Distribution[];
  const [first] = parts;
  const odd = parts.find(({ event }) => showShape(event) !== showShape(first.event));
  if (odd)
    fail(
      "shape",
      `mixture: values of ${first.name} have shape ${showShape(first.event)}, those of ` +
        `${odd.name} ${showShape(odd.event)}`,
      "give components whose values have the same shape",
    );
  return {
    parts,
    count: parts.length,
    batch: batchOf("mixture", Object.fromEntries(parts.map((d, k) => [`component ${k}`, d.batch]))),
    joint: (x) => {
      const each = parts.map((d) => d.logDensity(x));
      const shape = each.reduce<Shape>((all, t) => broadcastShapes(all, t.shape, "mixture"), []);
      return stack(
        each.map((t) => expand(t, shape)),
        -1,
      );
    },
  };
}

/** The component that a uniform number u selects. */
function chosen(weights: Float64Array, from: number, count: number, u: number): number {
  let all = 0;
  for (let k = 0; k < count; k++) all += weights[from + k];
  let left = u * all;
  for (let k = 0; k < count - 1; k++) {
    left -= weights[from + k];
    if (left < 0) return k;
  }
  return count - 1;
}

/** Means of components on the last axis; `isJoint`: those of one distribution that has all. */
const meansOf = (parts: readonly Distribution[], isJoint: boolean, batch: Shape): Tensor =>
  isJoint
    ? (parts[0].mean as () => Tensor)()
    : stack(
        parts.map((d) => expand((d.mean as () => Tensor)(), batch)),
        -1,
      );

/**
 * @param given a list of components, or one distribution with the components on the last axis of
 * its batch
 */
export function mixtureOf(
  weights: Operand | readonly Operand[],
  given: Distribution | readonly Distribution[],
): Distribution {
  const w = weightTensor(weights);
  const { parts, count, batch: own, joint } = componentsOf(given);
  if (w.shape.at(-1) !== count)
    fail(
      "shape",
      `mixture: weights of shape ${showShape(w.shape)} for ${count} components`,
      "give one weight per component, on the last axis",
    );
  const batch = batchOf("mixture", { weights: w.shape.slice(0, -1), components: own });
  const discrete = parts.every((d) => d.discrete);
  if (!discrete && parts.some((d) => d.discrete))
    fail(
      "usage",
      "mixture: some components are discrete and some continuous, so they have no common density",
      "use hurdle or zeroInflated",
    );
  const { event } = parts[0];
  const isJoint = parts.length === 1 && count > 1;
  const { parameters, numbersOf } = joinParameters([{ parameters: [w] }, ...parts]);
  const logWeights = sub(log(w), expandDims(log(sum(w, -1)), -1));
  return distribution({
    name: "mixture",
    batch,
    event,
    discrete,
    support: commonSupport(parts) ?? bounds(discrete ? 0 : undefined, undefined, discrete),
    parameters,
    logDensity: (x) => logSumExp(add(joint(asTensor(x, "float64")), logWeights), -1),
    mean:
      event.length === 0 && parts.every((d) => d.mean)
        ? () => div(sum(mul(w, meansOf(parts, isJoint, batch)), -1), sum(w, -1))
        : undefined,
    drawFrom: (keys, numbers, shape = batch) => {
      const [entries, size] = [sizeOf(shape), sizeOf(event)];
      const drawn = parts.map((d, k) =>
        d.drawFrom(fold(keys, k), numbersOf(numbers, k + 1), isJoint ? [...shape, count] : shape),
      );
      const at = broadcastOffsets(w.shape.slice(0, -1), shape);
      const out = new Float64Array(keys.count * entries * size);
      const choices = fold(keys, "component");
      for (let row = 0; row < keys.count; row++) {
        const random = sequence(choices, row);
        const [shares] = numbers(row);
        for (let i = 0; i < entries; i++) {
          const k = chosen(shares, at[i] * count, count, random.uniform());
          const place = row * entries + i;
          const from = isJoint ? (place * count + k) * size : place * size;
          out.set(drawn[isJoint ? 0 : k].subarray(from, from + size), place * size);
        }
      }
      return out;
    },
  });
}
