/** diffeo/host: what is done on arrays of the host, without a graph. */
export { quantile } from "./quantile.ts";
export { batches, partsOf, rowsOf, stacked } from "./rows.ts";
export { rightSvd, type Svd } from "./svd.ts";
