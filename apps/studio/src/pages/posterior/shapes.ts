/** What the page of posteriors and its worker tell each other. */
export interface Ask {
  readonly model: string;
  readonly data: string;
  readonly seed: number;
}

/** One number of a posterior, an array per chain. */
export interface Quantity {
  readonly name: string;
  readonly chains: readonly Float64Array[];
}

interface Row {
  readonly name: string;
  readonly mean: number;
  readonly sd: number;
  readonly q5: number;
  readonly q95: number;
  readonly ess: number;
  readonly rhat: number;
}

/** Chains on their way. */
export interface Progress {
  readonly drawn: number;
  readonly rows: readonly Row[];
  /** Those with the fewest effective draws first. */
  readonly quantities: readonly Quantity[];
}

/** An observation, and what the model predicts for it. */
export interface Predicted {
  readonly name: string;
  readonly observed: readonly number[];
  readonly low: readonly number[];
  readonly middle: readonly number[];
  readonly high: readonly number[];
}

export interface Answer {
  readonly warnings: readonly string[];
  readonly predicted: readonly Predicted[];
  readonly seconds: number;
}

/** Draws of a chain that are reported to the page; the last one is all of them. */
export const STAGES = [100, 200, 400, 700, 1000];
export const CHAINS = 4;
export const WARMUP = 500;
