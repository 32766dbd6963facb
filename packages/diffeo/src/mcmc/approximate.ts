/**
 * A posterior as a Gaussian in free coordinates, pushed through φ to the parameters' own (A.
 * Kucukelbir et al., 2017):
 *
 *   q(y) = N(φ⁻¹(y); m, Σ) |det J_{φ⁻¹}(y)|
 *
 * fitted by matching scores or by the evidence bound (gaussian-fit.ts), both of which ask for
 * slopes of log p alone, or along the paths of an optimiser (pathfinder.ts). How far it is to be trusted is said by k̂ of the ratios p/q (pareto.ts).
 * It is a start for chains:
 *
 *     const approximation = await approximate(model, { key: key(1), data });
 *     const posterior = await samplePosterior(model, { key: key(2), data, start: approximation });
 */
import { type CompileOptions, compile } from "../engine/index.ts";
import { fail, gradEach, type Tensor } from "../graph/index.ts";
import { mean, moveOtherRows, requireIndependentRows, sumOfSquares } from "../host/index.ts";
import { fold, type Key, normal } from "../random/index.ts";
import { pauses } from "../sampler/pauses.ts";
import { type Data, dataArrays } from "./data.ts";
import type { Summary } from "./diagnostics.ts";
import {
  climbEvidence,
  covarianceOf,
  type Gaussian,
  matchBatch,
  matchEach,
  matchedNormals,
  pointFrom,
  type Slopes,
} from "./gaussian-fit.ts";
import {
  type BoundModel,
  boundModel,
  type PosteriorDraws,
  type PosteriorModel,
  placeInWords,
} from "./model.ts";
import { paretoShape } from "./pareto.ts";
import { pathfinder, resampled } from "./pathfinder.ts";
import { type Start, summaryOf } from "./sample-posterior.ts";

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
  /** Paths of `pathfinder`, each from a point of its own. Default 8. */
  readonly paths?: number;
  /** Draws to judge it by, and to give. Default 2,000. */
  readonly draws?: number;
  readonly signal?: AbortSignal;
}

/** A Gaussian approximation of a posterior, with what tells how good it is. */
export interface Approximation extends Start, Gaussian {
  /** Σ, row by row, in free coordinates. */
  readonly covariance: Float64Array;
  /** E_q[log p − log q] and its standard error: a bound of the logarithm of ∫p from below. */
  readonly evidence: number;
  readonly evidenceError: number;
  /** k̂ of p/q. */
  readonly khat: number;
  /** Draws of q by name, [1, draws, …]. */
  readonly draws: Readonly<Record<string, PosteriorDraws>>;
  readonly summary: () => Readonly<Record<string, Summary>>;
  /** What a reader should know first, in words; none where all is well. */
  readonly warnings: () => readonly string[];
}

/** Above it no usual number of draws corrects what q misses; fewer draws can tell less. */
const worst = (draws: number): number => Math.min(0.7, 1 - 1 / Math.log10(draws));

type Look = (x: readonly Float64Array[]) => Promise<{ value: Float64Array; slope: Float64Array[] }>;

/**
 * Steps along the evidence bound before scores are matched: from far away matching is ever slower.
 */
const NEAR = 100;

