/**
 * Symmetric positive-definite k×k matrices: Σ = L Lᵀ, L lower triangular with diagonal e^{xᵢᵢ}, as
 * the k(k + 1)/2 entries of the lower triangle, row by row (vech). x has the entries of L in the
 * same order, with the diagonal in logarithms.
 *
 *   y = vech(L Lᵀ)     dΣ = dL Lᵀ + L dLᵀ     dL = L Φ(L⁻¹ dΣ L⁻ᵀ)
 *
 * Φ keeps the lower triangle and halves the diagonal: L⁻¹dL + (L⁻¹dL)ᵀ = L⁻¹ dΣ L⁻ᵀ, and L⁻¹dL is
 * lower triangular. The code computes the same dL column by column, without an inverse.
 */
import {
  add,
  concat,
  constant,
  div,
  exp,
  expand,
  fail,
  greater,
  less,
  log,
  logicalAnd,
  matmul,
  mul,
  reshape,
  slice,
  sqrt,
  sub,
  sum,
  type Tensor,
  take,
  transpose,
} from "../graph/index.ts";
import type { Bijector, Diffusion } from "./bijector.ts";
import { columnsOf, rowSquares } from "./coefficient.ts";
import { everyCoordinate, filled } from "./event.ts";

/** Positions (i, j), i ≥ j, row by row. */
const lowerPairs = (k: number): (readonly [number, number])[] =>
  Array.from({ length: k }, (_, i) =>
    Array.from({ length: i + 1 }, (_, j) => [i, j] as const),
  ).flat();

function orderOf(v: Tensor): number {
  const size = v.shape.at(-1) as number;
  const k = Math.round((Math.sqrt(8 * size + 1) - 1) / 2);
  if ((k * (k + 1)) / 2 !== size)
    fail(
      "shape",
      `log-Cholesky: ${size} numbers do not fill a lower triangle`,
      "use k(k + 1)/2 of them for a k×k matrix: 1, 3, 6, 10, …",
    );
  return k;
}

/** A vector of numbers, one per pair (i, j). */
const overPairs = (v: Tensor, f: (i: number, j: number, k: number) => number): Tensor => {
  const k = orderOf(v);
  return constant(
    lowerPairs(k).map(([i, j]) => f(i, j, k)),
    v.dtype,
  );
};

const gather = (v: Tensor, k: number, position: (i: number, j: number) => number): Tensor => {
  const index = Array.from({ length: k }, (_, i) =>
    Array.from({ length: k }, (_, j) => position(i, j)),
  );
  return take(v, constant(index, "int32"), -1);
};
const place = (i: number, j: number): number => (i * (i + 1)) / 2 + j;

/** The lower-triangular matrix of a vector. */
const lower = (v: Tensor): Tensor => {
  const k = orderOf(v);
  const zero = filled([...v.shape.slice(0, -1), 1], 0, v.dtype);
  return gather(concat([v, zero]), k, (i, j) => (i >= j ? place(i, j) : place(k, 0)));
};
/** The symmetric matrix of a vector. */
const symmetric = (v: Tensor): Tensor =>
  gather(v, orderOf(v), (i, j) => (i >= j ? place(i, j) : place(j, i)));

/** The lower triangle of a matrix, row by row. */
const vech = (m: Tensor): Tensor => {
  const k = m.shape.at(-1) as number;
  const flat = reshape(m, [...m.shape.slice(0, -2), k * k]);
  return take(
    flat,
    constant(
      lowerPairs(k).map(([i, j]) => i * k + j),
      "int32",
    ),
    -1,
  );
};

const onDiagonal = (v: Tensor): Tensor => overPairs(v, (i, j) => (i === j ? 1 : 0));
const offDiagonal = (v: Tensor): Tensor => overPairs(v, (i, j) => (i === j ? 0 : 1));

/** vech of L. Only the diagonal is exponentiated, so that no other entry can overflow. */
const entries = (x: Tensor): Tensor => {
  const diagonal = onDiagonal(x);
  return add(mul(x, offDiagonal(x)), mul(exp(mul(x, diagonal)), diagonal));
};
/** ∂L/∂x, one factor per entry: Lᵢᵢ on the diagonal, 1 elsewhere. */
const slopes = (x: Tensor): Tensor => exp(mul(x, onDiagonal(x)));

/**
 * L of Σ = LLᵀ and its pivots, column by column: the first column is divided by the root of its
 * pivot, then the same is done for the remaining matrix.
 */
