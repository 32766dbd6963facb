/**
 * Multivariate normal distributions by the covariance S, its Cholesky factor L, or the precision P,
 * and multivariate Student's t. With z = L⁻¹(x − m), S = L Lᵀ, so that (x − m)ᵀS⁻¹(x − m) = ‖z‖²
 * and log det S = 2 Σ log L_ii:
 *
 *   N(m, S)       −½‖z‖² − Σ log L_ii − (n/2) log 2π
 *   t_ν(m, S)     log Γ((ν + n)/2) − log Γ(ν/2) − (n/2) log νπ − Σ log L_ii − ((ν + n)/2) log(1 + ‖z‖²/ν)
 *
 *   P = C Cᵀ:     ‖Cᵀ(x − m)‖² = (x − m)ᵀP(x − m),   x = m + C⁻ᵀε has covariance C⁻ᵀC⁻¹ = P⁻¹
 */
import { real } from "../domain/index.ts";
import {
  add,
  cholesky,
  div,
  expandDims,
  eye,
  type FloatType,
  fail,
  inverse,
  log,
  log1p,
  logGamma,
  matvec,
  mul,
  type Operand,
  type Shape,
  solve,
  square,
  squaredNorm,
  squeeze,
  sub,
  sum,
  type Tensor,
  transpose,
} from "../graph/index.ts";
import { asTensor } from "../graph/tensor.ts";
import { cholesky as choleskyOf, lowerTimes, upperSolve } from "../host/index.ts";
import type { Sequence } from "../random/index.ts";
import type { Distribution } from "./distribution.ts";
import { gammaVariate } from "./variates.ts";
import { sameSize, type VectorRule, vectorDistribution } from "./vector.ts";

const LOG_TAU = Math.log(2 * Math.PI);

/** The diagonals of matrices […, n, n] → […, n]. */
const diagonalOf = (a: Tensor): Tensor =>
  sum(mul(a, eye(a.shape.at(-1) as number, a.dtype as FloatType)), -1);

/** Σ log L_ii */
export const halfLogDet = (l: Tensor): Tensor => sum(log(diagonalOf(l)), -1);

/** L⁻¹r for vectors r. */
export const whiten = (l: Tensor, r: Tensor): Tensor => squeeze(solve(l, expandDims(r, -1)), -1);

/** The Cholesky factor of a covariance matrix. */
export function factorOf(name: string, covariance: Float64Array): Float64Array {
  const n = Math.sqrt(covariance.length);
  return (
    choleskyOf(covariance, n) ??
    fail(
      "numerical",
      `${name}: a matrix is not positive definite`,
      "make it symmetric; add a small multiple of the identity to a kernel's matrix",
    )
  );
}

const normals = (random: Sequence, n: number): Float64Array =>
  Float64Array.from({ length: n }, () => random.normal());

/** m + stretch · L ε */
function shift(
  random: Sequence,
  out: Float64Array,
  m: Float64Array,
  l: Float64Array,
  stretch = 1,
): void {
  const step = lowerTimes(l, normals(random, m.length));
  for (let i = 0; i < m.length; i++) out[i] = m[i] + stretch * step[i];
}

const vectorAndMatrix = {
  event: (m: Shape, a: Shape): Shape => [sameSize("multivariateNormal", "mean and matrix", [m, a])],
  support: ([n]: Shape) => real(n),
};

const normalLog = (x: Tensor, m: Tensor, l: Tensor): Tensor => {
  const n = m.shape.at(-1) as number;
  const distance = squaredNorm(whiten(l, sub(x, m)));
  return sub(mul(distance, -0.5), add(halfLogDet(l), (n * LOG_TAU) / 2));
};

const byFactor: VectorRule = {
  name: "multivariateNormal",
  parameters: { mean: { rank: 1 }, cholesky: { rank: 2 } },
  ...vectorAndMatrix,
  logDensity: normalLog,
  mean: (m, l) => add(m, mul(diagonalOf(l), 0)),
  variance: (m, l) => add(sum(square(l), -1), mul(m, 0)),
  variate: (random, out, m, l) => shift(random, out, m, l),
};

const byCovariance: VectorRule = {
  ...byFactor,
  parameters: { mean: { rank: 1 }, covariance: { rank: 2 } },
  logDensity: (x, m, s) => normalLog(x, m, cholesky(s)),
  variance: (m, s) => add(diagonalOf(s), mul(m, 0)),
  variate: (random, out, m, s) => shift(random, out, m, factorOf("multivariateNormal", s)),
};

