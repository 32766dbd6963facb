/**
 * The isometric log-ratio map: x are coordinates of clr(y) = log y − mean(log y) in an orthonormal
 * basis V of the vectors that sum to 0, for the n + 1 shares (y₁ … y_n, y₀ = 1 − Σy).
 *
 *   (y, y₀) = softmax(V x)     x = Vᵀ log(y, y₀)
 *
 * Distances in x are Aitchison distances of y. V is Helmert's: column j is (1, …, 1, −j, 0,
 * …)/√(j(j + 1)).
 */
import { constant } from "../graph/index.ts";
import { additiveLogistic } from "./additive-logistic.ts";
import { linearMap } from "./affine.ts";
import type { Bijector } from "./bijector.ts";
import { chain } from "./chain.ts";

/** The entry of V in row i and column k, both from 0. */
export function helmertEntry(i: number, k: number): number {
  const j = k + 1;
  return (i < j ? 1 : i === j ? -j : 0) / Math.sqrt(j * (j + 1));
}

/** V, n + 1 rows of n. */
const helmert = (n: number): number[][] =>
  Array.from({ length: n + 1 }, (_, i) => Array.from({ length: n }, (_, k) => helmertEntry(i, k)));

/**
 * The isometric log-ratio map onto the open simplex {y > 0, Σy < 1}: distances in x are Aitchison
 * distances of y.
 *
 * Softmax ignores a common shift, so it is the additive logistic map of V x minus its last entry:
 * φ = alr ∘ A with A = V₁…ₙ − 1·Vₙ₊₁. The inverse of A is V₁…ₙᵀ: Vᵀ of (z, 0) shifted by any
 * constant, because VᵀV = I and Vᵀ1 = 0.
 */
export function isometricLogRatio(): Bijector {
  const rotate = linearMap(
    "Helmert",
    (x) => {
      const v = helmert(x.shape.at(-1) as number);
      const last = v.at(-1) as number[];
      return constant(
        v.slice(0, -1).map((row) => row.map((entry, k) => entry - last[k])),
        x.dtype,
      );
    },
    (a) => {
      const v = helmert(a.shape[0]).slice(0, -1);
      return constant(
        v.map((_, k) => v.map((row) => row[k])),
        a.dtype,
      );
    },
  );
  return { ...chain(rotate, additiveLogistic()), name: "isometric log-ratio" };
}
