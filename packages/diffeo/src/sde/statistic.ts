/**
 * Maps y = v(x) that are not invertible: y has fewer numbers than x, or several x have the same y.
 * For dX = c(t) X dt + g(t) dW in n dimensions, the drift Lv and the covariance ∇vᵀ∇v g² of the
 * following depend on x through v(x) alone:
 *
 *   |x|²      2c y + n g²            4 g² y
 *   |x|       c y + (n − 1)g²/2y     g²
 *   A x       c y                    g² A Aᵀ
 *   (|xᵢ|)ᵢ   c y                    g² I      reflected at yᵢ = 0
 *   sorted x  c y                    g² I      reflected where neighbours are equal
 *
 * Proof: ∇|x|² = 2x and Δ|x|² = 2n; ∇|x| = x/|x| and Δ|x| = (n − 1)/|x|; A x is linear. The last
 * two are quotients by groups of isometries (changes of sign, permutations): between the mirrors v
 * is one of the isometries, which preserve a linear drift.
 */
import { alignToEvent, type Diffusion } from "../bijector/index.ts";
import {
  abs,
  add,
  argsort,
  cholesky,
  constant,
  div,
  fail,
  matmul,
  matvec,
  mul,
  sign,
  sort,
  sqrt,
  sum,
  type Tensor,
  takeAlong,
  transpose,
} from "../graph/index.ts";

/** c(t) and g(t) of dX = c X dt + g dW, in the shape of t. */
export interface Rates {
  readonly c: Tensor;
  readonly g: Tensor;
}

/** A map v that is not invertible, with the drift and diffusion of v(X); see `project`. */
export interface Statistic {
  readonly name: string;
  /** v(x), from [..., n] to [..., k]. */
  readonly value: (x: Tensor) => Tensor;
  /** The drift of v(X) at y. */
  readonly drift: (y: Tensor, rates: Rates) => Tensor;
  /** The diffusion of v(X) at y. */
  readonly diffusion: (y: Tensor, rates: Rates) => Diffusion;
  /**
   * The score of X at x from the score of v(X), if the distribution of X is invariant under the
   * group. Absent if v is not a quotient by a finite group.
   */
  readonly lift?: (score: (y: Tensor) => Tensor, x: Tensor) => Tensor;
}

function requireDimension(n: number, name: string): void {
  if (!(Number.isInteger(n) && n >= 1))
    fail("usage", `${name}: \`n\` is ${n}`, "give the number of coordinates of x");
}

/**
 * The statistic |x|² of n coordinates. For an Ornstein–Uhlenbeck process it is a Cox–Ingersoll–Ross
 * process.
 *
 * @example
 * const squared = project(ornsteinUhlenbeck(), squaredRadius(3));
 */
export function squaredRadius(n: number): Statistic {
  requireDimension(n, "squaredRadius");
  return {
    name: "|x|²",
    value: (x) => sum(mul(x, x), -1, { keepDims: true }),
    drift: (y, { c, g }) =>
      add(mul(mul(y, alignToEvent(c, 1)), 2), alignToEvent(mul(mul(g, g), n), 1)),
    diffusion: (y, { g }) => ({
      kind: "diagonal",
      value: mul(mul(sqrt(y), alignToEvent(g, 1)), 2),
    }),
  };
}

/** The statistic |x| of n coordinates. For Brownian motion it is a Bessel process. */
export function radius(n: number): Statistic {
  requireDimension(n, "radius");
  return {
    name: "|x|",
    value: (x) => sqrt(sum(mul(x, x), -1, { keepDims: true })),
    drift: (y, { c, g }) =>
      add(mul(y, alignToEvent(c, 1)), div(alignToEvent(mul(mul(g, g), (n - 1) / 2), 1), y)),
    diffusion: (_, { g }) => ({ kind: "scalar", value: g }),
  };
}

/**
 * The statistic A x for a matrix of k independent rows and n columns, such as sums, means and
 * projections.
 */
export const linearStatistic = (rows: readonly (readonly number[])[]): Statistic => ({
  name: "A x",
  value: (x) => matvec(constant(rows, x.dtype), x),
  drift: (y, { c }) => mul(y, alignToEvent(c, 1)),
  diffusion: (y, { g }) => {
    const a = constant(rows, y.dtype);
    return { kind: "matrix", value: mul(cholesky(matmul(a, transpose(a))), alignToEvent(g, 2)) };
  },
});

const flat = {
  drift: (y: Tensor, { c }: Rates): Tensor => mul(y, alignToEvent(c, 1)),
  diffusion: (_: Tensor, { g }: Rates): Diffusion => ({ kind: "scalar", value: g }),
};

/** The statistic (|x₁|, …, |xₙ|). */
export const absoluteValues = (): Statistic => ({
  ...flat,
  name: "absolute values",
  value: (x) => abs(x),
  lift: (score, x) => mul(sign(x), score(abs(x))),
});

/** The statistic x in ascending order. */
export const orderStatistics = (): Statistic => ({
  ...flat,
  name: "order statistics",
  value: (x) => sort(x),
  // Each number gets the component of its rank; ranks are the inverse of the sorting permutation.
  lift: (score, x) => takeAlong(score(sort(x)), argsort(argsort(x)), -1),
});