export function choleskyWithPivots(sigma: Tensor): {
  readonly l: Tensor;
  readonly pivots: readonly Tensor[];
} {
  const whole = sigma.shape.slice(0, -2).map(() => null);
  const columns: Tensor[] = [];
  const pivots: Tensor[] = [];
  const k = sigma.shape.at(-1) as number;
  let rest = sigma;
  for (let j = 0; j < k; j++) {
    const size = k - j;
    const pivot = slice(rest, ...whole, [0, 1], [0, 1]);
    pivots.push(pivot);
    const column = div(slice(rest, ...whole, null, [0, 1]), sqrt(pivot));
    const padded =
      j === 0
        ? column
        : concat([filled([...column.shape.slice(0, -2), j, 1], 0, sigma.dtype), column], -2);
    columns.push(padded);
    if (size === 1) break;
    const below = slice(column, ...whole, [1, size]);
    rest = sub(slice(rest, ...whole, [1, size], [1, size]), matmul(below, transpose(below)));
  }
  return { l: concat(columns, -1), pivots };
}

const wholeOf = (m: Tensor): null[] => m.shape.slice(0, -2).map(() => null);
/** The rows of a column from a given row on. */
const columnFrom = (m: Tensor, j: number, from: number): Tensor =>
  slice(m, ...wholeOf(m), [from, m.shape.at(-2) as number], [j, j + 1]);
const head = (column: Tensor): Tensor => slice(column, ...wholeOf(column), [0, 1]);
const tail = (column: Tensor): Tensor =>
  slice(column, ...wholeOf(column), [1, column.shape.at(-2) as number]);
/** n rows of zeros above a matrix. */
const under = (n: number, m: Tensor): Tensor =>
  n === 0
    ? m
    : concat([filled([...m.shape.slice(0, -2), n, m.shape.at(-1) as number], 0, m.dtype), m], -2);

/**
 * dL of a symmetric dΣ, column by column as in `cholesky`. Column j subtracts d(l lᵀ) = dl lᵀ + l
 * dlᵀ from the rest, with
 *
 *   2lⱼⱼ dlⱼⱼ = dΣⱼⱼ     lⱼⱼ dl = dΣ.ⱼ − l dlⱼⱼ
 *
 * This equals LΦ(L⁻¹dΣ L⁻ᵀ), but an entry that overflows affects only the entries that depend on
 * it. L⁻¹ of a narrow matrix exceeds float32 from k = 4 on, and 0 times ∞ is not 0.
 */
export function choleskyTangent(l: Tensor, sigma: Tensor): Tensor {
  const k = l.shape.at(-1) as number;
  const columns: Tensor[] = [];
  let rest = sigma;
  for (let j = 0; j < k; j++) {
    const own = columnFrom(l, j, j);
    const pivot = head(own);
    const seen = columnFrom(rest, 0, 0);
    const column = div(sub(seen, mul(own, div(head(seen), mul(pivot, 2)))), pivot);
    columns.push(under(j, column));
    if (j === k - 1) break;
    const size = k - j;
    const both = matmul(tail(column), transpose(tail(own)));
    rest = sub(slice(rest, ...wholeOf(rest), [1, size], [1, size]), add(both, transpose(both)));
  }
  return concat(columns, -1);
}

/**
 * The transpose of `choleskyTangent`, last column first: Q lower triangular with Σᵢ≥ⱼ QᵢⱼdΣᵢⱼ = ⟨C,
 * dL⟩. Column j of dL takes −(Q + Qᵀ)l of the columns after it, and gives q = that/lⱼⱼ below the
 * diagonal and half of (cⱼⱼ − l·q)/lⱼⱼ on it.
 */
function choleskyCotangent(l: Tensor, c: Tensor): Tensor {
  const k = l.shape.at(-1) as number;
  const [last, corner] = [columnFrom(c, k - 1, k - 1), columnFrom(l, k - 1, k - 1)];
  let q = div(last, mul(corner, 2));
  for (let j = k - 2; j >= 0; j--) {
    const [own, given] = [columnFrom(l, j, j), columnFrom(c, j, j)];
    const pivot = head(own);
    const below = div(sub(tail(given), matmul(add(q, transpose(q)), tail(own))), pivot);
    const diagonal = div(sub(head(given), matmul(transpose(tail(own)), below)), mul(pivot, 2));
    q = concat([concat([diagonal, below], -2), under(1, q)], -1);
  }
  return q;
}

