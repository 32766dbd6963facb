/**
 * The metric of a chain, M⁻¹ = RRᵀ: momenta p = R⁻ᵀz ~ N(0, M) for z ~ N(0, 1), and their
 * velocities M⁻¹p = Rz. M⁻¹ has one of three forms:
 *
 *   diagonal   M⁻¹ = D                                    R = D^½
 *   dense      M⁻¹ row by row                             R = L, M⁻¹ = LLᵀ (Cholesky)
 *   low-rank   M⁻¹ = D^½ (I + U (Λ − I) Uᵀ) D^½           R = D^½ (I + U (Λ^½ − I) Uᵀ)
 *
 * U has few orthonormal columns. The square of the last bracket is I + U (Λ − I) Uᵀ, and its
 * inverse has Λ^−½ instead of Λ^½, because UᵀU = I.
 */
import { fail } from "../graph/index.ts";
import { cholesky, lowerTimes, upperSolve } from "../host/index.ts";

/** The values of `metric`; the unit matrix is not adapted. */
export const metrics = ["unit", "diagonal", "low-rank", "dense"] as const;
/**
 * The form of the inverse mass matrix M⁻¹: `unit` is not adapted, the others are estimated in the
 * warm-up.
 */
export type MetricName = (typeof metrics)[number];

/** The form in which M⁻¹ is stored. */
export type MetricForm = Exclude<MetricName, "unit">;

export const formOf = (name: MetricName): MetricForm => (name === "unit" ? "diagonal" : name);

/** The most columns of U. */
export const mostRank = (n: number): number => Math.min(n, 32);

/**
 * The shape of M⁻¹. In the low-rank form the first row is D and an unused number, and every other
 * row is D^½u and λ − 1, or zeros.
 */
export const inverseShape = (form: MetricForm, n: number): readonly number[] =>
  ({ diagonal: [n], dense: [n, n], "low-rank": [mostRank(n) + 1, n + 1] })[form];

export const inverseLength = (form: MetricForm, n: number): number =>
  inverseShape(form, n).reduce((a, b) => a * b, 1);

/** A column of U with its eigenvalue. */
export interface Stretch {
  /** u */
  readonly direction: Float64Array;
  /** D^½u */
  readonly scaled: Float64Array;
  /** λ − 1, λ^½ − 1, λ^−½ − 1 */
  readonly excess: { readonly square: number; readonly root: number; readonly inverse: number };
}

/** The low-rank form as one array, of shape `inverseShape`. */
export function packLowRank(
  diagonal: Float64Array,
  vectors: readonly { readonly value: number; readonly direction: Float64Array }[],
): Float64Array {
  const n = diagonal.length;
  const packed = new Float64Array(inverseLength("low-rank", n));
  packed.set(diagonal);
  vectors.forEach(({ value, direction }, k) => {
    const row = packed.subarray((k + 1) * (n + 1));
    for (let i = 0; i < n; i++) row[i] = Math.sqrt(diagonal[i]) * direction[i];
    row[n] = value - 1;
  });
  return packed;
}

/** The diagonal of M⁻¹ in the low-rank form, D + Σ (λ − 1) (D^½u)². */
export function lowRankDiagonal(packed: Float64Array, n: number): Float64Array {
  const found = packed.slice(0, n);
  for (let k = n + 1; k < packed.length; k += n + 1)
    for (let i = 0; i < n; i++) found[i] += packed[k + n] * packed[k + i] ** 2;
  return found;
}

function stretchesOf(packed: Float64Array, root: Float64Array): Stretch[] {
  const n = root.length;
  const found: Stretch[] = [];
  for (let k = 1; k <= mostRank(n); k++) {
    const scaled = packed.subarray(k * (n + 1), k * (n + 1) + n);
    const square = packed[k * (n + 1) + n];
    if (square === 0) continue;
    const lambda = Math.sqrt(1 + square);
    const excess = { square, root: lambda - 1, inverse: 1 / lambda - 1 };
    found.push({ scaled, direction: scaled.map((v, i) => v / root[i]), excess });
  }
  return found;
}

export class EuclideanMetric {
  readonly inverse: Float64Array;
  /** L, or the roots of D. */
  readonly root: Float64Array;
  /** The columns of the low-rank form; else empty. */
  readonly stretches: readonly Stretch[];
  readonly #form: MetricForm;

  constructor(inverse: Float64Array, n: number, form: MetricForm) {
    this.inverse = inverse;
    this.#form = form;
    this.root =
      form === "dense"
        ? (cholesky(inverse, n) ??
          fail(
            "numerical",
            "the learned mass matrix is not positive",
            'use metric "diagonal", or warm up longer',
          ))
        : inverse.slice(0, n).map(Math.sqrt);
    this.stretches = form === "low-rank" ? stretchesOf(inverse, this.root) : [];
  }

  /** p and M⁻¹p of z: Cov p = R⁻ᵀR⁻¹ = M. */
  momentum(z: Float64Array): { readonly momentum: Float64Array; readonly velocity: Float64Array } {
    const l = this.root;
    if (this.#form === "dense") return { momentum: upperSolve(l, z), velocity: lowerTimes(l, z) };
    const [shrunk, stretched] = [z.slice(), z.slice()];
    for (const { direction, excess } of this.stretches) {
      let along = 0;
      for (let i = 0; i < z.length; i++) along += direction[i] * z[i];
      for (let i = 0; i < z.length; i++) {
        shrunk[i] += excess.inverse * along * direction[i];
        stretched[i] += excess.root * along * direction[i];
      }
    }
    return {
      momentum: shrunk.map((v, i) => v / l[i]),
      velocity: stretched.map((v, i) => v * l[i]),
    };
  }
}

/**
 * The initial M⁻¹: the unit matrix, or in the low-rank form 1/|∇log p|, which has the right
 * magnitude if a coordinate is some standard deviations from its mean.
 */
export function firstMetric(slope: Float64Array, form: MetricForm): Float64Array {
  const n = slope.length;
  const inverse = new Float64Array(inverseLength(form, n));
  slope.forEach((g, i) => {
    inverse[form === "dense" ? i * (n + 1) : i] =
      form === "low-rank" ? 1 / Math.min(1e10, Math.max(1e-10, Math.abs(g))) : 1;
  });
  return inverse;
}
