/**
 * The metric of a chain: M⁻¹ = LLᵀ, momenta p = L⁻ᵀz ~ N(0, M) for z ~ N(0, 1), and their
 * velocities M⁻¹p = Lz.
 */
import { fail } from "../graph/index.ts";
import { cholesky, lowerTimes, upperSolve } from "../host/index.ts";

/** What M⁻¹ is learned as: the unit matrix is not learned at all. */
export const metrics = ["unit", "diagonal", "dense"] as const;
/** The name of what is learned of the mass matrix. */
export type MetricName = (typeof metrics)[number];

export class EuclideanMetric {
  readonly inverse: Float64Array;
  /** L, or its diagonal. */
  readonly root: Float64Array;
  readonly #dense: boolean;

  constructor(inverse: Float64Array, n: number, dense: boolean) {
    this.inverse = inverse;
    this.#dense = dense;
    this.root = dense
      ? (cholesky(inverse, n) ??
        fail(
          "numerical",
          "the learned mass matrix is not positive",
          'use metric "diagonal", or warm up longer',
        ))
      : inverse.map(Math.sqrt);
  }

  /** p and M⁻¹p of z: Cov p = L⁻ᵀL⁻¹ = M. */
  momentum(z: Float64Array): { readonly momentum: Float64Array; readonly velocity: Float64Array } {
    const l = this.root;
    return this.#dense
      ? { momentum: upperSolve(l, z), velocity: lowerTimes(l, z) }
      : { momentum: z.map((v, i) => v / l[i]), velocity: z.map((v, i) => v * l[i]) };
  }
}

/** M⁻¹ = 1, as a matrix or as its diagonal. */
export const unitMatrix = (n: number, dense: boolean): Float64Array =>
  Float64Array.from({ length: dense ? n * n : n }, (_, i) => (!dense || i % (n + 1) === 0 ? 1 : 0));
