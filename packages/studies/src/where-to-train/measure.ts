/** Measures of a trained score: its errors by time in x and in y, and its samples. */
import { pushCovector, units } from "diffeo/bijector";
import { type Diffusible, sampleFrom } from "diffeo/distribution";
import { compile } from "diffeo/engine";
import {
  add,
  DiffeoError,
  expand,
  expandDims,
  mul,
  type NdArray,
  square,
  sub,
  sum,
  type Tensor,
} from "diffeo/graph";
import { mean, quantile } from "diffeo/host";
import { fold, type Key, normal } from "diffeo/random";
import { logDensity, sample } from "diffeo/sampler";
import { type MarginalScore, type ReverseProcess, reverse, reversePush } from "diffeo/sde";
import { energyDistance } from "diffeo/two-sample";
import { exactScore } from "../problem/mixture.ts";
import { engine, HELD_OUT, SAMPLES, STEPS } from "./budget.ts";
import type { Problem } from "./losses.ts";

/** Times at which errors are measured, of a process that ends at 1. */
export const TIMES = [0.01, 0.03, 0.1, 0.2, 0.4, 0.7, 1] as const;
const POINTS = 1024;

/** Errors of the score at one time, as σ²E‖·‖²; null where a float64 does not hold them. */
export interface ErrorAt {
  readonly t: number;
  readonly x: number | null;
  readonly y: number | null;
  /** The median over points, for the mean in y is that of a few. */
  readonly yMedian: number | null;
  /**
   * Share of points that the weights ‖J⁻¹‖²_F/n leave effective, (Σw)²/(N Σw²), and the greatest
   * weight.
   */
  readonly effective: number;
  readonly greatest: number;
}

export interface Samples {
  /**
   * Energy distances to exact samples; none where a sample has no x, on the boundary by rounding.
   */
  readonly distanceX: number | null;
  readonly distanceY: number | null;
  /**
   * Mean of log p − log p_model over held-out points, in nats: 0 for the exact score. None where
   * the flow of the model is too stiff to follow.
   */
  readonly nats: number | null;
}

/** ‖J⁻¹‖²_F/n */
function stretch({ phi, n }: Problem, x: Tensor, t: Tensor): Tensor {
  const wide = [n, ...x.shape];
  const rows = pushCovector(phi, expand(x, wide), expand(units(x, 1), wide), t);
  return mul(sum(sum(square(rows), -1), 0), 1 / n);
}

/** Errors by time at points of p_t, the same for all scores of a key. */
export async function errorsOf(
  problem: Problem,
  law: Diffusible,
  score: MarginalScore,
  root: Key,
): Promise<ErrorAt[]> {
  const { sde, phi, n } = problem;
  const exact = exactScore(law, sde);
  const { meanFactor, std } = sde.transition;
  const measure = compile(
    (x0: Tensor, noise: Tensor, time: Tensor) => {
      const t = expand(time, [POINTS]);
      const sigma = expandDims(std(t), -1);
      const x = add(mul(x0, expandDims(meanFactor(t), -1)), mul(noise, sigma));
      const error = mul(sub(score(x, t), exact(x, t)), sigma);
      return [
        sum(square(error), -1),
        sum(square(pushCovector(phi, x, error, t)), -1),
        stretch(problem, x, t),
      ];
    },
    [[POINTS, n], [POINTS, n], []],
    engine,
  );
  const errors: ErrorAt[] = [];
  for (const [i, t] of TIMES.entries()) {
    const own = fold(fold(root, "errors"), i);
    const noise = normal(fold(own, "noise"), [POINTS, n], { dtype: "float64" });
    const values = await measure(sampleFrom(law, own, POINTS, "float64"), noise, t);
    const [x, y, w] = values.map(({ data }) => Array.from(data as Float64Array));
    const total = w.reduce((a, b) => a + b, 0);
    errors.push({
      t,
      x: mean(x),
      y: mean(y),
      yMedian: quantile(y, 0.5),
      effective: total ** 2 / (POINTS * w.reduce((a, b) => a + b * b, 0)),
      greatest: Math.max(...w),
    });
  }
  await measure.dispose();
  return errors;
}

/** Null where a computation stops because numbers are no longer finite or accurate. */
export const nullIfNumerical = <T>(result: Promise<T>): Promise<T | null> =>
  result.catch((error: unknown) => {
    if (error instanceof DiffeoError && error.kind === "numerical") return null;
    throw error;
  });

/** Samples of the process with this score, in y. */
export async function samplesOf(
  { sde, phi, n }: Problem,
  score: MarginalScore,
  root: Key,
  signal?: AbortSignal,
): Promise<NdArray> {
  const process = reversePush(sde, phi, score);
  const options = { shape: [n], count: SAMPLES, steps: STEPS, key: fold(root, "draw"), signal };
  return (await sample(process, { ...options, ...engine })).samples;
}

/** Energy distances of samples y to exact ones, in x and in y. */
export async function distancesOf(
  { phi, n }: Problem,
  law: Diffusible,
  y: NdArray,
  root: Key,
): Promise<Omit<Samples, "nats">> {
  const x0 = sampleFrom(law, fold(root, "exact"), SAMPLES, "float64");
  const forward = compile((x: Tensor) => phi.forward(x), [[SAMPLES, n]], engine);
  const inverse = compile((z: Tensor) => phi.inverse(z), [[SAMPLES, n]], engine);
  const [exactY, x] = [await forward(x0), await inverse(y)];
  await Promise.all([forward.dispose(), inverse.dispose()]);
  const distance = (a: NdArray, b: NdArray): number =>
    energyDistance(a, b, { key: fold(root, "directions"), permutations: 0 }).value;
  return { distanceX: distance(x, x0), distanceY: distance(y, exactY) };
}

/** Mean of log p − log p_model at held-out points of p_t, in x: in y it is the same. */
export async function natsOf(
  { sde, n }: Problem,
  law: Diffusible,
  score: MarginalScore,
  root: Key,
): Promise<number | null> {
  const own = fold(root, "held out");
  const start = sde.horizon / 1000;
  const at = compile(
    (x0: Tensor, noise: Tensor, time: Tensor) => {
      const [m, sigma] = [sde.transition.meanFactor(time), sde.transition.std(time)];
      const x = add(mul(x0, m), mul(noise, sigma));
      return [x, law.marginal(m, sigma).logDensity(x)];
    },
    [[HELD_OUT, n], [HELD_OUT, n], []],
    engine,
  );
  const noise = normal(fold(own, "noise"), [HELD_OUT, n], { dtype: "float64" });
  const [x, exact] = await at(sampleFrom(law, own, HELD_OUT, "float64"), noise, start);
  await at.dispose();
  return lostNats(reverse(sde, score), x, exact.data as Float64Array, start);
}

/** Mean of log p − log p_model at points of p_t; null where the flow is too stiff to follow. */
export async function lostNats(
  process: ReverseProcess,
  points: NdArray,
  exact: ArrayLike<number>,
  tStart: number,
): Promise<number | null> {
  const options = { ...engine, tStart, tolerance: 1e-4, mostSteps: 300 };
  const model = await nullIfNumerical(logDensity(process, points, options));
  return model && mean(exact) - mean(model.logDensity.data as Float64Array);
}
