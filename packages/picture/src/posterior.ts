/** diffeo-picture/posterior. Pictures of posteriors: traces, ranks, pairs, predictive checks. */

export type { Quantity } from "./chains.ts";
export { pairsPicture } from "./pairs.ts";
export { type Predictive, predictivePicture } from "./predictive.ts";
export { rankPicture, ranksPicture } from "./ranks.ts";
export { tracePicture } from "./traces.ts";
