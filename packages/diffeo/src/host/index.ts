/** diffeo/host: computations on arrays of the host, without graphs. */

export type { Closable } from "./disposable.ts";

// For other packages of this repository; published types leave them out.

/** @internal */
export { byName } from "./by-name.ts";
/** @internal */
export { cholesky, lowerSolve, lowerTimes, upperSolve } from "./cholesky.ts";
/** @internal */
export { disposable } from "./disposable.ts";
/** @internal */
export { flatten } from "./flat.ts";
/** @internal */
export { moveOtherRows, requireIndependentRows } from "./independent-rows.ts";
/** @internal */
export { type FeatureRows, linearScores, logisticRegression } from "./logistic.ts";
/** @internal */
export { mean, sumOfSquares } from "./moments.ts";
/** @internal */
export { normalPoint, normalShare } from "./normal.ts";
/** @internal */
export { quantile, quantiles } from "./quantile.ts";
/** @internal */
export { mapValues } from "./records.ts";
/** @internal */
export {
  batches,
  concatArrays,
  partsOf,
  pickRows,
  rowsOf,
  stackArrays,
  transposed,
} from "./rows.ts";
/** @internal */
export { sortedWithOrder } from "./sorted.ts";
/** @internal */
export { finish, finishInTurns, type Steps, takeTurn } from "./steps.ts";
/** @internal */
export { rightSvd, rightSvdSteps, type Svd } from "./svd.ts";
