/**
 * y = a∘x + b with one number or one number per coordinate, and y = A x + b with a matrix. J =
 * diag(a) or A everywhere, so ∇ log|det J| and H are 0.
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
 * The numbers of constants, which are checked when the map is made; undefined for tensors, such as
 * learned parameters.
 */
const valuesOf = (value: Operand): Float64Array | undefined =>
  value instanceof Tensor ? undefined : reference([asTensor(value, "float64")], new Map())[0];

/** Options of `affine`. */
export interface AffineOptions {
  /** a: one number, one number per coordinate, or a tensor; not 0. Default 1. */
  readonly scale?: Operand;
  /** b: one number, one number per coordinate, or a tensor. Default 0. */
  readonly shift?: Operand;
}

/**
 * The map y = a x + b, coordinate by coordinate.
 *
 * @throws DiffeoError of kind `numerical` if a constant scale is 0 or not finite
 */
export function affine({ scale = 1, shift = 0 }: AffineOptions = {}): Bijector {
  if (valuesOf(scale)?.some((a) => a === 0 || !Number.isFinite(a)))
    fail(
      "numerical",
      `affine: the scale ${show(scale)} has no inverse`,
      "use finite numbers that are not 0",
    );
  // Constants get the element type of the graph.
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

/**
 * The map y = A x + b on vectors, with a square matrix A.
 *
 * @throws DiffeoError of kind `numerical` if a constant matrix is singular
 */
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
  // If Σ|Aᵢⱼ (A⁻¹)ⱼᵢ| reaches 1/ε, A is numerically singular. The sum is at most ‖A‖‖A⁻¹‖ and does
  // not depend on the units of x and y, which cancel in each product. A zero pivot gives NaN, which
  // compares as false.
  const n = a.shape.at(-1) as number;
  const across = (at: number): number =>
    at - (at % (n * n)) + (at % n) * n + (Math.floor(at / n) % n);
  const gain = values.reduce((s, v, at) => s + Math.abs(v * inv[across(at)]), 0);
  if (!(gain < 1e15))
    fail(
      "numerical",
      `affineMatrix: the matrix ${show(matrix)} is singular`,
      "use a matrix with linearly independent rows",
    );
  const inverseArray: NdArray = { shape: a.shape, dtype: "float64", data: inv };
  return linearMap(
    "affine matrix",
    (x) => asTensor(matrix, x.dtype),
    (m) => constant(inverseArray, m.dtype),
    shift,
  );
}

/** A x + b, given both A and A⁻¹. */
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

/** M v; one matrix product for the whole batch if M has no batch axes. */
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
