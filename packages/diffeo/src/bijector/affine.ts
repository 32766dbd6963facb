/**
 * y = a∘x + b, a number or one for each coordinate, and y = A x + b with a matrix.
 * J = diag(a) or A everywhere, so ∇ log|det J| and H vanish.
 */
import {
  abs,
  add,
  constant,
  div,
  expand,
  fail,
  fill,
  inverse,
  log,
  logAbsDet,
  matmul,
  matvec,
  mul,
  type NdArray,
  type Operand,
  reference,
  sub,
  Tensor,
  transpose,
} from "../graph/index.ts";
import { asTensor } from "../graph/tensor.ts";
import type { Bijector } from "./bijector.ts";
import { coordinatewise } from "./coordinatewise.ts";
import { batchOf, filled } from "./event.ts";

/**
 * Numbers that are constants of a map are checked when it is made; tensors (learned parameters)
 * cannot be.
 */
const valuesOf = (value: Operand): Float64Array | undefined =>
  value instanceof Tensor ? undefined : reference([asTensor(value, "float64")], new Map())[0];

/** The scale and the shift of an affine map. */
export interface AffineOptions {
  /** a: a number, one for each coordinate, or a tensor; never 0. By default 1. */
  readonly scale?: Operand;
  /** b, by default 0. */
  readonly shift?: Operand;
}

/**
 * y = a x + b, coordinate by coordinate.
 *
 * @throws DiffeoError of kind `numerical` where a scale is 0 or not finite
 */
export function affine({ scale = 1, shift = 0 }: AffineOptions = {}): Bijector {
  if (valuesOf(scale)?.some((a) => a === 0 || !Number.isFinite(a)))
    fail(
      "numerical",
      `affine: the scale ${show(scale)} has no inverse`,
      "use finite numbers other than 0",
    );
  // What was given follows the type of the graph.
  const a = (x: Tensor): Tensor => asTensor(scale, x.dtype);
  const b = (x: Tensor): Tensor => asTensor(shift, x.dtype);
  return coordinatewise({
    name: "affine",
    forward: (x) => add(mul(x, a(x)), b(x)),
    inverse: (y) => div(sub(y, b(y)), a(y)),
    logSlope: (x) => log(abs(a(x))),
    slope: a,
    logSlopeDerivative: (x) => fill([], 0, x.dtype),
  });
}

/** y = A x + b on vectors of one length. */
export function affineMatrix(matrix: Operand, shift: Operand = 0): Bijector {
  const values = valuesOf(matrix);
  if (!values)
    return linearMap(
      "affine matrix",
      () => matrix as Tensor,
      (a) => inverse(a),
      shift,
    );
  const a = asTensor(matrix, "float64");
  const [inv] = reference([inverse(a)], new Map());
  // Where Σ|Aᵢⱼ (A⁻¹)ⱼᵢ| reaches 1/ε, A is singular to rounding, whatever the units of x and y are:
  // they cancel in each product, and it is at most ‖A‖‖A⁻¹‖. A zero pivot leaves NaN, which
  // compares as false.
  const n = a.shape.at(-1) as number;
  const across = (at: number): number =>
    at - (at % (n * n)) + (at % n) * n + (Math.floor(at / n) % n);
  const gain = values.reduce((s, v, at) => s + Math.abs(v * inv[across(at)]), 0);
  if (!(gain < 1e15))
    fail(
      "numerical",
      `affineMatrix: the matrix ${show(matrix)} is singular`,
      "use one with linearly independent rows",
    );
  const inverseArray: NdArray = { shape: a.shape, dtype: "float64", data: inv };
  return linearMap(
    "affine matrix",
    (x) => asTensor(matrix, x.dtype),
    (m) => constant(inverseArray, m.dtype),
    shift,
  );
}

/** A x + b with A and A⁻¹ both given. */
export function linearMap(
  name: string,
  matrix: (x: Tensor) => Tensor,
  inverseOf: (matrix: Tensor) => Tensor,
  shift: Operand = 0,
): Bijector {
  const inv = (x: Tensor): Tensor => inverseOf(matrix(x));
  return {
    name,
    eventRank: 1,
    forward: (x) => add(apply(matrix(x), x), asTensor(shift, x.dtype)),
    inverse: (y) => apply(inv(y), sub(y, asTensor(shift, y.dtype))),
    logDet: (x) => expand(logAbsDet(matrix(x)), batchOf(x, 1)),
    pushVector: (x, v) => apply(matrix(x), v),
    pullCovector: (x, u) => apply(transpose(matrix(x)), u),
    pullVector: (x, v) => apply(inv(x), v),
    pushCovector: (x, u) => apply(transpose(inv(x)), u),
    gradLogDet: (x) => filled(x.shape, 0, x.dtype),
    itoTrace: (x) => filled(x.shape, 0, x.dtype),
    pullItoTrace: (x) => filled(x.shape, 0, x.dtype),
  };
}

/** M v, as one product over all rows of the batch where M is shared. */
const apply = (m: Tensor, v: Tensor): Tensor => {
  if (m.shape.length > 2 || v.shape.length < 2) return matvec(m, v);
  return matmul(v, transpose(m));
};

const show = (value: Operand): string => {
  const text = JSON.stringify(value, (_, v) =>
    ArrayBuffer.isView(v) ? Array.from(v as Float64Array) : v,
  );
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
};
