/** Shared by the tests of samplers: problems with known answers, and fitted slopes. */

import { type Diffusible, gaussian, mixture } from "../../src/distribution/index.ts";
import type { NdArray, Tensor } from "../../src/graph/index.ts";
import {
  type DrawOptions,
  type NoiseRequest,
  type NoiseSource,
  type OpenOptions,
  openSampler,
  type SampleResult,
} from "../../src/sampler/index.ts";
import type { MarginalScore, Process, Sde } from "../../src/sde/index.ts";

/**
 * What one open sampler makes of each call: times and keys are inputs, so that graphs are compiled
 * for the first call alone.
 */
export async function draws(
  process: Process,
  opening: OpenOptions,
  calls: readonly DrawOptions[],
): Promise<SampleResult[]> {
  const draw = await openSampler(process, opening);
  const results: SampleResult[] = [];
  for (const call of calls) results.push(await draw(call));
  await draw.dispose();
  return results;
}

/** A source that draws the same noise once, however many samplers are given it. */
export function remembered(noise: NoiseSource): NoiseSource {
  const known = new Map<string, ReturnType<NoiseSource>>();
  return (request: NoiseRequest) => {
    const name = JSON.stringify(request);
    const drawn = known.get(name) ?? noise(request);
    known.set(name, drawn);
    return drawn;
  };
}

/** The exact score of data at every time, for an SDE with a Gaussian transition. */
export function exactScore(sde: Sde, data: Diffusible): MarginalScore {
  const { transition } = sde;
  if (!transition) throw new Error(`${sde.name} has no transition`);
  return (x: Tensor, t: Tensor) =>
    data.marginal(transition.meanFactor(t), transition.std(t)).score(x);
}

/**
 * Two or three clusters in n dimensions, of mean zero and variance about one in each coordinate.
 */
export function clusters(n: number): Diffusible {
  const along = (sign: number): number[] =>
    Array.from({ length: n }, (_, i) => sign * (i % 2 === 0 ? 0.8 : -0.6));
  return mixture([
    {
      distribution: gaussian({
        mean: along(1),
        covariance: Array.from({ length: n }, (_, i) => 0.2 + 0.1 * (i % 3)),
      }),
    },
    { distribution: gaussian({ mean: along(-1), covariance: 0.35 }) },
  ]);
}

/** The slope of log error against log step: the measured order. */
export function fittedOrder(steps: readonly number[], errors: readonly number[]): number {
  const x = steps.map((n) => -Math.log(n));
  const y = errors.map(Math.log);
  const mean = (v: readonly number[]): number => v.reduce((a, b) => a + b, 0) / v.length;
  const [mx, my] = [mean(x), mean(y)];
  return (
    x.reduce((s, v, i) => s + (v - mx) * (y[i] - my), 0) / x.reduce((s, v) => s + (v - mx) ** 2, 0)
  );
}

/**
 * The mean over samples of the distance between corresponding events: the error that strong order
 * speaks of.
 */
export function meanDistance(a: NdArray, b: NdArray): number {
  const n = a.data.length / a.shape[0];
  let total = 0;
  for (let i = 0; i < a.shape[0]; i++) {
    let sum = 0;
    for (let k = i * n; k < (i + 1) * n; k++) sum += (Number(a.data[k]) - Number(b.data[k])) ** 2;
    total += Math.sqrt(sum);
  }
  return total / a.shape[0];
}
