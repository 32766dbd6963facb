/**
 * Products in the form that is fastest in ONNX Runtime: one Gemm with transposes, a factor and a
 * bias.
 *   Gemm  α AᵗBᵗ + C        FusedMatMul  AᵗBᵗ over batches, on the CPU
 */
import { addNode, mul, mulNode, negNode, unscaled } from "../arithmetic.ts";
import { expand, sum } from "../broadcast.ts";
import { batchShape, matmul, matmulNode } from "../linalg.ts";
import { broadcastOffsets } from "../loops.ts";
import { broadcastShapes, divisorNear, type Shape, sameShape, sizeOf } from "../ndarray.ts";
import { reshape, swapped, transpose, transposeNode, unreshaped } from "../shape.ts";
import { is, type Make, primitive, type Tensor, uniformValue } from "../tensor.ts";
import type { Lowering, Uses } from "./rule.ts";

type Transposed = { transA: boolean; transB: boolean };

const transposedShape = ([a, b]: readonly Tensor[], { transA, transB }: Transposed): number[] => [
  ...broadcastShapes(batchShape(a), batchShape(b), "matmul"),
  a.shape.at(transA ? -1 : -2) as number,
  b.shape.at(transB ? -2 : -1) as number,
];

/** aᵀ·b etc. as the original expression, for the reference. */
const unfused = ([a, b]: readonly Tensor[], { transA, transB }: Transposed): Tensor =>
  matmulNode([transA ? transpose(a) : a, transB ? transpose(b) : b], {});

/** Optionally a multiple of the product. */
type Scaled = Transposed & { alpha?: number };

/**
 * ONNX's Gemm: a product with transposes and an optional third input that is added to every row.
 * Made by lowering.
 */
const gemmNode: Make<Scaled> = primitive<Scaled>({
  name: "gemm",
  infer: (inputs, attributes) => ({
    shape: transposedShape(inputs, attributes),
    dtype: inputs[0].dtype,
  }),
  emit: ({ attributes: { transA, transB, alpha = 1 } }, inputs, emitter) =>
    emitter.node("Gemm", inputs, {
      alpha: { float: alpha },
      transA: transA ? 1 : 0,
      transB: transB ? 1 : 0,
    }),
  evaluate: ({ inputs, attributes }, values) => evaluateProduct(inputs, attributes, values),
});

/** A batched product with transposes (com.microsoft, CPU). Made by lowering. */
const fusedNode: Make<Transposed> = primitive<Transposed>({
  name: "fusedMatmul",
  infer: (inputs, attributes) => ({
    shape: transposedShape(inputs, attributes),
    dtype: inputs[0].dtype,
  }),
  emit: ({ attributes: { transA, transB } }, inputs, emitter) =>
    emitter.node(
      "FusedMatMul",
      inputs,
      { transA: transA ? 1 : 0, transB: transB ? 1 : 0 },
      { domain: "com.microsoft" },
    ),
  evaluate: ({ inputs, attributes }, values) => evaluateProduct(inputs, attributes, values),
});

