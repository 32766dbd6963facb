/** Order of numbers: argmax, sort, top-k. The position of NaN depends on the runtime. */
import { fail } from "./error.ts";
import { aroundAxis, takeAlong } from "./gather.ts";
import { forEachLine } from "./loops.ts";
import { normaliseAxis, showShape, sizeOf } from "./ndarray.ts";
import {
  asTensor,
  type Make,
  type Operand,
  primitive,
  requireNumbers,
  type Tensor,
} from "./tensor.ts";

const argmaxNode: Make<{ axis: number }> = primitive<{ axis: number }>({
  name: "argmax",
  infer: ([x], { axis }) => {
    requireNumbers(x, "argmax");
    return { shape: x.shape.toSpliced(axis, 1), dtype: "int64" };
  },
  batch: ({ attributes: { axis } }, [x]) => argmaxNode([x], { axis: axis + 1 }),
  emit: ({ attributes: { axis } }, [x], emitter) =>
    emitter.node("ArgMax", [x], { axis, keepdims: 0 }),
  evaluate: ({ inputs: [x], attributes: { axis }, shape }, [data]) => {
    const out = new Float64Array(sizeOf(shape));
    let at = 0;
    forEachLine(x.shape, axis, (start, step) => {
      let best = 0;
      for (let k = 1; k < x.shape[axis]; k++)
        if (data[start + k * step] > data[start + best * step]) best = k;
      out[at++] = best;
    });
    return out;
  },
});

/** The index of the greatest entry along an axis; the first one if there are several. */
export function argmax(x: Operand, axis = -1): Tensor {
  const t = asTensor(x);
  const a = normaliseAxis(axis, t.shape.length, "argmax");
  if (t.shape[a] === 0)
    fail(
      "shape",
      `argmax: axis ${axis} of ${showShape(t.shape)} is empty`,
      "give an axis with at least one entry",
    );
  return argmaxNode([t], { axis: a });
}

type Extreme = { k: number; axis: number; largest: boolean };

/** The indices of the k greatest or least entries, the most extreme first. */
const extremeNode: Make<Extreme> = primitive<Extreme>({
  name: "argTop",
  infer: ([x], { k, axis }) => ({ shape: x.shape.with(axis, k), dtype: "int64" }),
  batch: ({ attributes }, [x]) => extremeNode([x], { ...attributes, axis: attributes.axis + 1 }),
  emit: ({ attributes: { k, axis, largest } }, [x], emitter) =>
    emitter.node(
      "TopK",
      [x, emitter.int64([k])],
      { axis, largest: largest ? 1 : 0, sorted: 1 },
      { output: 1 },
    ),
  evaluate: ({ inputs: [x], attributes: { k, axis, largest }, shape }, [data]) => {
    const sign = largest ? -1 : 1;
    const out = new Float64Array(sizeOf(shape));
    const [, size, inner] = aroundAxis(x.shape, axis);
    forEachLine(x.shape, axis, (start, step) => {
      const key = (i: number): number => sign * data[start + i * step];
      const order = [...Array(size).keys()].sort((i, j) => key(i) - key(j) || i - j);
      const block = Math.floor(start / (size * inner));
      for (let r = 0; r < k; r++) out[(block * k + r) * inner + (start % inner)] = order[r];
    });
    return out;
  },
});

function argTopOf(t: Tensor, k: number, axis: number, operation: string): Tensor {
  requireNumbers(t, operation);
  const a = normaliseAxis(axis, t.shape.length, operation);
  if (!(Number.isInteger(k) && k >= 1 && k <= t.shape[a]))
    fail("shape", `${operation}: cannot take ${k} of ${t.shape[a]} entries`, "use 1 ≤ k ≤ size");
  return extremeNode([t], { k, axis: a, largest: true });
}

function argsortOf(t: Tensor, axis: number, operation: string): Tensor {
  requireNumbers(t, operation);
  const a = normaliseAxis(axis, t.shape.length, operation);
  return extremeNode([t], { k: t.shape[a], axis: a, largest: false });
}

/** The indices of the k greatest entries along an axis, the greatest first. */
export const argTop = (x: Operand, k: number, axis = -1): Tensor =>
  argTopOf(asTensor(x), k, axis, "argTop");

/** The indices that sort an axis in ascending order. */
export const argsort = (x: Operand, axis = -1): Tensor => argsortOf(asTensor(x), axis, "argsort");

/** Sorts an axis in ascending order. The derivative follows the permutation. */
export function sort(x: Operand, axis = -1): Tensor {
  const t = asTensor(x);
  return takeAlong(t, argsortOf(t, axis, "sort"), axis);
}

/** The k greatest entries along an axis, the greatest first. */
export function top(x: Operand, k: number, axis = -1): Tensor {
  const t = asTensor(x);
  return takeAlong(t, argTopOf(t, k, axis, "top"), axis);
}
