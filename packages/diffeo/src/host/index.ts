/** diffeo/host: what is done on arrays of the host, without a graph. */
export { othersMoved, requireApart } from "./apart.ts";
export { byName } from "./by-name.ts";
export { cholesky, lowerSolve, lowerTimes, upperSolve } from "./cholesky.ts";
export { flatten } from "./flat.ts";
export { type FeatureRows, linearScores, logisticRegression } from "./logistic.ts";
export { mean, sumOfSquares } from "./moments.ts";
export { normalPoint, normalShare } from "./normal.ts";
export { quantile, quantiles } from "./quantile.ts";
export { mapValues } from "./records.ts";
export { batches, joined, partsOf, pickRows, rowsOf, stacked, transposed } from "./rows.ts";
export { sortedWithOrder } from "./sorted.ts";
export { rightSvd, type Svd } from "./svd.ts";
