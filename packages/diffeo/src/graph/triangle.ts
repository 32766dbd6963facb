/**
 * Symmetric matrices by their lower triangles: from a list of entries, and as L Lᵀ, with leading
 * batch axes. With S = L⁻¹dA L⁻ᵀ (I. Murray, "Differentiation of the Cholesky decomposition",
 * 2016), Φ the lower triangle with half the diagonal,
 *
 *   A = L Lᵀ,   dL = L Φ(S),   Ā = sym(L⁻ᵀ Φ(Lᵀ L̄) L⁻¹)
 */
import { add, div, mul, sub } from "./arithmetic.ts";
import { expand } from "./broadcast.ts";
import { concat } from "./concat.ts";
import { fail, internal } from "./error.ts";
import { take } from "./gather.ts";
import { batchShape, matmul } from "./linalg.ts";
import { showShape, sizeOf } from "./ndarray.ts";
import { transpose } from "./shape.ts";
import { pad, slice } from "./slice.ts";
import { inverse, requireSquare, solve } from "./solve.ts";
import {
  asTensor,
  fill,
  type Make,
  type Operand,
  primitive,
  rebuild,
  type Tensor,
} from "./tensor.ts";
import { sqrt } from "./transcendental.ts";

const symmetricPart = (a: Tensor): Tensor => mul(add(a, transpose(a)), 0.5);

/** The Cholesky factor row by row; a pivot that is not positive gives NaN. */
function choleskyValue(a: Float64Array, n: number): Float64Array {
  const l = new Float64Array(n * n);
  for (let i = 0; i < n; i++)
    for (let j = 0; j <= i; j++) {
      let left = (a[i * n + j] + a[j * n + i]) / 2;
      for (let k = 0; k < j; k++) left -= l[i * n + k] * l[j * n + k];
      l[i * n + j] = i === j ? Math.sqrt(left) : left / l[j * n + j];
    }
  return l;
}

const choleskyNode: Make = primitive({
  name: "cholesky",
  infer: ([a]) => {
    requireSquare(a, "cholesky");
    return a;
  },
  vjp: (g, node) => {
    const n = node.shape.at(-1) as number;
    const half = Array.from({ length: n }, (_, i) =>
      Array.from({ length: n }, (_, j) => (i === j ? 0.5 : i > j ? 1 : 0)),
    );
    const inv = inverse(node);
    return symmetricPart(
      matmul(matmul(transpose(inv), mul(matmul(transpose(node), g), half)), inv),
    );
  },
  lower: ({ inputs: [a] }) => choleskyExpression(symmetricPart(a)),
  batch: rebuild,
  emit: () => internal("cholesky is lowered before it is written"),
  evaluate: ({ shape }, [data]) => {
    const n = shape.at(-1) as number;
    const out = new Float64Array(sizeOf(shape));
    for (let at = 0; at < data.length; at += n * n)
      out.set(choleskyValue(data.subarray(at, at + n * n), n), at);
    return out;
  },
});

/** Matrices up to this size are factorised column by column. */
const FEW = 8;

/**
 * In halves: A₁₁ = L₁₁L₁₁ᵀ, L₂₁ = A₂₁L₁₁⁻ᵀ, L₂₂L₂₂ᵀ = A₂₂ − L₂₁L₂₁ᵀ, so that most of the work is
 * matrix products. Column by column, the rest of the matrix would be written n times.
 */
function choleskyExpression(a: Tensor): Tensor {
  const n = a.shape.at(-1) as number;
  if (n <= FEW) return byColumns(a);
  const whole = batchShape(a).map(() => null);
  const none = batchShape(a).map(() => 0);
  const half = FEW * Math.ceil(n / FEW / 2);
  const part = (rows: readonly [number, number], columns: readonly [number, number]): Tensor =>
    slice(a, ...whole, rows, columns);
  const first = choleskyExpression(part([0, half], [0, half]));
  const below = transpose(solve(first, transpose(part([half, n], [0, half]))));
  const last = choleskyExpression(sub(part([half, n], [half, n]), matmul(below, transpose(below))));
  return concat([concat([first, below], -2), pad(last, [...none, half, 0], [...none, 0, 0])], -1);
}

/**
 * The first column of L is that of A divided by the root of its first entry; the rest is that of A
 * − l lᵀ.
 */
function byColumns(a: Tensor): Tensor {
  const n = a.shape.at(-1) as number;
  const whole = batchShape(a).map(() => null);
  const none = batchShape(a).map(() => 0);
  const columns: Tensor[] = [];
  let rest = a;
  for (let k = 0; k < n; k++) {
    const left = slice(rest, ...whole, null, [0, 1]);
    const column = div(left, sqrt(slice(left, ...whole, [0, 1])));
    columns.push(pad(column, [...none, k, 0], [...none, 0, 0]));
    if (k === n - 1) break;
    const below = slice(column, ...whole, [1, n - k]);
    rest = sub(slice(rest, ...whole, [1, n - k], [1, n - k]), mul(below, transpose(below)));
  }
  return concat(columns, -1);
}

/**
 * The Cholesky factor L of positive-definite matrices, A = L Lᵀ with L lower triangular, over the
 * last two axes; NaN if a matrix is not positive definite. The antisymmetric part of A is ignored.
 */
export const cholesky = (a: Operand): Tensor => choleskyNode([asTensor(a)], {});

/**
 * Symmetric matrices […, n, n] from their lower triangles, row by row, as those of the domain
 * `covariance`. With `diagonal` the entries are those below the diagonal, as of the domain
 * `correlation`: symmetric(r, { diagonal: 1 }).
 */
export function symmetric(
  entries: Operand,
  { diagonal }: { readonly diagonal?: number } = {},
): Tensor {
  const y = asTensor(entries);
  const count = y.shape.at(-1) ?? 0;
  const rows = Math.round((Math.sqrt(8 * count + 1) - 1) / 2);
  if (count === 0 || (rows * (rows + 1)) / 2 !== count)
    fail(
      "shape",
      `symmetric: ${count} entries, in the shape ${showShape(y.shape)}, are not a lower triangle`,
      "give 1, 3, 6, 10, … entries on the last axis",
    );
  const n = diagonal === undefined ? rows : rows + 1;
  const given =
    diagonal === undefined
      ? y
      : concat([y, expand(fill([], diagonal, y.dtype), [...y.shape.slice(0, -1), 1])], -1);
  const place = (i: number, j: number): number =>
    diagonal === undefined ? (i * (i + 1)) / 2 + j : i === j ? count : (i * (i - 1)) / 2 + j;
  const index = Array.from({ length: n }, (_, i) =>
    Array.from({ length: n }, (_, j) => place(Math.max(i, j), Math.min(i, j))),
  );
  return take(given, index, -1);
}