/** D²Σ[v, v] = 2 dL dLᵀ + M + Mᵀ, M = d²L Lᵀ, where d²L = diag(Lᵢᵢvᵢᵢ²). */
function itoTrace(x: Tensor, diffusion: Diffusion): Tensor {
  const dl = lower(mul(slopes(x), columnsOf(diffusion, x, 1)));
  const squares = rowSquares(diffusion, [x.shape.at(-1) as number]);
  const m = matmul(
    lower(mul(mul(entries(x), onDiagonal(x)), squares)),
    transpose(lower(entries(x))),
  );
  return vech(add(mul(sum(matmul(dl, transpose(dl)), 0), 2), add(m, transpose(m))));
}

/**
 * Of D²Σ the part d²L Lᵀ + L d²Lᵀ is that of d²L itself, diagonal: dL = d²L and that of 2 dL dLᵀ,
 * over the slopes of x.
 */
function pullItoTrace(x: Tensor, diffusion: Diffusion): Tensor {
  const dl = lower(mul(slopes(x), columnsOf(diffusion, x, 1)));
  const middle = mul(sum(matmul(dl, transpose(dl)), 0), 2);
  const squares = mul(rowSquares(diffusion, [x.shape.at(-1) as number]), onDiagonal(x));
  return add(div(vech(choleskyTangent(lower(entries(x)), middle)), slopes(x)), squares);
}

/**
 * The map onto symmetric positive-definite k × k matrices, given by their Cholesky factor with the
 * logarithm of its diagonal. x and y have k(k + 1)/2 numbers, lower triangles row by row.
 */
export function logCholesky(): Bijector {
  return {
    name: "log-Cholesky",
    eventRank: 1,
    forward: (x) => {
      const l = lower(entries(x));
      return vech(matmul(l, transpose(l)));
    },
    inverse: (y) => {
      const l = vech(choleskyWithPivots(symmetric(y)).l);
      const diagonal = onDiagonal(y);
      // 1 off the diagonal, whose logarithm is the 0 that is added there.
      return add(mul(l, offDiagonal(y)), log(add(mul(l, diagonal), offDiagonal(y))));
    },
    // The first pivot that is not positive is computed from positive ones, so it is finite even if
    // later roots are NaN.
    contains: (y) => {
      const pivots = reshape(concat(choleskyWithPivots(symmetric(y)).pivots, -1), [
        ...y.shape.slice(0, -1),
        orderOf(y),
      ]);
      return everyCoordinate(
        logicalAnd(greater(pivots, 0), less(pivots, Number.POSITIVE_INFINITY)),
        y.dtype,
      );
    },
    /**
     * ∂Σᵢⱼ/∂Lᵢⱼ = Lⱼⱼ (twice that on the diagonal) and Σᵢⱼ needs no later entry of L, row by row:
     * the Jacobian of
     * vech L ↦ vech Σ is triangular, with determinant Πᵢ 2Lᵢᵢ · Πⱼ Lⱼⱼ^(k−1−j), j from 0. dLⱼⱼ =
     * Lⱼⱼ dxⱼⱼ adds one power more: log|det J| = k log 2 + Σⱼ (k + 1 − j) xⱼⱼ.
     */
    logDet: (x) => {
      const weights = overPairs(x, (i, j, k) => (i === j ? k + 1 - j : 0));
      return add(sum(mul(x, weights), -1), orderOf(x) * Math.LN2);
    },
    gradLogDet: (x) =>
      expand(
        overPairs(x, (i, j, k) => (i === j ? k + 1 - j : 0)),
        x.shape,
      ),
    pushVector: (x, v) => {
      const half = matmul(lower(mul(slopes(x), v)), transpose(lower(entries(x))));
      return vech(add(half, transpose(half)));
    },
    // Σᵢ≥ⱼ UᵢⱼdΣᵢⱼ = ⟨U, dL Lᵀ + L dLᵀ⟩ = ⟨(U + Uᵀ)L, dL⟩ for lower-triangular U.
    pullCovector: (x, u) => {
      const both = add(lower(u), transpose(lower(u)));
      return mul(slopes(x), vech(matmul(both, lower(entries(x)))));
    },
    pullVector: (x, v) => div(vech(choleskyTangent(lower(entries(x)), symmetric(v))), slopes(x)),
    pushCovector: (x, u) => vech(choleskyCotangent(lower(entries(x)), lower(div(u, slopes(x))))),
    itoTrace,
    pullItoTrace,
  };
}
