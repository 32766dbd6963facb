/** The messages between the page of posteriors and its worker. */
export interface RunRequest {
  readonly model: string;
  readonly data: string;
  readonly seed: number;
}

/** One scalar quantity of a posterior, with an array of draws per chain. */
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

/** The chains so far. */
export interface Progress {
  readonly drawn: number;
  readonly rows: readonly Row[];
  /** Fewest effective draws first. */
  readonly quantities: readonly Quantity[];
}

/** Observations, and quantiles of their predictions. */
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

/** Numbers of draws per chain at which progress is reported; the last is the length of the run. */
export const STAGES = [100, 200, 400, 700, 1000];
export const CHAINS = 4;
export const WARMUP = 500;
