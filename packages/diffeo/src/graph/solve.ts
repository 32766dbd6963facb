/**
 * Small dense systems: A⁻¹, X with A X = B, and log|det A|, with leading batch axes.
 *   d(A⁻¹) = −A⁻¹ dA A⁻¹        d log|det A| = Tr(A⁻¹ dA)
 */
import { abs, add, clip, div, floor, mul, neg, sub } from "./arithmetic.ts";
import { expand, sum } from "./broadcast.ts";
import { fail, internal } from "./error.ts";
import { batchShape, matmul } from "./linalg.ts";
import { equal, where } from "./logic.ts";
import { type FloatType, showShape, sizeOf } from "./ndarray.ts";
import { max } from "./reduce.ts";
import { expandDims, reshape, transpose } from "./shape.ts";
import { slice } from "./slice.ts";
import {
  asTensor,
  asTensors,
  fill,
  type Make,
  type Operand,
  primitive,
  rebuild,
  requireFloat,
  type Tensor,
} from "./tensor.ts";
import { log, pow } from "./transcendental.ts";

export function requireSquare(t: Tensor, operation: string): void {
  requireFloat(t, operation);
  if (t.shape.length < 2 || t.shape.at(-1) !== t.shape.at(-2))
    fail(
      "shape",
      `${operation}: shape ${showShape(t.shape)} has no square matrices`,
      "make the last two axes equal",
    );
}

/**
 * Gauss–Jordan elimination with partial pivoting, in place on [A | B]; a zero pivot gives
 * infinities.
 */
function eliminate(a: Float64Array, b: Float64Array, n: number, m: number): void {
  for (let c = 0; c < n; c++) {
    let p = c;
    for (let r = c + 1; r < n; r++) if (Math.abs(a[r * n + c]) > Math.abs(a[p * n + c])) p = r;
    for (let j = 0; j < n; j++) [a[c * n + j], a[p * n + j]] = [a[p * n + j], a[c * n + j]];
    for (let j = 0; j < m; j++) [b[c * m + j], b[p * m + j]] = [b[p * m + j], b[c * m + j]];
    const pivot = a[c * n + c];
    for (let j = 0; j < n; j++) a[c * n + j] /= pivot;
    for (let j = 0; j < m; j++) b[c * m + j] /= pivot;
    for (let r = 0; r < n; r++) {
      const factor = a[r * n + c];
      if (r === c || factor === 0) continue;
      for (let j = c; j < n; j++) a[r * n + j] -= factor * a[c * n + j];
      for (let j = 0; j < m; j++) b[r * m + j] -= factor * b[c * m + j];
    }
  }
}

const inverseNode: Make = primitive({
  name: "inverse",
  infer: ([a]) => {
    requireSquare(a, "inverse");
    return a;
  },
  // d(A⁻¹) = −A⁻¹ dA A⁻¹, so Ḡ ↦ −A⁻ᵀ Ḡ A⁻ᵀ
  vjp: (g, node) => {
    const t = transpose(node);
    return neg(matmul(matmul(t, g), t));
  },
  batch: rebuild,
  emit: (_, inputs, emitter) => emitter.node("Inverse", inputs, {}, { domain: "com.microsoft" }),
  evaluate: ({ shape }, [data]) => {
    const n = shape.at(-1) as number;
    const a = data.slice();
    const out = new Float64Array(data.length);
    for (let at = 0; at < data.length; at += n * n) {
      for (let i = 0; i < n; i++) out[at + i * n + i] = 1;
      eliminate(a.subarray(at, at + n * n), out.subarray(at, at + n * n), n, n);
    }
    return out;
  },
});

/** The inverse A⁻¹ over the last two axes. */
export const inverse = (a: Operand): Tensor => inverseNode([asTensor(a)], {});

/**
 * Solves A X = B for X. One step of iterative refinement recovers the digits lost by multiplying
 * with an inverse.
 */
