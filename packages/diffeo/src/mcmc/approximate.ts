/**
 * Approximates a posterior by a Gaussian in free coordinates, mapped by φ to the parameters'
 * domains (A. Kucukelbir et al., 2017):
 *
 *   q(y) = N(φ⁻¹(y); m, Σ) |det J_{φ⁻¹}(y)|
 *
 * It is fitted by matching scores or by the evidence bound (gaussian-fit.ts), both of which need
 * only gradients of log p, or along the paths of an optimiser (pathfinder.ts). k̂ of the ratios p/q
 * measures its quality (pareto.ts). Chains can start from it:
 *
 *     const approximation = await approximate(model, { key: key(1), data });
 *     const posterior = await samplePosterior(model, { key: key(2), data, start: approximation });
 */
import { compile } from "../engine/index.ts";
import { fail, gradEach, type Tensor } from "../graph/index.ts";
import { mean, moveOtherRows, requireIndependentRows, sumOfSquares } from "../host/index.ts";
import { fold, type Key, normal } from "../random/index.ts";
import {
  type ApproximateOptions,
  climb,
  type FitName,
  fits,
  type Look,
  matchScores,
} from "./approximate-fits.ts";
import { dataArrays } from "./data.ts";
import type { Summary } from "./diagnostics.ts";
import { covarianceOf, type Gaussian, matchedNormals, pointFrom } from "./gaussian-fit.ts";
import { type BoundModel, boundModel, type PosteriorDraws, type PosteriorModel } from "./model.ts";
import { paretoShape } from "./pareto.ts";
import { pathfinder, resampled } from "./pathfinder.ts";
import { summaryOf } from "./sample-posterior.ts";
import type { Start } from "./starting-points.ts";

/** A Gaussian approximation of a posterior in free coordinates, with measures of its quality. */
export interface Approximation extends Start, Gaussian {
  /** Σ in free coordinates, row by row. */
  readonly covariance: Float64Array;
  /** The evidence lower bound E_q[log p − log q] ≤ log ∫ p, estimated from the draws. */
  readonly evidence: number;
  /** The standard error of `evidence`. */
  readonly evidenceError: number;
  /** k̂, the Pareto shape of the ratios p/q. Above 0.7 the draws are not reliable. */
  readonly khat: number;
  /** Draws of q by name, [1, draws, …]. */
  readonly draws: Readonly<Record<string, PosteriorDraws>>;
  readonly summary: () => Readonly<Record<string, Summary>>;
  /** Problems with the approximation, in sentences; empty if none was found. */
  readonly warnings: () => readonly string[];
}

/** The k̂ above which importance sampling fails in practice; it is lower for fewer draws. */
const worst = (draws: number): number => Math.min(0.7, 1 - 1 / Math.log10(draws));

/** Concatenates points of n numbers. */
function flat(points: readonly Float64Array[]): Float64Array {
  const [{ length: n }] = points;
  const rows = new Float64Array(points.length * n);
  points.forEach((point, i) => {
    rows.set(point, i * n);
  });
  return rows;
}

/** log q at m + L z. */
const logDensityOf = ({ mean, factor }: Gaussian, z: Float64Array): number => {
  const n = mean.length;
  let total = -0.5 * n * Math.log(2 * Math.PI);
  for (let i = 0; i < n; i++) total -= Math.log(factor[i * (n + 1)]) + 0.5 * z[i] ** 2;
  return total;
};

/** An approximation with its draws, their summary and its warnings. */
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
            `k̂ is ${judged.khat.toFixed(2)}, above ${bound.toFixed(2)}: the approximation ` +
              "misses part of the posterior, so do not rely on its draws. Use it as the start " +
              "of chains, samplePosterior(model, { start: approximation }), or reparameterise " +
              "the model.",
          ]
        : [],
    point,
  };
}

