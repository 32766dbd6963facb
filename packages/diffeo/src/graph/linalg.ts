/** Products and small dense linear algebra. All batch over leading axes. */
import { abs, add, clip, div, floor, log, mul, neg, pow, sub, unscaled } from "./elementwise.ts";
import { fail, internal } from "./error.ts";
import { equal, where } from "./logic.ts";
import { broadcastOffsets } from "./loops.ts";
import { broadcastShapes, divisorNear, type FloatType, type Shape, sameShape, showShape, sizeOf } from "./ndarray.ts";
import { slice } from "./pieces.ts";
import { max, sum, unbroadcast } from "./reduce.ts";
import { expand, expandDims, reshape, swapped, transpose, unexpanded, unreshaped } from "./shape.ts";
import {
  asTensor,
  asTensors,
  fill,
  is,
  type Make,
  type Operand,
  primitive,
  requireFloat,
  type Tensor,
} from "./tensor.ts";

const matrixSize = (t: Tensor): [number, number] => [t.shape.at(-2) as number, t.shape.at(-1) as number];
const batchShape = (t: Tensor): Shape => t.shape.slice(0, -2);

function productShape(a: Tensor, b: Tensor): number[] {
  if (a.shape.length < 2 || b.shape.length < 2)
    fail(
      "shape",
      `matmul: shapes ${showShape(a.shape)} and ${showShape(b.shape)} are not both matrices`,
      "use expandDims, or dot for vectors",
    );
  const [m, k] = matrixSize(a);
  const [k2, n] = matrixSize(b);
  if (k !== k2)
    fail(
      "shape",
      `matmul: ${showShape(a.shape)} times ${showShape(b.shape)}: ${k} columns meet ${k2} rows`,
      "transpose one operand, or check which axis is the features",
    );
  const both = `matmul of ${showShape(a.shape)} and ${showShape(b.shape)}`;
  return [...broadcastShapes(batchShape(a), batchShape(b), both), m, n];
}

const matmulNode: Make = primitive({
  name: "matmul",
  infer: ([a, b]) => ({ shape: productShape(a, b), dtype: a.dtype }),
  vjp: (g, { inputs: [a, b] }, i) => {
    if (i === 0) return unbroadcast(matmul(g, transpose(b)), a.shape);
    // A matrix shared by the whole batch collects its gradient in one product over all rows.
    if (b.shape.length === 2 && a.shape.length > 2) return matmul(transpose(rows(a)), rows(g));
    return unbroadcast(matmul(transpose(a), g), b.shape);
  },
  simplify: ({ inputs: [a, b], shape }) => {
    // A product of repeated matrices is the repeated product.
    const inner = [unrepeated(a), unrepeated(b)] as const;
    const batch = broadcastShapes(batchShape(inner[0]), batchShape(inner[1]), "matmul");
    if (sizeOf(batch) < sizeOf(shape.slice(0, -2))) return expand(matmulNode(inner, {}), shape);
    // With one right factor, every axis of the left but the last is rows.
    const few = b.shape.length === 2 ? unexpanded(a) : undefined;
    if (few && few.shape.length >= 2 && few.shape.at(-1) === a.shape.at(-1))
      return expand(matmulNode([few, b], {}), shape);
    if (b.shape.length === 2 && a.shape.length > 2) return reshape(matmulNode([rows(a), b], {}), shape);
    return undefined;
  },
  lower: ({ inputs: [a, b], shape }, target) => {
    if (shape.length === 2) {
      const [left, right] = [swapped(a), swapped(b)];
      if (left && !right && left.shape[0] >= LONG) {
        if (target === "gpu") return splitProduct(left, b);
        // AᵀB over many rows, A the wider: (BᵀA)ᵀ packs the narrow factor and runs up to twice as fast.
        if (shape[1] * 2 <= shape[0]) return transpose(gemmNode([b, left], { transA: true, transB: false }));
      }
      // A transposed right factor halves the speed of the GPU's kernel: one that is small beside the left is turned first.
      if (target === "gpu" && right && a.shape[0] >= LONG && sizeOf(b.shape) <= 64 * LONG)
        return gemmNode([left ?? a, b], { transA: left !== undefined, transB: false });
      const first = bare(left ?? a, 1);
      const second = bare(right ?? b, first.factor);
      const trans = { transA: left !== undefined, transB: right !== undefined };
      return gemmNode([first.tensor, second.tensor], { ...trans, alpha: first.factor * second.factor });
    }
    if (target !== "cpu") return undefined;
    const [left, right] = [swapped(a), swapped(b)];
    return left || right
      ? fusedNode([left ?? a, right ?? b], { transA: left !== undefined, transB: right !== undefined })
      : undefined;
  },
  emit: (_, inputs, emitter) => emitter.node("MatMul", inputs),
  evaluate: ({ inputs: [a, b], shape }, [x, y]) => {
    const [m, k] = matrixSize(a);
    const n = b.shape.at(-1) as number;
    const batch = shape.slice(0, -2);
    const atA = broadcastOffsets(batchShape(a), batch);
    const atB = broadcastOffsets(batchShape(b), batch);
    const out = new Float64Array(sizeOf(shape));
    for (let q = 0; q < atA.length; q++)
      for (let i = 0; i < m; i++)
        for (let r = 0; r < k; r++) {
          const left = x[atA[q] * m * k + i * k + r];
          const row = atB[q] * k * n + r * n;
          const into = q * m * n + i * n;
          for (let j = 0; j < n; j++) out[into + j] += left * y[row + j];
        }
    return out;
  },
});

