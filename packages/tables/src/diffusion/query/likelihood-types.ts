/** What the likelihood of a flow takes. */

import type { Tensor } from "diffeo/graph";
import type { Pattern } from "../encode/index.ts";

/** v̂ of rows of n numbers, under a name of its own. */
export interface Field {
  readonly name: string;
  readonly n: number;
  /** Numbers next to each row that `predict` takes. Default none. */
  readonly side?: number;
  readonly predict: (x: Tensor, lambda: Tensor, beside?: Tensor) => Tensor;
}

/** Points x, row-major, with their patterns where these have missing values. */
export interface FieldRows {
  readonly x: Float64Array;
  readonly patterns?: readonly Pattern[];
}

export interface FlowOptions {
  /** Evaluations of the network a row. Default: 100, or as many more as the tolerance takes. */
  readonly evaluations?: number;
  /**
   * The mean error of log p in nats that is allowed where evaluations are not set. Default 10⁻³.
   */
  readonly tolerance?: number;
  /**
   * Random directions per row that the divergence is estimated by, where a row has more
   * coordinates: for wide tables, and not exact. Default: the divergence is exact.
   */
  readonly probes?: number;
  readonly signal?: AbortSignal;
}
