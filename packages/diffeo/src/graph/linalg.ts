/** Products of matrices and vectors, with leading batch axes. */
import { mul } from "./arithmetic.ts";
import { expand, sum, unbroadcast, unexpanded } from "./broadcast.ts";
import { fail } from "./error.ts";
import { broadcastOffsets } from "./loops.ts";
import { broadcastShapes, type Shape, sameShape, showShape, sizeOf } from "./ndarray.ts";
import { aligned, expandDims, reshape, transpose } from "./shape.ts";
import {
  asTensors,
  type Make,
  type Operand,
  primitive,
  requireFloat,
  type Tensor,
} from "./tensor.ts";

const matrixSize = (t: Tensor): [number, number] => [
  t.shape.at(-2) as number,
  t.shape.at(-1) as number,
];
/** The axes before a matrix. */
export const batchShape = (t: Tensor): Shape => t.shape.slice(0, -2);

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
      `matmul: ${showShape(a.shape)} times ${showShape(b.shape)}: ${k} columns do not match ` +
        `${k2} rows`,
      "transpose one operand, or check the order of axes",
    );
  const both = `matmul of ${showShape(a.shape)} and ${showShape(b.shape)}`;
  return [...broadcastShapes(batchShape(a), batchShape(b), both), m, n];
}

export const matmulNode: Make = primitive({
  name: "matmul",
  infer: ([a, b]) => ({ shape: productShape(a, b), dtype: a.dtype }),
  vjp: (g, { inputs: [a, b] }, i) => {
    if (i === 0) return unbroadcast(matmul(g, transpose(b)), a.shape);
    // The gradient of a matrix that the batch shares is one product over all rows.
    if (b.shape.length === 2 && a.shape.length > 2) return matmul(transpose(rows(a)), rows(g));
    return unbroadcast(matmul(transpose(a), g), b.shape);
  },
  simplify: ({ inputs: [a, b], shape }) => {
    // The product of repeated matrices is the repeated product.
    const inner = [unrepeated(a), unrepeated(b)] as const;
    const batch = broadcastShapes(batchShape(inner[0]), batchShape(inner[1]), "matmul");
    if (sizeOf(batch) < sizeOf(shape.slice(0, -2))) return expand(matmulNode(inner, {}), shape);
    // With one right factor, all axes of the left factor but the last are rows.
    const few = b.shape.length === 2 ? unexpanded(a) : undefined;
    if (few && few.shape.length >= 2 && few.shape.at(-1) === a.shape.at(-1))
      return expand(matmulNode([few, b], {}), shape);
    if (b.shape.length === 2 && a.shape.length > 2)
      return reshape(matmulNode([rows(a), b], {}), shape);
    return undefined;
  },
  batch: ({ inputs: [a], shape }, inputs, mapped) => {
    const [left, right] = inputs;
    // One matrix by many vectors is one product of matrices: (A xᵢ)ᵀ are the rows of X Aᵀ.
    if (!mapped[0] && a.shape.length === 2 && right.shape.at(-1) === 1) {
      const vectors = reshape(right, right.shape.slice(0, -1));
      return expandDims(matmulNode([vectors, transpose(left)], {}), -1);
    }
    return matmulNode(aligned(inputs, mapped, shape.length), {});
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

/** All leading axes as one. */
const rows = (t: Tensor): Tensor =>
  reshape(t, [sizeOf(t.shape.slice(0, -1)), t.shape.at(-1) as number]);

/** The tensor before an expansion of batch axes, or the tensor itself. */
function unrepeated(t: Tensor): Tensor {
  const before = unexpanded(t);
  return before && before.shape.length >= 2 && sameShape(before.shape.slice(-2), t.shape.slice(-2))
    ? before
    : t;
}

/** The matrix product over the last two axes; leading axes broadcast. */
export function matmul(a: Operand, b: Operand): Tensor {
  const pair = asTensors(a, b, "matmul");
  requireFloat(pair[0], "matmul");
  return matmulNode(pair, {});
}

/** The dot product Σ aᵢbᵢ over the last axis. */
export function dot(a: Operand, b: Operand): Tensor {
  const [x, y] = asTensors(a, b, "dot");
  broadcastShapes(x.shape, y.shape, "dot");
  return sum(mul(x, y), -1);
}

/** The product A·x of matrices and vectors, over the last axes. */
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

/** The squared norm ‖x‖² over the last axis. */
export const squaredNorm = (x: Operand): Tensor => dot(x, x);