const byPrecision: VectorRule = {
  ...byFactor,
  parameters: { mean: { rank: 1 }, precision: { rank: 2 } },
  logDensity: (x, m, p) => {
    const c = cholesky(p);
    const distance = squaredNorm(matvec(transpose(c), sub(x, m)));
    return add(mul(distance, -0.5), sub(halfLogDet(c), ((m.shape.at(-1) as number) * LOG_TAU) / 2));
  },
  variance: (m, p) => add(diagonalOf(inverse(p)), mul(m, 0)),
  variate: (random, out, m, p) => {
    const step = upperSolve(factorOf("multivariateNormal", p), normals(random, m.length));
    for (let i = 0; i < m.length; i++) out[i] = m[i] + step[i];
  },
};

/** Options of `multivariateNormal`: the mean, and one of three matrices. */
export interface MultivariateNormalOptions {
  /** A vector, or one number for all coordinates. Default 0. */
  readonly mean?: Operand;
  /** S, symmetric and positive definite. */
  readonly covariance?: Operand;
  /** L, lower triangular, S = L Lᵀ. */
  readonly cholesky?: Operand;
  /** P = S⁻¹ */
  readonly precision?: Operand;
}

/** A distribution with known mean and variances. */
export type MultivariateNormal = Distribution & Required<Pick<Distribution, "mean" | "variance">>;

/** The mean as a vector with as many numbers as the matrix has rows. */
const meanOf = (mean: Operand, matrix: Operand): Tensor => {
  const rows = sum(asTensor(matrix, "float64"), -1);
  return add(mean, mul(rows, 0));
};

/**
 * The multivariate normal distribution, given by one of covariance, Cholesky factor and precision.
 *
 * @throws DiffeoError of kind `usage` if none or several of the three are given, or if their shapes
 * do not match
 * @example
 * const S = [[1, 0.5], [0.5, 2]];
 * const d = multivariateNormal({ mean: [0, 1], covariance: S });
 */
export function multivariateNormal(options: MultivariateNormalOptions): MultivariateNormal {
  const { mean = 0, covariance, cholesky: factor, precision } = options;
  const given = [covariance, factor, precision].filter((matrix) => matrix !== undefined);
  if (given.length !== 1)
    fail(
      "usage",
      `multivariateNormal: ${given.length} of \`covariance\`, \`cholesky\` and \`precision\` ` +
        "are given",
      "give exactly one of them",
    );
  const [matrix] = given;
  const rule =
    covariance !== undefined ? byCovariance : factor !== undefined ? byFactor : byPrecision;
  return vectorDistribution(rule, [meanOf(mean, matrix), matrix]) as MultivariateNormal;
}

const student = (
  factor: (matrix: Tensor) => Tensor,
  host: (m: Float64Array) => Float64Array,
): VectorRule => ({
  name: "multivariateStudentT",
  parameters: { degrees: { rank: 0, is: "positive" }, mean: { rank: 1 }, matrix: { rank: 2 } },
  event: (_, m, a) => [sameSize("multivariateStudentT", "mean and matrix", [m, a])],
  support: ([n]) => real(n),
  logDensity: (x, v, m, matrix) => {
    const n = m.shape.at(-1) as number;
    const l = factor(matrix);
    const half = mul(add(v, n), 0.5);
    const peak = sub(logGamma(half), add(logGamma(mul(v, 0.5)), mul(log(mul(v, Math.PI)), n / 2)));
    const fall = mul(half, log1p(div(squaredNorm(whiten(l, sub(x, m))), v)));
    return sub(sub(peak, halfLogDet(l)), fall);
  },
  variate: (random, out, [v], m, matrix) => {
    const chi2 = 2 * gammaVariate(random, v / 2);
    shift(random, out, m, host(matrix), Math.sqrt(v / chi2));
  },
});

const studentByFactor = student(
  (l) => l,
  (l) => l,
);
const studentByShape = student(cholesky, (s) => factorOf("multivariateStudentT", s));

/** Options of `multivariateStudentT`: degrees of freedom, centre, and one of two matrices. */
export interface MultivariateStudentOptions {
  /** ν, the degrees of freedom, above 0. */
  readonly degrees: Operand;
  /** The centre: a vector, or one number for all coordinates. Default 0. */
  readonly mean?: Operand;
  /** S. The covariance is ν/(ν − 2) times this and exists for ν > 2. */
  readonly shape?: Operand;
  /** L, lower triangular, S = L Lᵀ. */
  readonly cholesky?: Operand;
}

/** The multivariate Student's t distribution, given by the shape S or its Cholesky factor. */
export function multivariateStudentT(options: MultivariateStudentOptions): Distribution {
  const { degrees, mean = 0, shape, cholesky: factor } = options;
  const matrix = shape ?? factor;
  if (matrix === undefined || (shape !== undefined && factor !== undefined))
    fail(
      "usage",
      `multivariateStudentT: ${matrix === undefined ? "neither" : "both"} of \`shape\` and ` +
        "`cholesky` are given",
      "give exactly one of them",
    );
  return vectorDistribution(shape === undefined ? studentByFactor : studentByShape, [
    degrees,
    meanOf(mean, matrix as Operand),
    matrix as Operand,
  ]);
}
