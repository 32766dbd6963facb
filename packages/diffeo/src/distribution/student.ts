/**
 * Student's t in n dimensions with ν degrees of freedom, centre μ and shape S = QΛQᵀ: the Gaussian
 * N(μ, S) with its deviation divided by √(χ²_ν/ν). With δ² = (x − μ)ᵀS⁻¹(x − μ):
 *
 *   log p = log Γ((ν+n)/2) − log Γ(ν/2) − (n/2) log νπ − ½ log det S − ((ν+n)/2) log(1 + δ²/ν)
 *   ∇ log p = −(ν + n)/(ν + δ²) S⁻¹(x − μ)
 *
 * Its tails fall like a power of ‖x‖, so its score decreases with distance, while that of a
 * Gaussian grows.
 */
import {
  add,
  constant,
  div,
  expandDims,
  fail,
  log1p,
  mul,
  neg,
  type Operand,
  sub,
  sum,
  type Tensor,
} from "../graph/index.ts";
import { fold, sequence } from "../random/index.ts";
import { type Distribution, vectors } from "./distribution.ts";
import { logStudentPeak } from "./gamma.ts";
import { alongAxes, drawEllipse, fromAxes } from "./gaussian.ts";
import { studentTOf } from "./line.ts";
import { type Covariance, principalAxes } from "./principal.ts";
import { isNamed } from "./univariate.ts";
import { gammaVariate } from "./variates.ts";

/** Options of `studentT` for vectors. */
export interface StudentOptions {
  /** ν, the degrees of freedom, above 0. */
  readonly degrees: number;
  readonly mean: readonly number[];
  /** S. Default 1. The covariance is ν/(ν − 2) times this and exists for ν > 2. */
  readonly shape?: Covariance;
}

/**
 * Student's t distribution: of numbers, `studentT(degrees, location, scale)`, or of vectors with
 * its marginals along a process, `studentT({ degrees, mean, shape })`.
 */
export function studentT(degrees: Operand, location?: Operand, scale?: Operand): Distribution;
export function studentT(options: StudentOptions): Distribution;
export function studentT(
  first: StudentOptions | Operand,
  location: Operand = 0,
  scale: Operand = 1,
): Distribution {
  return isNamed<StudentOptions>(first, "degrees")
    ? ofVectors(first)
    : studentTOf(first, location, scale);
}

function ofVectors({ degrees, mean, shape = 1 }: StudentOptions): Distribution {
  if (!(degrees > 0 && Number.isFinite(degrees)))
    fail("usage", `studentT: \`degrees\` is ${degrees}`, "use a positive number");
  const n = mean.length;
  const principal = principalAxes(shape, n, "studentT");
  const logVolume = principal.variances.reduce((s, v) => s + Math.log(v), 0) / 2;
  const constantTerm = logStudentPeak(degrees, n) - logVolume;
  /** z = Qᵀ(x − μ), z/Λ and δ². */
  const parts = (x: Tensor) => {
    const z = alongAxes(principal, sub(x, constant(mean, x.dtype)));
    const scaled = div(z, constant(principal.variances, x.dtype));
    return { scaled, distance: sum(mul(z, scaled), -1) };
  };
  return {
    ...vectors("student-t", n, (keys) => {
      const own = fold(keys, "gamma");
      const chi = (row: number): number => 2 * gammaVariate(sequence(own, row), degrees / 2);
      return drawEllipse(keys, mean, principal, (row) => Math.sqrt(degrees / chi(row)));
    }),
    logDensity: (x) => {
      const { distance } = parts(x);
      return add(mul(log1p(mul(distance, 1 / degrees)), -(degrees + n) / 2), constantTerm);
    },
    score: (x) => {
      const { scaled, distance } = parts(x);
      const pull = div(degrees + n, add(distance, degrees));
      return neg(mul(fromAxes(principal, scaled), expandDims(pull, -1)));
    },
  };
}
