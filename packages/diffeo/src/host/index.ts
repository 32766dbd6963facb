/** diffeo/host: what is done on arrays of the host, without a graph. */

export { byName } from "./by-name.ts";
export { cholesky, lowerSolve, lowerTimes, upperSolve } from "./cholesky.ts";
export { type Closable, disposable } from "./disposable.ts";
export { flatten } from "./flat.ts";
export { moveOtherRows, requireIndependentRows } from "./independent-rows.ts";
export { type FeatureRows, linearScores, logisticRegression } from "./logistic.ts";
export { mean, sumOfSquares } from "./moments.ts";
export { normalPoint, normalShare } from "./normal.ts";
export { quantile, quantiles } from "./quantile.ts";
export { mapValues } from "./records.ts";
export {
  batches,
  concatArrays,
  partsOf,
  pickRows,
  rowsOf,
  stackArrays,
  transposed,
} from "./rows.ts";
export { sortedWithOrder } from "./sorted.ts";
export { rightSvd, type Svd } from "./svd.ts";
