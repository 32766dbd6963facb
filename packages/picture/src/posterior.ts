/** diffeo-picture/posterior. Pictures of posteriors: traces, ranks, pairs, predictive checks. */

export type { Quantity } from "./posterior/chains.ts";
export { pairsPicture } from "./posterior/pairs.ts";
export { type Predictive, predictivePicture } from "./posterior/predictive.ts";
export { rankPicture, ranksPicture } from "./posterior/ranks.ts";
export { tracePicture } from "./posterior/traces.ts";