/** The batch size of a fit in n coordinates. */
function batchOf({ batch }: ApproximateOptions, n: number): number {
  const size = batch ?? 2 * Math.ceil(Math.max(32, 4 * n) / 2);
  if (!(Number.isSafeInteger(size) && size % 2 === 0 && size >= 2 * n + 2))
    fail(
      "usage",
      `\`batch\` is ${size} for ${n} coordinates`,
      `give an even number, at least ${2 * n + 2}`,
    );
  return size;
}

/** The log-density and its gradient, compiled. */
function compiledLook(bound: BoundModel, { device, threads = 1 }: ApproximateOptions) {
  const n = bound.space.dimension;
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
  /** Throws if the log-density mixes the points of a batch. */
  const requireSeparate = async (key: Key, batch: number): Promise<void> => {
    const rows = flat(matchedNormals(fold(key, "apart"), batch, n));
    const of = async (x: Float64Array) => ({
      "the log-density": (await run(x)).value.data as Float64Array,
    });
    const [some, others] = moveOtherRows(rows, n);
    requireIndependentRows(await of(rows), [await of(some), await of(others)], batch, "draw");
  };
  return { look, requireSeparate, dispose: () => run.dispose() };
}

type Fitting = ApproximateOptions & { readonly draws: number; readonly iterations: number };

/** The best Gaussian along several paths of an optimiser (Pathfinder). */
async function byPathfinder(
  look: Look,
  bound: BoundModel,
  { key, paths = 8, iterations, draws, signal }: Fitting,
): Promise<Approximation> {
  if (!(Number.isSafeInteger(paths) && paths >= 1))
    fail("usage", `\`paths\` is ${paths}`, "give an integer from 1");
  const found = await pathfinder(look, bound.space.dimension, {
    key,
    paths,
    iterations,
    draws,
    signal,
  });
  if (!found)
    return fail(
      "numerical",
      "no path of pathfinder found a Gaussian",
      "check that the log-density is finite and smooth inside the parameters' domains",
    );
  const { best, khat, evidence, evidenceError } = found;
  const shown = await bound.show([flat(resampled(found, fold(key, "draws"), draws))]);
  const point: Start["point"] = (own) => resampled(found, own, 1)[0];
  return described(best, { khat, evidence, evidenceError }, shown, point);
}

/** A Gaussian fitted by scores or by the evidence bound, and evaluated by draws from it. */
async function byGaussian(
  look: Look,
  bound: BoundModel,
  options: Fitting & { readonly fit: FitName; readonly batch: number },
): Promise<Approximation> {
  const { key, draws, fit } = options;
  const n = bound.space.dimension;
  const q = await (fit === "evidence" ? climb : matchScores)(look, bound, options);
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
}

/**
 * Fits a Gaussian in free coordinates to a posterior and evaluates it by k̂ and the evidence lower
 * bound. This is faster than `samplePosterior`, but not exact.
 *
 * @throws DiffeoError of kind `numerical` if the fit does not stay finite, or if no path of
 * `pathfinder` finds a Gaussian
 */
export async function approximate(
  model: PosteriorModel,
  options: ApproximateOptions,
): Promise<Approximation> {
  const { key, data = {}, draws = 2000, iterations = 200, fit = "evidence" } = options;
  if (!fits.includes(fit))
    fail("usage", `unknown \`fit\` "${fit}"`, `use one of ${fits.join(", ")}`);
  const bound = boundModel(model, data, dataArrays(data, model.data), false, {
    ...options,
    row: "draw",
  });
  const batch = batchOf(options, bound.space.dimension);
  if (!(Number.isSafeInteger(draws) && draws >= 100))
    fail("usage", `\`draws\` is ${draws}`, "give at least 100, so that k̂ can be estimated");
  const { look, requireSeparate, dispose } = compiledLook(bound, options);
  try {
    await requireSeparate(key, batch);
    const fitting = { ...options, draws, iterations };
    return fit === "pathfinder"
      ? await byPathfinder(look, bound, fitting)
      : await byGaussian(look, bound, { ...fitting, fit, batch });
  } finally {
    await dispose();
    await bound.dispose();
  }
}