/** q after step t of matching scores, where it can be taken. */
function matched(fit: FitName, q: Gaussian, slopes: Slopes, t: number): Gaussian | undefined {
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
async function climb(look: Look, model: BoundModel, options: Settings): Promise<Gaussian> {
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
async function matchScores(look: Look, model: BoundModel, options: Settings): Promise<Gaussian> {
  const { key, fit, iterations, batch, signal } = options;
  let q = await climb(look, model, { ...options, iterations: NEAR });
  const pause = pauses();
  let lost = 0;
  for (let t = 0; t < iterations; t++) {
    signal?.throwIfAborted();
    await pause();
    const { slopes } = await points(look, q, fold(fold(key, "fit"), t), batch);
    const next = slopes.x.length > 1 ? matched(fit, q, slopes, t) : undefined;
    if (!next && ++lost > LOST) await lostFit(model, q, t);
    q = next ?? { mean: q.mean, factor: q.factor.map((v) => v / 2) };
  }
  return q;
}

/** Points of n numbers after each other. */
function flat(points: readonly Float64Array[]): Float64Array {
  const [{ length: n }] = points;
  const rows = new Float64Array(points.length * n);
  points.forEach((point, i) => {
    rows.set(point, i * n);
  });
  return rows;
}

const standard = (n: number): Gaussian => ({
  mean: new Float64Array(n),
  factor: Float64Array.from({ length: n * n }, (_, i) => (i % (n + 1) === 0 ? 1 : 0)),
});

type Settings = Required<Pick<ApproximateOptions, "key" | "fit" | "iterations" | "batch">> &
  Pick<ApproximateOptions, "signal">;

/** log q at m + L z. */
const logDensityOf = ({ mean, factor }: Gaussian, z: Float64Array): number => {
  const n = mean.length;
  let total = -0.5 * n * Math.log(2 * Math.PI);
  for (let i = 0; i < n; i++) total -= Math.log(factor[i * (n + 1)]) + 0.5 * z[i] ** 2;
  return total;
};

/** An approximation with what its draws and its k̂ say. */
function described(
  q: Gaussian,
  judged: Pick<Approximation, "khat" | "evidence" | "evidenceError">,
  draws: Approximation["draws"],
  point: Start["point"],
): Approximation {
  const [{ shape }] = Object.values(draws);
  const bound = worst(shape[1]);
  return {
    ...q,
    ...judged,
    covariance: covarianceOf(q),
    draws,
    summary: () => summaryOf(draws),
    warnings: () =>
      judged.khat > bound
        ? [
            `k̂ is ${judged.khat.toFixed(2)}, above ${bound.toFixed(2)}: the approximation misses part of the posterior, and its draws are not to be trusted. Let it start chains, samplePosterior(model, { start: approximation }), or write the model in other parameters.`,
          ]
        : [],
    point,
  };
}

/**
 * Fits a Gaussian in free coordinates to a posterior and judges it by k̂ and the evidence.
 *
 * @throws DiffeoError of kind `numerical` where the fit does not stay finite
 */
export async function approximate(
  model: PosteriorModel,
  options: ApproximateOptions,
): Promise<Approximation> {
  const {
    key,
    data = {},
    draws = 2000,
    iterations = 200,
    device,
    threads = 1,
    fit = "evidence",
    paths = 8,
    signal,
  } = options;
  if (!fits.includes(fit))
    fail("usage", `there is no \`fit\` "${fit}"`, `use one of ${fits.join(", ")}`);
  const bound = boundModel(model, data, dataArrays(data, model.data), false, {
    ...options,
    row: "draw",
  });
  const n = bound.space.dimension;
  const { batch = 2 * Math.ceil(Math.max(32, 4 * n) / 2) } = options;
  if (!(Number.isSafeInteger(batch) && batch % 2 === 0 && batch >= 2 * n + 2))
    fail(
      "usage",
      `\`batch\` is ${batch} for ${n} coordinates`,
      `give an even number, at least ${2 * n + 2}`,
    );
  if (!(Number.isSafeInteger(draws) && draws >= 100))
    fail("usage", `\`draws\` is ${draws}`, "give at least 100: fewer tell nothing of tails");
  const f = (x: Tensor): Tensor => bound.target.logDensity(x, {});
  const run = compile((x: Tensor) => ({ value: f(x), slope: gradEach(f)(x) }), [[null, n]], {
    type: "float64",
    threads,
    device,
  });
  const look: Look = async (x) => {
    const { value, slope } = await run(flat(x));
    const rows = slope.data as Float64Array;
    return {
      value: value.data as Float64Array,
      slope: x.map((_, b) => rows.slice(b * n, (b + 1) * n)),
    };
  };
  try {
    const rows = flat(matchedNormals(fold(key, "apart"), batch, n));
    const of = async (x: Float64Array) => ({
      "the log-density": (await run(x)).value.data as Float64Array,
    });
    const [some, others] = moveOtherRows(rows, n);
    requireIndependentRows(await of(rows), [await of(some), await of(others)], batch, "draw");
    if (fit === "pathfinder") {
      if (!(Number.isSafeInteger(paths) && paths >= 1))
        fail("usage", `\`paths\` is ${paths}`, "give an integer from 1");
      const found = await pathfinder(look, n, { key, paths, iterations, draws, signal });
      if (!found)
        return fail(
          "numerical",
          "no path of pathfinder has found a Gaussian",
          "see that the log-density is finite and smooth inside the parameters' domains",
        );
      const { best, khat, evidence, evidenceError } = found;
      const shown = await bound.show([flat(resampled(found, fold(key, "draws"), draws))]);
      const point: Start["point"] = (own) => resampled(found, own, 1)[0];
      return described(best, { khat, evidence, evidenceError }, shown, point);
    }
    const q = await (fit === "evidence" ? climb : matchScores)(look, bound, {
      ...options,
      fit,
      iterations,
      batch,
    });
    const noise = normal(fold(key, "draws"), [draws, n], { dtype: "float64" }).data;
    const z = Array.from({ length: draws }, (_, i) => noise.subarray(i * n, (i + 1) * n));
    const x = z.map((each) => pointFrom(q, each));
    const { value } = await look(x);
    const ratios = value.map((p, i) => p - logDensityOf(q, z[i]));
    const khat = paretoShape(ratios.map((r) => (Number.isNaN(r) ? Number.NEGATIVE_INFINITY : r)));
    const evidence = mean(ratios);
    const spread = Math.sqrt(sumOfSquares(ratios, evidence) / (draws - 1));
    return described(
      q,
      { khat, evidence, evidenceError: spread / Math.sqrt(draws) },
      await bound.show([flat(x)]),
      (own) => pointFrom(q, normal(own, [n], { dtype: "float64" }).data),
    );
  } finally {
    await run.dispose();
    await bound.dispose();
  }
}
