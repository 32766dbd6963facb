/**
 * The density of y under the model, by the probability flow dx = v dt from x to the prior:
 *
 *   log p₀(x) = log p_T(x_T) + ∫₀ᵀ ∇·v(x_t, t) dt
 *   log q(y)  = log p₀(x) − log|det J_φ(x)|,  x = φ⁻¹(y)
 *
 * The divergence is exact, at the cost of one derivative per coordinate, or Hutchinson's unbiased
 * estimate eᵀ(∂v/∂x)e with random signs e. The signs are constant along the path, so the equation
 * remains an ordinary differential equation.
 */
import { units } from "../bijector/coefficient.ts";
import { contains, sumEvent } from "../bijector/index.ts";
import type { CompileOptions } from "../engine/index.ts";
import {
  add,
  constant,
  expand,
  expandDims,
  type FloatType,
  fail,
  isNdArray,
  jvp,
  mean,
  mul,
  type NdArray,
  type Nested,
  ndarray,
  sub,
  sum,
  swapAxes,
  type Tensor,
} from "../graph/index.ts";
import { allocate, convert, showShape } from "../graph/ndarray.ts";
import { batches, rowsOf, stackArrays } from "../host/index.ts";
import { fold, type Key, rademacher, sampleKeys } from "../random/index.ts";
import { inChart, type ReverseProcess } from "../sde/index.ts";
import { followFlow } from "./adaptive.ts";
import { type Build, compiler, floatType } from "./compiler.ts";
import { type StateField, stagesPerStep } from "./rungekutta.ts";

/** Options of `logDensity`. */
export interface DensityOptions extends Omit<CompileOptions, "keep"> {
  /**
   * `exact` (default), or the number of random sign vectors that estimate the divergence at each
   * point.
   */
  readonly divergence?: "exact" | { readonly probes: number; readonly key: Key };
  /** The time of y. Default T/1000, where samplers stop. */
  readonly tStart?: number;
  /** The relative and absolute error of a step. Default 1e-5. */
  readonly tolerance?: number;
  /** The most steps, accepted or rejected. Default 10,000. */
  readonly mostSteps?: number;
  /** The number of points per batch. Default: all. */
  readonly batch?: number;
  readonly signal?: AbortSignal;
}

/** The result of `logDensity`. */
export interface DensityResult {
  /** log q(y) in nats, one number per point. */
  readonly logDensity: NdArray;
  /** Steps of the flow, the most of any batch. */
  readonly steps: number;
  /** Score evaluations, without those of the divergence; the most of any batch. */
  readonly scoreEvaluations: number;
}

/**
 * Computes the log-density log q(y) of points y under a reverse process, by its probability flow.
 * Points are [count, ...event] in the space of the process, as an `NdArray` or nested arrays of
 * numbers.
 */
export async function logDensity(
  process: ReverseProcess,
  points: NdArray | Nested,
  options: DensityOptions = {},
): Promise<DensityResult> {
  const y = isNdArray(points) ? points : ndarray(points, "float64");
  const { prior, name, eventRank, horizon } = process;
  const { tStart = horizon / 1000, tolerance = 1e-5, mostSteps, signal } = options;
  if (!prior)
    fail(
      "usage",
      `${name} has no prior, so its density at T is not known`,
      "give the SDE a `prior`",
    );
  if (y.shape.length !== eventRank + 1)
    fail(
      "shape",
      `the points have shape ${showShape(y.shape)}, but the process has eventRank ${eventRank}`,
      "give [count, ...event]",
    );
  if (!(tStart >= 0 && tStart < horizon))
    fail(
      "usage",
      `\`tStart\` is ${tStart}`,
      `give a time of at least 0 and below the horizon ${horizon}`,
    );
  const type = floatType(options);
  const { build, dispose } = compiler(options, type);
  const run = { process, prior, build, type, tStart, tolerance, mostSteps, signal };
  try {
    const results: BatchDensity[] = [];
    for (const [first, count] of batches(y.shape[0], options.batch))
      results.push(await densityOf(run, rowsOf(y, first, count), first, options.divergence));
    return {
      logDensity: stackArrays(results.map((r) => r.density)),
      steps: Math.max(...results.map((r) => r.steps)),
      scoreEvaluations: Math.max(...results.map((r) => r.evaluations)),
    };
  } finally {
    await dispose();
  }
}

