/** Fits of a Gaussian to a log-density: by matching scores or by the evidence bound. */
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

/** The ways to fit an approximation, by name. */
export const fits = ["batchAndMatch", "scoreMatching", "evidence", "pathfinder"] as const;
/** The name of a way to fit an approximation. */
export type FitName = (typeof fits)[number];

/** How a Gaussian approximation is fitted and judged. */
export interface ApproximateOptions extends Pick<CompileOptions, "device" | "threads"> {
  readonly key: Key;
  readonly data?: Data;
  /** Default evidence, the surest from far away. */
  readonly fit?: FitName;
  /** Steps of the fit. Default 200. */
  readonly iterations?: number;
  /** Points a step. Default 32 or 4n, whichever is more. */
  readonly batch?: number;
  /** Paths of `pathfinder`, which start at different points. Default 8. */
  readonly paths?: number;
  /** Draws to judge it by, and to give. Default 2,000. */
  readonly draws?: number;
  readonly signal?: AbortSignal;
}

export type Look = (
  x: readonly Float64Array[],
) => Promise<{ value: Float64Array; slope: Float64Array[] }>;

/**
 * Steps along the evidence bound before scores are matched: from far away matching is ever slower.
 */
const NEAR = 100;

/** q after step t of matching scores, where it can be taken. */
function matchSlopes(fit: FitName, q: Gaussian, slopes: Slopes, t: number): Gaussian | undefined {
  if (fit === "scoreMatching") return matchEach(q, slopes);
  return matchBatch(q, slopes, (slopes.x.length * q.mean.length) / (t + 1));
}

/**
 * A batch of points of q, those where log p and its slope are finite, and what the evidence bound
 * is from them.
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
    `the fit is lost after ${t} steps: the log-density or its slope is not finite around ${await placeInWords(model, mean)}`,
    "see that it is finite inside the parameters' domains, or use samplePosterior",
  );

/**
 * Climbs the evidence bound: whole steps at first, smaller ones later, which average over the noise
 * of points. A step to where log p is not finite, or that falls by more than chance, is taken back
 * and tried half as long.
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
  // The last step has not been looked at; the one before it has.
  return from;
}

/**
 * Matches scores from near. Points where log p is not finite are left out; where too many are, q is
 * drawn together.
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