function evaluateProduct(
  inputs: readonly Tensor[],
  attributes: Scaled,
  values: readonly Float64Array[],
): Float64Array {
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

/** A·B: transposes are merged into the product, and long thin products are split. */
const product: Lowering = ({ inputs: [a, b], shape }, target) => {
  if (shape.length === 2) {
    const [left, right] = [swapped(a), swapped(b)];
    if (left && !right && left.shape[0] >= LONG) {
      if (target === "gpu") {
        const [x, y] = [unscaled(left), unscaled(b)];
        const whole = splitProduct(x?.tensor ?? left, y?.tensor ?? b);
        return x || y ? mul(whole, (x?.factor ?? 1) * (y?.factor ?? 1)) : whole;
      }
      // AᵀB over many rows with A wider than B: (BᵀA)ᵀ packs the narrow factor and is up to twice
      // as fast.
      if (shape[1] * 2 <= shape[0])
        return transpose(scaledGemm(b, left, { transA: true, transB: false }));
    }
    // A transposed right factor halves the speed of the GPU's kernel, so one that is small compared
    // with the left is transposed first.
    if (target === "gpu" && right && a.shape[0] >= LONG && sizeOf(b.shape) <= 64 * LONG)
      return scaledGemm(left ?? a, b, { transA: left !== undefined, transB: false });
    return scaledGemm(left ?? a, right ?? b, {
      transA: left !== undefined,
      transB: right !== undefined,
    });
  }
  if (target !== "cpu") return undefined;
  const [left, right] = [swapped(a), swapped(b)];
  return left || right
    ? fusedNode([left ?? a, right ?? b], {
        transA: left !== undefined,
        transB: right !== undefined,
      })
    : undefined;
};

/** AᵗBᵗ with the numeric factors of A and B. */
function scaledGemm(a: Tensor, b: Tensor, trans: Transposed): Tensor {
  const first = bare(a, 1);
  const second = bare(b, first.factor);
  return gemmNode([first.tensor, second.tensor], { ...trans, alpha: first.factor * second.factor });
}

/** The number of rows from which a special form of AᵀB is faster. */
const LONG = 4096;

/**
 * AᵀB over many rows on a GPU, where few results leave most of it idle. The rows are split into
 * slices that are multiplied in parallel and summed, with the narrow factor transposed.
 */
function splitProduct(a: Tensor, b: Tensor): Tensor {
  const [k, m] = a.shape;
  const n = b.shape[1];
  const parts = divisorNear(k, Math.min(64, k / 256));
  const cut = (t: Tensor): Tensor => reshape(t, [parts, k / parts, t.shape[1]]);
  return m <= n
    ? sum(matmul(transpose(cut(a)), cut(b)), 0)
    : transpose(sum(matmul(transpose(cut(b)), cut(a)), 0));
}

/**
 * Whether Gemm can apply a number, because its factor is a float32 attribute for all types of
 * graphs.
 */
const isAlpha = (factor: number): boolean => Math.fround(factor) === factor;

/** Removes a numeric factor that Gemm can apply, in addition to the one it already has. */
function bare(t: Tensor, alpha: number): { readonly tensor: Tensor; readonly factor: number } {
  const scaled = unscaled(t);
  return scaled && isAlpha(scaled.factor * alpha) ? scaled : { tensor: t, factor: 1 };
}

/**
 * A number as a row of size 1, because a Gemm through WebGPU that adds a number without axes ends
 * the process (1.30).
 */
const row = (bias: Tensor): Tensor => (bias.shape.length === 0 ? reshape(bias, [1]) : bias);

/** The tensor before all reshapes. */
function beneath(t: Tensor): Tensor {
  const inner = unreshaped(t);
  return inner ? beneath(inner) : t;
}

/**
 * a·b + c as one Gemm, if the sum is the only use of the product. The product may be reshaped, as
 * after a convolution, if the last axis is unchanged, or if c is a number or as large as the
 * product.
 */
function fuseBias(product: Tensor, bias: Tensor, shape: Shape, uses: Uses): Tensor | undefined {
  if (!sameShape(product.shape, shape) || uses(product) !== 1) return undefined;
  const n = shape.at(-1);
  if (is(product, gemmNode) && product.inputs.length === 2 && bias.shape.length <= 2)
    return gemmNode([...product.inputs, row(bias)], product.attributes);
  const inner = beneath(product);
  if (!is(inner, gemmNode) || inner.inputs.length !== 2 || uses(inner) !== 1) return undefined;
  const isRow = sizeOf(bias.shape) === n && bias.shape.at(-1) === n;
  const whole = sameShape(bias.shape, shape);
  const isNumber = bias.shape.length === 0;
  if (!whole && !isNumber && (!isRow || inner.shape.at(-1) !== n)) return undefined;
  const added = isNumber ? row(bias) : reshape(bias, whole ? inner.shape : [n as number]);
  return reshape(gemmNode([...inner.inputs, added], inner.attributes), shape);
}

/**
 * The same if pixels are rows and the batch axis is moved to the front afterwards, as in
 * `winograd.ts`, and c is the same at every pixel.
 */
function fuseRow(product: Tensor, bias: Tensor, shape: Shape, uses: Uses): Tensor | undefined {
  const moved = beneath(product);
  if (!is(moved, transposeNode) || `${moved.attributes.axes}` !== "1,0,2" || uses(product) !== 1)
    return undefined;
  const [pixels] = moved.inputs;
  const inner = unreshaped(pixels);
  if (!inner || !is(inner, gemmNode) || inner.inputs.length !== 2 || uses(inner) !== 1)
    return undefined;
  const [, b, c] = pixels.shape;
  const lead = shape.length - bias.shape.length;
  const sizes = shape.map((_, i) => bias.shape[i - lead] ?? 1);
  const fits =
    [1, b].includes(sizes[0]) && sizes.at(-1) === c && sizes.slice(1, -1).every((d) => d === 1);
  if (!sameShape(product.shape, shape) || shape[0] !== b || shape.at(-1) !== c || !fits)
    return undefined;
  const [, n] = inner.shape;
  const rows = reshape(expand(reshape(bias, [1, sizes[0], c]), [n / (b * c), b, c]), [n]);
  const whole = gemmNode([...inner.inputs, rows], inner.attributes);
  return reshape(transposeNode([reshape(whole, pixels.shape)], moved.attributes), shape);
}

/** c·(a·b) as one Gemm, if this is the only use of the product. */
function fuseScale(
  product: Tensor,
  factor: number | undefined,
  shape: Shape,
  uses: Uses,
): Tensor | undefined {
  if (factor === undefined || !sameShape(product.shape, shape)) return undefined;
  if (!is(product, gemmNode) || product.inputs.length !== 2 || uses(product) !== 1)
    return undefined;
  const alpha = factor * (product.attributes.alpha ?? 1);
  return isAlpha(alpha) ? gemmNode(product.inputs, { ...product.attributes, alpha }) : undefined;
}

export const products: readonly (readonly [Make, Lowering])[] = [
  [matmulNode, product],
  [
    addNode,
    ({ inputs: [a, b], shape }, _, uses) =>
      fuseBias(a, b, shape, uses) ??
      fuseBias(b, a, shape, uses) ??
      fuseRow(a, b, shape, uses) ??
      fuseRow(b, a, shape, uses),
  ],
  [mulNode, ({ inputs: [a, b], shape }, _, uses) => fuseScale(a, uniformValue(b), shape, uses)],
  [negNode, ({ inputs: [x], shape }, _, uses) => fuseScale(x, -1, shape, uses)],
];
