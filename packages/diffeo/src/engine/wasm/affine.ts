/**
 * The indices at which an operation that moves numbers reads: each axis of its operand has the
 * index
 *
 *   base + Σₗ coefₗ iₗ
 *
 * of the loops' counters iₗ. Broadcasting, transposing, slicing, flipping and most reshapes map
 * such indices to indices of the same form, so that they cost nothing when they are read.
 */
import { type Shape, sizeOf, type Tensor } from "../../graph/index.ts";
import { stridesOf } from "../../graph/ndarray.ts";

export interface Affine {
  readonly base: number;
  /** One number per loop. */
  readonly coef: readonly number[];
}

/** An index for every axis of a tensor. */
export type Index = readonly Affine[];

export const fixed = (base: number, loops: number): Affine => ({
  base,
  coef: new Array<number>(loops).fill(0),
});

/** The index that equals the counter of loop `l`. */
export const counter = (l: number, loops: number): Affine => ({
  base: 0,
  coef: Array.from({ length: loops }, (_, k) => (k === l ? 1 : 0)),
});

const scaled = (a: Affine, by: number, plus = 0): Affine => ({
  base: a.base * by + plus,
  coef: a.coef.map((c) => c * by),
});

const sum = (a: Affine, b: Affine): Affine => ({
  base: a.base + b.base,
  coef: a.coef.map((c, k) => c + b.coef[k]),
});

/** One index for all axes, by strides. */
export const flatten = (index: Index, strides: readonly number[], loops: number): Affine =>
  index.reduce((total, a, axis) => sum(total, scaled(a, strides[axis])), fixed(0, loops));

/** The index of an operand that broadcasts to `shape`. */
export const broadcastIndex = (index: Index, operand: Shape, loops: number): Index => {
  const lead = index.length - operand.length;
  return operand.map((d, a) => (d === 1 ? fixed(0, loops) : index[a + lead]));
};

/**
 * Converts a flat index to an index per axis, if every loop moves along a single axis and stays
 * within it.
 */
function unflatten(flat: Affine, shape: Shape, sizes: readonly number[]): Index | undefined {
  const strides = stridesOf(shape);
  const loops = sizes.length;
  const out = shape.map(() => ({ base: 0, coef: new Array<number>(loops).fill(0) }));
  const most = shape.map(() => 0);
  // Starts from the least value, which loops that run backwards reach at their end.
  let rest = flat.coef.reduce((base, c, l) => base + Math.min(0, c) * (sizes[l] - 1), flat.base);
  if (rest < 0) return undefined;
  strides.forEach((stride, a) => {
    out[a].base = Math.floor(rest / stride);
    most[a] = out[a].base;
    rest -= out[a].base * stride;
  });
  for (let l = 0; l < loops; l++) {
    const c = flat.coef[l];
    const size = Math.abs(c);
    if (c === 0) continue;
    const a = strides.findIndex((s, axis) => shape[axis] > 1 && size % s === 0 && size >= s);
    if (a < 0) return undefined;
    const step = c / strides[a];
    out[a].coef[l] = step;
    if (step < 0) out[a].base -= step * (sizes[l] - 1);
    most[a] += Math.abs(step) * (sizes[l] - 1);
  }
  return most.every((m, a) => m < shape[a]) ? out : undefined;
}

/** Whether a reshape only splits axes, apart from axes of size 1. */
export function splitsOnly(from: Shape, to: Shape): boolean {
  const [a, b] = [from.filter((d) => d !== 1), to.filter((d) => d !== 1)];
  let k = 0;
  for (const size of a) {
    let product = 1;
    while (product < size && k < b.length) product *= b[k++];
    if (product !== size) return false;
  }
  return k === b.length;
}

/**
 * The index of the operand of an operation that only moves numbers; `sizes` are those of the loops.
 */
export function viewIndex(node: Tensor, index: Index, sizes: readonly number[]): Index | undefined {
  const [x] = node.inputs;
  const loops = sizes.length;
  switch (node.op.name) {
    case "expand":
      return broadcastIndex(index, x.shape, loops);
    case "transpose": {
      const out: Affine[] = [];
      (node.attributes.axes as number[]).forEach((a, i) => {
        out[a] = index[i];
      });
      return out.map((a, i) => (x.shape[i] === 1 ? fixed(0, loops) : a));
    }
    case "slice": {
      const { starts, steps } = node.attributes as Record<string, number[]>;
      return index.map((a, i) => scaled(a, steps[i], starts[i]));
    }
    case "flip": {
      const axes = node.attributes.axes as number[];
      return index.map((a, i) => (axes.includes(i) ? scaled(a, -1, x.shape[i] - 1) : a));
    }
    case "reshape":
      return unflatten(flatten(index, stridesOf(node.shape), loops), x.shape, sizes);
    default:
      return index;
  }
}

export const isView = (node: Tensor): boolean =>
  ["expand", "transpose", "slice", "flip", "reshape"].includes(node.op.name);

/** The operand under reshapes: the same numbers in the same order. */
export function unreshaped(node: Tensor): Tensor {
  let t = node;
  while (t.op.name === "reshape") [t] = t.inputs;
  return t;
}

export const isScalar = (t: Tensor): boolean => sizeOf(t.shape) === 1;