/** From this many rows on, AᵀB is worth a form of its own. */
const LONG = 4096;

/**
 * AᵀB over many rows on a GPU: so few results keep most of it idle. The rows are cut into slices that are multiplied
 * side by side and summed, the narrow factor being the one that is transposed.
 */
function splitProduct(a: Tensor, b: Tensor): Tensor {
  const [k, m] = a.shape;
  const n = b.shape[1];
  const parts = divisorNear(k, Math.min(64, k / 256));
  const cut = (t: Tensor): Tensor => reshape(t, [parts, k / parts, t.shape[1]]);
  return m <= n ? sum(matmul(transpose(cut(a)), cut(b)), 0) : transpose(sum(matmul(transpose(cut(b)), cut(a)), 0));
}

/** Whether Gemm can apply a number: its factor is an attribute in float32, whatever the type of the graph. */
const isAlpha = (factor: number): boolean => Math.fround(factor) === factor;

/** A factor without a number that Gemm can apply itself, beside the one it applies already. */
function bare(t: Tensor, alpha: number): { readonly tensor: Tensor; readonly factor: number } {
  const scaled = unscaled(t);
  return scaled && isAlpha(scaled.factor * alpha) ? scaled : { tensor: t, factor: 1 };
}

/** All leading axes as one. */
const rows = (t: Tensor): Tensor => reshape(t, [sizeOf(t.shape.slice(0, -1)), t.shape.at(-1) as number]);

/** A tensor before an expansion that left its matrix axes alone; itself otherwise. */
function unrepeated(t: Tensor): Tensor {
  const before = unexpanded(t);
  return before && before.shape.length >= 2 && sameShape(before.shape.slice(-2), t.shape.slice(-2)) ? before : t;
}

/** Matrix product over the last two axes; leading axes broadcast. */
export function matmul(a: Operand, b: Operand): Tensor {
  const pair = asTensors(a, b, "matmul");
  requireFloat(pair[0], "matmul");
  return matmulNode(pair, {});
}

/** Σ aᵢbᵢ over the last axis. */
export function dot(a: Operand, b: Operand): Tensor {
  const [x, y] = asTensors(a, b, "dot");
  broadcastShapes(x.shape, y.shape, "dot");
  return sum(mul(x, y), -1);
}

/** A·x for matrices and vectors, over the last axes. */
export function matvec(a: Operand, x: Operand): Tensor {
  const [m, v] = asTensors(a, x, "matvec");
  if (m.shape.length < 2 || m.shape.at(-1) !== v.shape.at(-1))
    fail(
      "shape",
      `matvec: ${showShape(m.shape)} times ${showShape(v.shape)}: the last axes differ`,
      "give […, m, n] and […, n]",
    );
  const y = matmul(m, expandDims(v, -1));
  return reshape(y, y.shape.slice(0, -1));
}

/** ‖x‖² over the last axis. */
export const squaredNorm = (x: Operand): Tensor => dot(x, x);

type Transposed = { transA: boolean; transB: boolean };

const transposedShape = ([a, b]: readonly Tensor[], { transA, transB }: Transposed): number[] => [
  ...broadcastShapes(batchShape(a), batchShape(b), "matmul"),
  a.shape.at(transA ? -1 : -2) as number,
  b.shape.at(transB ? -2 : -1) as number,
];

/** aᵀ·b etc. as the expression they came from: what the reference evaluates. */
const unfused = ([a, b]: readonly Tensor[], { transA, transB }: Transposed): Tensor =>
  matmulNode([transA ? transpose(a) : a, transB ? transpose(b) : b], {});

/** A multiple of the product, too. */
type Scaled = Transposed & { alpha?: number };

/** The product ONNX calls Gemm: transposes in place, an optional third input added to every row. Made by lowering. */
const gemmNode: Make<Scaled> = primitive<Scaled>({
  name: "gemm",
  infer: (inputs, attributes) => ({ shape: transposedShape(inputs, attributes), dtype: inputs[0].dtype }),
  emit: ({ attributes: { transA, transB, alpha = 1 } }, inputs, emitter) =>
    emitter.node("Gemm", inputs, { alpha: { float: alpha }, transA: transA ? 1 : 0, transB: transB ? 1 : 0 }),
  evaluate: ({ inputs, attributes }, values) => evaluateProduct(inputs, attributes, values),
});

