/**
 * Correlation matrices, k×k, as the k(k − 1)/2 entries below the diagonal, row by row: R = L Lᵀ
 * with rows of length 1. From partial correlations z = tanh x (D. Lewandowski, D. Kurowicka, H.
 * Joe, 2009), with j < i:
 *
 *   Lᵢⱼ = zᵢⱼ rᵢⱼ     Lᵢᵢ = rᵢᵢ     rᵢⱼ² = Πₗ<ⱼ (1 − zᵢₗ²) = Σₗ≥ⱼ Lᵢₗ²
 *
 * Near the boundary all of it comes from aᵢⱼ = log(1 − zᵢⱼ²) = −2 log cosh xᵢⱼ.
 */
import {
  add,
  concat,
  constant,
  cumsum,
  exp,
  fail,
  greater,
  log,
  matmul,
  mul,
  neg,
  reshape,
  slice,
  softplus,
  sqrt,
  square,
  sub,
  sum,
  type Tensor,
  take,
  tanh,
  transpose,
  vjp,
} from "../graph/index.ts";
import type { Bijector } from "./bijector.ts";
import { everyCoordinate, filled } from "./event.ts";
import { choleskyTangent, choleskyWithPivots } from "./log-cholesky.ts";

/** k for k(k − 1)/2 numbers. */
function orderOf(v: Tensor): number {
  const size = v.shape.at(-1) as number;
  const k = Math.round((Math.sqrt(8 * size + 1) + 1) / 2);
  if ((k * (k - 1)) / 2 !== size)
    fail(
      "shape",
      `correlation: ${size} numbers do not fill a triangle`,
      "use k(k − 1)/2 for a k×k matrix: 1, 3, 6, 10, …",
    );
  return k;
}

/** Places (i, j), j < i, row by row. */
const pairs = (k: number): (readonly [number, number])[] =>
  Array.from({ length: k }, (_, i) => Array.from({ length: i }, (_, j) => [i, j] as const)).flat();
const place = (i: number, j: number): number => (i * (i - 1)) / 2 + j;

/**
 * A matrix with a vector below the diagonal, one number on it, and above it 0 or the vector again.
 */
function matrix(v: Tensor, diagonal: number, above: "zero" | "mirrored"): Tensor {
  const k = orderOf(v);
  const [zero, on] = [place(k, 0), place(k, 0) + 1];
  const upper = (i: number, j: number): number => (above === "zero" ? zero : place(j, i));
  const index = Array.from({ length: k }, (_, i) =>
    Array.from({ length: k }, (_, j) => (i === j ? on : i > j ? place(i, j) : upper(i, j))),
  );
  const ends = [0, diagonal].map((value) => filled([...v.shape.slice(0, -1), 1], value, v.dtype));
  return take(concat([v, ...ends]), constant(index, "int32"), -1);
}

/** The entries below the diagonal. */
function below(m: Tensor): Tensor {
  const k = m.shape.at(-1) as number;
  const flat = reshape(m, [...m.shape.slice(0, -2), k * k]);
  return take(
    flat,
    constant(
      pairs(k).map(([i, j]) => i * k + j),
      "int32",
    ),
    -1,
  );
}

/** a = −2 log cosh x, log cosh x = x + log(1 + e^{−2x}) − log 2. */
const logRest = (x: Tensor): Tensor => mul(sub(Math.LN2, add(x, softplus(mul(x, -2)))), 2);
/** log r at every position of the matrix. */
const logRoots = (x: Tensor): Tensor =>
  mul(cumsum(matrix(logRest(x), 0, "zero"), -1, { exclusive: true }), 0.5);
const factor = (x: Tensor): Tensor => mul(matrix(tanh(x), 1, "zero"), exp(logRoots(x)));

