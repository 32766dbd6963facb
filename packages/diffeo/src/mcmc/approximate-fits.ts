/** Fits a Gaussian to a log-density by matching scores or by the evidence bound. */
import type { CompileOptions } from "../engine/index.ts";
import { fail } from "../graph/index.ts";
import { mean, sumOfSquares } from "../host/index.ts";
import { fold, type Key } from "../random/index.ts";
import { pauses } from "../sampler/pauses.ts";
import type { Data } from "./data.ts";
import {
  climbEvidence,
  type Gaussian,
  matchBatch,
  matchEach,
  matchedNormals,
  pointFrom,
  type Slopes,
} from "./gaussian-fit.ts";
import { type BoundModel, placeInWords } from "./model.ts";

/** The methods of fitting an approximation, by name. */
export const fits = ["batchAndMatch", "scoreMatching", "evidence", "pathfinder"] as const;
/** The name of a method of fitting an approximation; see `fit` of `ApproximateOptions`. */
export type FitName = (typeof fits)[number];

/** Options of `approximate`. */
export interface ApproximateOptions extends Pick<CompileOptions, "device" | "threads"> {
  readonly key: Key;
  readonly data?: Data;
  /**
   * `evidence` (default) maximises the evidence lower bound and is the most robust far from the
   * mode; `scoreMatching` and `batchAndMatch` match the scores of log p; `pathfinder` keeps the
   * best Gaussian along paths of an optimiser.
   */
  readonly fit?: FitName;
  /** Iterations of the fit. Default 200. */
  readonly iterations?: number;
  /**
   * Points per iteration, an even number. Default: the greater of 32 and 4n, for n free
   * coordinates.
   */
  readonly batch?: number;
  /** Number of paths of `pathfinder`; each starts at its own random point. Default 8. */
  readonly paths?: number;
  /**
   * Draws from the approximation: they are returned, and k̂ and the evidence are computed from
   * them. At least 100, default 2,000.
   */
  readonly draws?: number;
  readonly signal?: AbortSignal;
}

export type Look = (
  x: readonly Float64Array[],
) => Promise<{ value: Float64Array; slope: Float64Array[] }>;

/**
 * Steps along the evidence bound before scores are matched: matching converges slowly from far
 * away.
 */
const NEAR = 100;

/** q after step t of matching scores; undefined where the step fails. */
function matchSlopes(fit: FitName, q: Gaussian, slopes: Slopes, t: number): Gaussian | undefined {
  if (fit === "scoreMatching") return matchEach(q, slopes);
  return matchBatch(q, slopes, (slopes.x.length * q.mean.length) / (t + 1));
}

/**
 * A batch of points of q, those where log p and its slope are finite, and the evidence bound
 * estimated from them.
 */
async function points(look: Look, q: Gaussian, key: Key, batch: number) {
  const n = q.mean.length;
  const z = matchedNormals(key, batch, n);
  const x = z.map((each) => pointFrom(q, each));
  const { value, slope } = await look(x);
  const kept = x.flatMap((_, b) =>
    Number.isFinite(value[b]) && slope[b].every(Number.isFinite) ? [b] : [],
  );
  const pick = <T>(rows: ArrayLike<T>): T[] => kept.map((b) => rows[b]);
  const values = pick(value);
  const centre = mean(values);
  const spread = sumOfSquares(values, centre) / values.length;
  const volume = q.mean.reduce((total, _, i) => total + Math.log(q.factor[i * (n + 1)]), 0);
  return {
    slopes: { z: pick(z), x: pick(x), slope: pick(slope) } satisfies Slopes,
    evidence: centre + volume,
    error: Math.sqrt(spread / values.length),
  };
}

type Points = Awaited<ReturnType<typeof points>>;

const LOST = 50;

const lostFit = async (model: BoundModel, { mean }: Gaussian, t: number): Promise<never> =>
  fail(
    "numerical",
    `the fit failed after ${t} iterations: the log-density or its slope is not finite around ` +
      `${await placeInWords(model, mean)}`,
    "make it finite inside the parameters' domains, or use samplePosterior",
  );

/**
 * Maximises the evidence bound: full steps at first, smaller ones later, which average over the
 * noise of the points. A step to a point where log p is not finite, or that decreases the bound by
 * more than its noise, is undone and repeated with half the length.
 */
export async function climb(look: Look, model: BoundModel, options: Settings): Promise<Gaussian> {
  const { key, iterations, batch, signal } = options;
  const pause = pauses();
  let q = standard(model.space.dimension);
  let [before, from]: [Points | undefined, Gaussian] = [undefined, q];
  let [share, lost] = [1, 0];
  for (let t = 0; t < iterations; t++) {
    signal?.throwIfAborted();
    await pause();
    const here = await points(look, q, fold(fold(key, "fit"), t), batch);
    const fallen =
      before && !(here.evidence > before.evidence - 1 - 4 * (here.error + before.error));
    if (here.slopes.x.length < batch || fallen) {
      if (++lost > LOST) await lostFit(model, q, t);
      share /= 2;
      if (!before) from = { mean: q.mean, factor: q.factor.map((v) => v / 2) };
    } else {
      [before, from] = [here, q];
      share = Math.min(1, 1.5 * share);
    }
    const rate = share * Math.min(1, (20 / (t + 1)) ** 0.7);
    q = (before && climbEvidence(from, before.slopes, rate)) ?? from;
  }
  // The last step has not been evaluated; the one before it has.
  return from;
}

/**
 * Matches scores, starting close to the mode. Points where log p is not finite are left out; if
 * there are too many of them, q is narrowed.
 */
export async function matchScores(
  look: Look,
  model: BoundModel,
  options: Settings,
): Promise<Gaussian> {
  const { key, fit, iterations, batch, signal } = options;
  let q = await climb(look, model, { ...options, iterations: NEAR });
  const pause = pauses();
  let lost = 0;
  for (let t = 0; t < iterations; t++) {
    signal?.throwIfAborted();
    await pause();
    const { slopes } = await points(look, q, fold(fold(key, "fit"), t), batch);
    const next = slopes.x.length > 1 ? matchSlopes(fit, q, slopes, t) : undefined;
    if (!next && ++lost > LOST) await lostFit(model, q, t);
    q = next ?? { mean: q.mean, factor: q.factor.map((v) => v / 2) };
  }
  return q;
}

const standard = (n: number): Gaussian => ({
  mean: new Float64Array(n),
  factor: Float64Array.from({ length: n * n }, (_, i) => (i % (n + 1) === 0 ? 1 : 0)),
});

type Settings = Required<Pick<ApproximateOptions, "key" | "fit" | "iterations" | "batch">> &
  Pick<ApproximateOptions, "signal">;