/** Batched product with transposes in place (com.microsoft, CPU). Made by lowering. */
const fusedNode: Make<Transposed> = primitive<Transposed>({
  name: "fusedMatmul",
  infer: (inputs, attributes) => ({ shape: transposedShape(inputs, attributes), dtype: inputs[0].dtype }),
  emit: ({ attributes: { transA, transB } }, inputs, emitter) =>
    emitter.node(
      "FusedMatMul",
      inputs,
      { transA: transA ? 1 : 0, transB: transB ? 1 : 0 },
      { domain: "com.microsoft" },
    ),
  evaluate: ({ inputs, attributes }, values) => evaluateProduct(inputs, attributes, values),
});

function evaluateProduct(inputs: readonly Tensor[], attributes: Scaled, values: readonly Float64Array[]): Float64Array {
  const turn = (k: number): Float64Array => {
    const t = k === 0 ? attributes.transA : attributes.transB;
    const turned = transpose(inputs[k]);
    return t ? turned.op.evaluate(turned, [values[k]]) : values[k];
  };
  const product = unfused(inputs, attributes);
  const out = matmulNode.op.evaluate(product, [turn(0), turn(1)]);
  for (let i = 0; i < out.length; i++) out[i] *= attributes.alpha ?? 1;
  if (inputs.length === 3) {
    const bias = broadcastOffsets(inputs[2].shape, product.shape);
    for (let i = 0; i < out.length; i++) out[i] += values[2][bias[i]];
  }
  return out;
}

/**
 * a·b + c as one Gemm, where the sum is the product's only use. `add` calls this on both orders of its operands;
 * the product may be under a reshape, as after a convolution, if the last axis survived it.
 */
export function fuseBias(product: Tensor, bias: Tensor, shape: Shape, uses: (t: Tensor) => number): Tensor | undefined {
  if (!sameShape(product.shape, shape) || uses(product) !== 1) return undefined;
  const n = shape.at(-1);
  if (is(product, gemmNode) && product.inputs.length === 2 && bias.shape.length <= 2)
    return gemmNode([...product.inputs, bias], product.attributes);
  const inner = unreshaped(product);
  if (!inner || !is(inner, gemmNode) || inner.inputs.length !== 2 || uses(inner) !== 1) return undefined;
  const isRow = sizeOf(bias.shape) === n && bias.shape.at(-1) === n;
  if (!isRow || inner.shape.at(-1) !== n) return undefined;
  return reshape(gemmNode([...inner.inputs, reshape(bias, [n as number])], inner.attributes), shape);
}

/** c·(a·b) as one Gemm, where that is the product's only use. */
export function fuseScale(
  product: Tensor,
  factor: number | undefined,
  shape: Shape,
  uses: (t: Tensor) => number,
): Tensor | undefined {
  if (factor === undefined || !sameShape(product.shape, shape)) return undefined;
  if (!is(product, gemmNode) || product.inputs.length !== 2 || uses(product) !== 1) return undefined;
  const alpha = factor * (product.attributes.alpha ?? 1);
  return isAlpha(alpha) ? gemmNode(product.inputs, { ...product.attributes, alpha }) : undefined;
}

function requireSquare(t: Tensor, operation: string): void {
  requireFloat(t, operation);
  if (t.shape.length < 2 || t.shape.at(-1) !== t.shape.at(-2))
    fail(
      "shape",
      `${operation}: needs square matrices, got shape ${showShape(t.shape)}`,
      "the last two axes must be equal",
    );
}

/** Gauss–Jordan with partial pivoting, in place on [A | B]; a zero pivot leaves infinities for the caller to see. */
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

/** A⁻¹ over the last two axes. */
export const inverse = (a: Operand): Tensor => inverseNode([asTensor(a)], {});

/** X with A X = B. One step of refinement gives back the digits that multiplying by an inverse loses. */
export function solve(a: Operand, b: Operand): Tensor {
  const [m, rhs] = asTensors(a, b, "solve");
  requireSquare(m, "solve");
  if (rhs.shape.length < 2 || rhs.shape.at(-2) !== m.shape.at(-1))
    fail(
      "shape",
      `solve: matrices ${showShape(m.shape)} and right-hand sides ${showShape(rhs.shape)} do not fit`,
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
  emit: () => internal("logAbsDet is lowered before it is written"),
  evaluate: ({ inputs: [t], shape }, [data]) => {
    const n = t.shape.at(-1) as number;
    const out = new Float64Array(sizeOf(shape));
    for (let q = 0; q < out.length; q++) out[q] = logAbsDetOf(data.slice(q * n * n, (q + 1) * n * n), n);
    return out;
  },
});

/** log|det A| over the last two axes, for matrices of a few dozen rows. */
export const logAbsDet = (a: Operand): Tensor => logAbsDetNode([asTensor(a)], {});

/** Product of the pivots of Gaussian elimination, in logarithms. */
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
 * log|det A| = Σ_k log‖u_k‖, u_k the rows left by modified Gram–Schmidt: A = L Q with L's diagonal ‖u_k‖.
 * Runs everywhere in every float type (ONNX Runtime's Det is float32 alone). Each row is first divided by a power of two
 * near its largest entry, u = s·v: exactly, and no square of v over- or underflows. A row of which nothing is left gives −∞.
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