/** The state shared by all batches of points. */
interface DensityRun extends Pick<DensityOptions, "mostSteps" | "signal"> {
  readonly process: ReverseProcess;
  readonly prior: NonNullable<ReverseProcess["prior"]>;
  readonly build: Build;
  readonly type: FloatType;
  readonly tStart: number;
  readonly tolerance: number;
}

/** Log-densities of a batch, with its steps and score evaluations. */
interface BatchDensity {
  readonly density: NdArray;
  readonly steps: number;
  readonly evaluations: number;
}

/** log q of the points `first`, `first` + 1, …, by the flow from `tStart` to the prior. */
async function densityOf(
  { process, prior, build, type, tStart, tolerance, mostSteps, signal }: DensityRun,
  points: NdArray,
  first: number,
  divergence: DensityOptions["divergence"],
): Promise<BatchDensity> {
  const { x, volume } = await pointsInX(process, build, points, tStart, type, first);
  const [count] = points.shape;
  const { state, times, rejected } = await followFlow({
    build,
    field: withDivergence(process),
    fixed: probesFor(divergence, x, first, type),
    start: [x, { shape: [count], dtype: type, data: allocate(type, count) }],
    from: tStart,
    to: process.horizon,
    tolerance,
    mostSteps,
    signal,
  });
  const leave = build(
    "density",
    (end: Tensor, gained: Tensor, logDet: Tensor) =>
      sub(add(prior.logDensity(end), gained), logDet),
    [[null, ...x.shape.slice(1)], [null], [null]],
  );
  const density = await leave(state[0], state[1], volume);
  const steps = times.length - 1;
  return { density, steps, evaluations: 1 + stagesPerStep * (steps + rejected) };
}

/** The points in x, and log|det J_φ| there. */
async function pointsInX(
  { chart }: ReverseProcess,
  build: Build,
  rows: NdArray,
  tStart: number,
  type: FloatType,
  first: number,
): Promise<{ readonly x: NdArray; readonly volume: NdArray }> {
  const y = { ...rows, dtype: type, data: convert(rows.data as Float64Array, type) };
  const count = y.shape[0];
  const phi = chart?.phi;
  if (!phi) return { x: y, volume: { shape: [count], dtype: type, data: allocate(type, count) } };
  const enter = build(
    "enter",
    (p: Tensor) => {
      const t = constant(tStart, p.dtype);
      const x = phi.inverse(p, t);
      return { x, volume: phi.logDet(x, t), inside: contains(phi, p, t) };
    },
    [[null, ...y.shape.slice(1)]],
  );
  const { x, volume, inside } = await enter(y);
  const outside = inside.data.findIndex((v: number | bigint) => !v);
  if (outside >= 0)
    fail(
      "usage",
      `point ${first + outside} is outside the domain of ${phi.name}, where the density is 0`,
      "give points in the image of the map",
    );
  return { x, volume };
}

/** (v, ∇·v); with signs [count, probes, ...event], the divergence is estimated along them. */
function withDivergence(process: ReverseProcess): StateField {
  const { eventRank } = process;
  const flow = inChart(process).velocity as ReverseProcess["velocity"];
  return ([x], t, [probes]) => {
    const velocity = (p: Tensor): Tensor => flow(p, t);
    const signs = probes ? swapAxes(probes, 0, 1) : units(x, eventRank);
    const wide = [signs.shape[0], ...x.shape];
    const e = expand(signs, wide);
    const along = sumEvent(mul(e, jvp(velocity, expand(expandDims(x, 0), wide), e)[1]), eventRank);
    return [velocity(x), probes ? mean(along, 0) : sum(along, 0)];
  };
}

/**
 * Signs [count, probes, ...event] of the points from `first` on. The signs of a point are a
 * function of its number and the key.
 */
function probesFor(
  divergence: DensityOptions["divergence"],
  x: NdArray,
  first: number,
  dtype: FloatType,
): NdArray[] {
  if (divergence === undefined || divergence === "exact") return [];
  const { probes, key } = divergence;
  if (!Number.isInteger(probes) || probes < 1)
    fail("usage", `\`divergence\` has ${probes} probes`, "set an integer of at least 1");
  const keys = sampleKeys(fold(key, "divergence"), x.shape[0], first);
  return [rademacher(keys, [probes, ...x.shape.slice(1)], { dtype })];
}