/**
 * dR = dL Lᵀ + L dLᵀ gives dL (`choleskyTangent`). From Lᵢⱼ = zᵢⱼrᵢⱼ and d log rᵢⱼ = −sᵢⱼ, sᵢⱼ =
 * Σₗ<ⱼ LᵢₗdLᵢₗ/rᵢⱼ²:
 *
 *   dxᵢⱼ = (wᵢⱼ + zᵢⱼsᵢⱼ)/(1 − zᵢⱼ²)     sᵢⱼ₊₁ = (sᵢⱼ + zᵢⱼwᵢⱼ)/(1 − zᵢⱼ²)     wᵢⱼ = dLᵢⱼ/rᵢⱼ
 *
 * because rᵢⱼ₊₁² = rᵢⱼ²(1 − zᵢⱼ²); r⁻² itself is beyond float32 where several x are 20.
 */
function against(x: Tensor, v: Tensor): Tensor {
  const k = orderOf(x);
  const dl = choleskyTangent(factor(x), matrix(v, 0, "mirrored"));
  const w = mul(dl, exp(neg(logRoots(x))));
  const [z, grown] = [matrix(tanh(x), 0, "zero"), exp(neg(matrix(logRest(x), 0, "zero")))];
  const column = (m: Tensor, j: number): Tensor =>
    slice(m, ...m.shape.slice(0, -1).map(() => null), [j, j + 1]);
  const columns: Tensor[] = [];
  let s = mul(column(w, 0), 0);
  for (let j = 0; j < k; j++) {
    const [own, partial, scale] = [column(w, j), column(z, j), column(grown, j)];
    columns.push(mul(add(own, mul(partial, s)), scale));
    s = mul(add(s, mul(partial, own)), scale);
  }
  return below(concat(columns, -1));
}

/**
 * The map from k(k − 1)/2 free numbers to a k × k correlation matrix, by its Cholesky factor. y has
 * the entries below the diagonal, row by row.
 */
export function correlationMap(): Bijector {
  /** k − j at every position. */
  const powers = (x: Tensor): Tensor => {
    const k = orderOf(x);
    return constant(
      pairs(k).map(([, j]) => k - j),
      x.dtype,
    );
  };
  return {
    name: "correlation",
    eventRank: 1,
    forward: (x) => {
      const l = factor(x);
      return below(matmul(l, transpose(l)));
    },
    // eˣ = √((1 + z)/(1 − z)) = (rᵢⱼ + Lᵢⱼ)/rᵢⱼ₊₁
    inverse: (y) => {
      const { l } = choleskyWithPivots(matrix(y, 1, "mirrored"));
      const r = sqrt(cumsum(square(l), -1, { reverse: true }));
      const next = sqrt(cumsum(square(l), -1, { reverse: true, exclusive: true }));
      return sub(log(below(add(r, l))), log(below(next)));
    },
    contains: (y) => {
      const { pivots } = choleskyWithPivots(matrix(y, 1, "mirrored"));
      const k = orderOf(y);
      return everyCoordinate(
        greater(reshape(concat(pivots, -1), [...y.shape.slice(0, -1), k]), 0),
        y.dtype,
      );
    },
    /**
     * Row by row J is triangular: ∂Rᵢⱼ/∂xᵢⱼ = (1 − zᵢⱼ²) rᵢⱼ Lⱼⱼ. In log|det J| = Σ aᵢⱼ + log rᵢⱼ +
     * log Lⱼⱼ aᵢⱼ occurs once itself, half in each of the i − 1 − j later rᵢₗ of its row, and half
     * in Lᵢᵢ for each of the k − 1 − i later rows: (k − j)/2 times, j from 0.
     */
    logDet: (x) => mul(sum(mul(logRest(x), powers(x)), -1), 0.5),
    gradLogDet: (x) => neg(mul(tanh(x), powers(x))),
    pullVector: against,
    // The transpose of a linear function is its derivative's.
    pushCovector: (x, u) => vjp((v: Tensor) => against(x, v), u)[1](u),
  };
}
