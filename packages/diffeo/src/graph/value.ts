/** Casts, nodes with the same value, and constants of indices. */
import { onnxType } from "./emitter.ts";
import { fail } from "./error.ts";
import { convert, type DType, isFloat, toFloat64 } from "./ndarray.ts";
import { asTensor, type Make, type Operand, primitive, rebuild, type Tensor } from "./tensor.ts";

const castNode: Make<{ to: DType }> = primitive<{ to: DType }>({
  name: "cast",
  infer: ([x], { to }) => ({ shape: x.shape, dtype: to }),
  vjp: (g, { inputs: [x] }) => (isFloat(x.dtype) ? cast(g, x.dtype) : undefined),
  simplify: ({ inputs: [x], attributes: { to } }) => (x.dtype === to ? x : undefined),
  batch: rebuild,
  emit: ({ attributes: { to } }, [x], emitter) => emitter.node("Cast", [x], { to: onnxType[to] }),
  evaluate: ({ attributes: { to } }, [x]) => {
    if (to === "float32") return toFloat64(convert(x, "float32"));
    if (to === "bool") return x.map((v) => (v === 0 ? 0 : 1));
    return to === "float64" ? x : x.map(Math.trunc);
  },
});

/** Converts the element type. Floats become integers by truncation. */
export const cast = (x: Operand, to: DType): Tensor => castNode([asTensor(x)], { to });

const stopNode: Make = primitive({
  name: "stopGradient",
  infer: ([x]) => x,
  simplify: ({ inputs: [x] }) => x,
  batch: rebuild,
  emit: (_, [x], emitter) => emitter.node("Identity", [x]),
  evaluate: (_, [x]) => x,
});

/** The same value with derivative 0. */
export const stopGradient = (x: Operand): Tensor => stopNode([asTensor(x)], {});

const variableNode: Make = primitive({
  name: "variable",
  infer: ([x]) => x,
  vjp: (g) => g,
  simplify: ({ inputs: [x] }) => x,
  batch: rebuild,
  emit: (_, [x], emitter) => emitter.node("Identity", [x]),
  evaluate: (_, [x]) => x,
});

/**
 * A new node with the same value, with respect to which derivatives are computed, separate from
 * other uses of `x`.
 */
export const variable = (x: Operand): Tensor => variableNode([asTensor(x)], {});

/** Throws unless n is a size. */
export function requireSize(n: number, operation: string): void {
  if (!Number.isInteger(n) || n < 0)
    fail("shape", `${operation}: the size is ${n}`, "give an integer of at least 0");
}

/** The vector 0, 1, …, n − 1. */
export function iota(n: number, dtype: DType = "int64"): Tensor {
  requireSize(n, "iota");
  const data = Float64Array.from({ length: n }, (_, i) => i);
  return asTensor({ shape: [n], dtype, data: convert(data, dtype) });
}

/** The n×n identity matrix. */
export function eye(n: number, dtype: DType = "float32"): Tensor {
  requireSize(n, "eye");
  const data = Float64Array.from({ length: n * n }, (_, i) => (i % (n + 1) === 0 ? 1 : 0));
  return asTensor({ shape: [n, n], dtype, data: convert(data, dtype) });
}
