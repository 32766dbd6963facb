/** Long sums in forms that are fast on the CPU and on GPUs. */
import { add, addAll, mul, mulNode } from "../arithmetic.ts";
import { sum, sumNode } from "../broadcast.ts";
import { runsOf } from "../concat.ts";
import { matmul } from "../linalg.ts";
import { divisorNear, type Shape, sizeOf } from "../ndarray.ts";
import { reshape } from "../shape.ts";
import { slice } from "../slice.ts";
import { constant, is, type Make, type Tensor } from "../tensor.ts";
import type { Lowering } from "./rule.ts";

/**
 * A sum over leading axes as 1ᵀX. ONNX Runtime's sum reads X by columns, its product by rows, which
 * is two to four times faster.
 */
function productWithOnes(x: Tensor, axes: readonly number[], shape: Shape): Tensor | undefined {
  const columns = sizeOf(shape);
  const rows = sizeOf(x.shape) / columns;
  const leading = axes.every((a, i) => a === i) && axes.length < x.shape.length;
  if (x.dtype !== "float32" || !leading || columns < 16 || rows < 16 || rows > 16_384)
    return undefined;
  const ones = constant(
    { shape: [1, rows], dtype: "float32", data: new Float32Array(rows).fill(1) },
    "float32",
  );
  return reshape(matmul(ones, reshape(x, [rows, columns])), shape);
}

/**
 * ‖x‖² of a long vector that is joined from parts, computed by parts, so that the vector need not
 * be made.
 */
function squaresOfRuns(x: Tensor, shape: Shape): Tensor | undefined {
  if (!is(x, mulNode) || x.inputs[0] !== x.inputs[1] || sizeOf(shape) > 1) return undefined;
  const runs = runsOf(x.inputs[0]);
  return runs.length > 1
    ? reshape(addAll(runs.map((run) => sum(mul(run, run)))), shape)
    : undefined;
}

/** The number of terms that a thread of a GPU sums. */
const TERMS = 64;

/**
 * With fewer results than this the runtime transposes the tensor before a long sum, but not before
 * a short one.
 */
const [MANY, FEWER_TERMS] = [32_768, 16];

/**
 * A last short sum over leading axes on a GPU, as 1ᵀX: the runtime's own turns X first, and few
 * columns keep it idle.
 */
function shortSum(x: Tensor, axes: readonly number[], shape: Shape): Tensor | undefined {
  const columns = sizeOf(shape);
  const rows = sizeOf(x.shape) / columns;
  return rows <= 256 && columns <= 4096 ? productWithOnes(x, axes, shape) : undefined;
}

/**
 * A GPU gives each result to one thread: a long sum into few results is split into sums of a few
 * terms and a sum of those.
 */
function splitSum(x: Tensor, axes: readonly number[], shape: Shape): Tensor | undefined {
  const count = axes.reduce((n, a) => n * x.shape[a], 1);
  const adjacent = axes.every((a, i) => i === 0 || a === axes[i - 1] + 1);
  if (!adjacent || count < 1024 || sizeOf(shape) > 65_536) return undefined;
  const terms = (count / TERMS) * sizeOf(shape) < MANY ? FEWER_TERMS : TERMS;
  const parts = count / divisorNear(count, terms);
  const outer = sizeOf(x.shape.slice(0, axes[0]));
  const inner = sizeOf(x.shape.slice(axes[0] + axes.length));
  // A length without divisors is cut into one that has them and a short rest.
  const most = count - (count % TERMS ** 3);
  if (count % terms !== 0 && x.shape.length === 1 && most > 0)
    return reshape(add(sum(slice(x, [0, most])), sum(slice(x, [most, count]))), shape);
  if (parts === count) return undefined;
  const few = sum(reshape(x, [outer, parts, count / parts, inner]), 2);
  return reshape(
    sum(reshape(few, outer === 1 ? [parts, inner] : [outer, parts, inner]), outer === 1 ? 0 : 1),
    shape,
  );
}

/**
 * A short sum over the last axis on a GPU, where neighbouring threads would read distant addresses.
 * Instead, four threads share a row, and their four results are summed.
 */
function sharedRow(x: Tensor, axes: readonly number[], shape: Shape): Tensor | undefined {
  const n = x.shape.at(-1) as number;
  if (axes.length !== 1 || axes[0] !== x.shape.length - 1 || n < 16 || n > TERMS || n % 4 !== 0)
    return undefined;
  return reshape(sum(sum(reshape(x, [sizeOf(shape), n / 4, 4]), 1), -1), shape);
}

const longSum: Lowering = (node, target) => {
  if (!is(node, sumNode)) return undefined;
  const { axes } = node.attributes;
  const [x] = node.inputs;
  return target === "cpu"
    ? (squaresOfRuns(x, node.shape) ?? productWithOnes(x, axes, node.shape))
    : (shortSum(x, axes, node.shape) ??
        splitSum(x, axes, node.shape) ??
        sharedRow(x, axes, node.shape));
};

export const sums: readonly (readonly [Make, Lowering])[] = [[sumNode as Make, longSum]];