export function solve(a: Operand, b: Operand): Tensor {
  const [m, rhs] = asTensors(a, b, "solve");
  requireSquare(m, "solve");
  if (rhs.shape.length < 2 || rhs.shape.at(-2) !== m.shape.at(-1))
    fail(
      "shape",
      `solve: matrices ${showShape(m.shape)} and right-hand sides ${showShape(rhs.shape)} do ` +
        "not match",
      "give […, n, n] and […, n, m]; use expandDims(b, -1) for vectors",
    );
  const inv = inverse(m);
  const x = matmul(inv, rhs);
  return add(x, matmul(inv, sub(rhs, matmul(m, x))));
}

const logAbsDetNode: Make = primitive({
  name: "logAbsDet",
  infer: ([a]) => {
    requireSquare(a, "logAbsDet");
    return { shape: batchShape(a), dtype: a.dtype };
  },
  // Jacobi: d log|det A| = Tr(A⁻¹ dA)
  vjp: (g, { inputs: [a] }) => mul(expandDims(expandDims(g, -1), -1), transpose(inverse(a))),
  lower: ({ inputs: [a] }) => logAbsDetExpression(a),
  batch: rebuild,
  emit: () => internal("logAbsDet is lowered before it is written"),
  evaluate: ({ inputs: [t], shape }, [data]) => {
    const n = t.shape.at(-1) as number;
    const out = new Float64Array(sizeOf(shape));
    for (let q = 0; q < out.length; q++)
      out[q] = logAbsDetOf(data.slice(q * n * n, (q + 1) * n * n), n);
    return out;
  },
});

/** log|det A| over the last two axes, for matrices of a few dozen rows. */
export const logAbsDet = (a: Operand): Tensor => logAbsDetNode([asTensor(a)], {});

/** The product of the pivots of Gaussian elimination, in logarithms. */
function logAbsDetOf(a: Float64Array, n: number): number {
  let total = 0;
  for (let c = 0; c < n; c++) {
    let p = c;
    for (let r = c + 1; r < n; r++) if (Math.abs(a[r * n + c]) > Math.abs(a[p * n + c])) p = r;
    for (let j = 0; j < n; j++) [a[c * n + j], a[p * n + j]] = [a[p * n + j], a[c * n + j]];
    if (a[c * n + c] === 0) return Number.NEGATIVE_INFINITY;
    total += Math.log(Math.abs(a[c * n + c]));
    for (let r = c + 1; r < n; r++) {
      const factor = a[r * n + c] / a[c * n + c];
      for (let j = c; j < n; j++) a[r * n + j] -= factor * a[c * n + j];
    }
  }
  return total;
}

/** Exponents of the normal numbers of a type. */
const exponents = { float32: [-126, 127], float64: [-1022, 1023] } as const;

/**
 * log|det A| = Σ_k log‖u_k‖, u_k the rows left by modified Gram–Schmidt: A = L Q with L's diagonal
 * ‖u_k‖. It supports all devices and float types (ONNX Runtime's Det is float32 only). Each row is
 * first divided by a power of two close to its greatest entry, u = s·v, which is exact and prevents
 * over- and underflow of squares. A zero row gives −∞.
 */
function logAbsDetExpression(a: Tensor): Tensor {
  const n = a.shape.at(-1) as number;
  const whole = batchShape(a).map(() => null);
  const [least, most] = exponents[a.dtype as FloatType];
  let rest = a;
  let total = expand(fill([], 0, a.dtype), batchShape(a));
  for (let k = 0; k < n; k++) {
    const u = slice(rest, ...whole, [0, 1]);
    const largest = max(abs(u), -1, { keepDims: true });
    const s = pow(2, clip(floor(mul(log(largest), Math.LOG2E)), least, most));
    const v = div(u, s);
    const norm2 = sum(mul(v, v), -1, { keepDims: true });
    const none = equal(norm2, 0); // where the logarithm of some GPUs is finite
    const term = where(none, Number.NEGATIVE_INFINITY, add(log(s), mul(log(norm2), 0.5)));
    total = add(total, reshape(term, batchShape(a)));
    if (k === n - 1) break;
    const others = slice(rest, ...whole, [1, n - k]);
    const along = div(sum(mul(others, v), -1, { keepDims: true }), where(none, 1, norm2));
    rest = sub(others, mul(along, v));
  }
  return total;
}
