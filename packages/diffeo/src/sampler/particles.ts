/**
 * Posteriors by many particles that are weighed on the way: the twisted diffusion sampler of L. Wu et al. ("Practical and
 * asymptotically exact conditional sampling in diffusion models", NeurIPS 2023), in x, for any process, map and twist.
 *
 * Particles move by the twisted process, x′ = x + (f̄ − GGᵀδ) dt + √h G z with h = |dt|, and carry the weight by which the path of
 * the process itself, seen by ψ, was likelier than the path they took:
 *
 *   w′ = w · p(x′ | x)/p̃(x′ | x) · ψ′(x′)/ψ(x),      log p/p̃ = −√h z·a − ½ h |a|²,   a = Gᵀδ
 *
 * since x′ is √h G(z + √h a) away from where p puts its middle; G need not be invertible. The last ψ is the likelihood of what is
 * returned. So for any δ and ψ the weighted particles are draws of (the law of the sampler's steps) × likelihood, the more of
 * them the better, and the mean weight is p(observation). Where the effective sample size (Σw)²/Σw² falls below a share of their
 * number they are drawn anew in proportion to their weights, systematically, with a number that is a function of (key, step).
 */
import { eventOf } from "../bijector/event.ts";
import { sumEvent } from "../bijector/index.ts";
import type { CompileOptions } from "../engine/index.ts";
import { add, fail, mul, type NdArray, neg, type Shape, sqrt, square, type Tensor } from "../graph/index.ts";
import { sizeOf } from "../graph/ndarray.ts";
import { batches, pickRows, rowsOf, stacked } from "../host/index.ts";
import { fold, type Key, uniform } from "../random/index.ts";
import { applyDiffusion, applyTransposed, multipliedOut, type TwistedProcess, timesOf } from "../sde/index.ts";
import { requireUnchanged } from "../sde/twist.ts";
import type { Batch } from "./batch.ts";
import { compiler, floatType } from "./compiler.ts";
import { finalPoints, firstNotFinite, startingPoints } from "./domain.ts";
import { drawnShape, stageOf } from "./method.ts";
import { independentNoise } from "./noise.ts";
import { type DrawOptions, gridOf, type Progress, type Samples } from "./options.ts";
import { pauses } from "./pauses.ts";
import { domainPreserving } from "./stochastic.ts";

export interface ParticleOptions
  extends Omit<CompileOptions, "keep">,
    Pick<DrawOptions, "key" | "steps" | "grid" | "tEnd" | "signal"> {
  /** The shape of one event in x. */
  readonly shape: Shape;
  /** How many. */
  readonly particles: number;
  /** They are drawn anew where the effective sample size falls below this share of their number; 0: never. Default ½. */
  readonly threshold?: number;
  /** Ends with the mean of x₀ given x at the last time. Default false. */
  readonly denoise?: boolean;
  /** How many run at once. Default: all. It changes memory and speed, not the samples. */
  readonly batch?: number;
  readonly onStep?: (
    progress: Omit<Progress, "points" | "first" | "count"> & { readonly ess: number },
  ) => void | Promise<void>;
}

export interface ParticleResult {
  /** Draws of the posterior, [particles, ...event] in the space of the process: those below, drawn by their weights. */
  readonly samples: Samples;
  /** The particles themselves. */
  readonly points: Samples;
  /** Their weights, which sum to one. */
  readonly weights: Float64Array;
  /** (Σw)²/Σw² of the weights: how many even ones these are worth. That they share ancestors is not in it. */
  readonly ess: number;
  /** The effective sample size before each step, and at the end. */
  readonly essBySteps: readonly number[];
  /** Steps, from 0, before which particles were drawn anew. */
  readonly resampled: readonly number[];
  /** How many of the first particles are ancestors of the last. */
  readonly ancestors: number;
  /** log p(observation), the likelihood's constants in it. */
  readonly logEvidence: number;
  /** Score evaluations for each particle. */
  readonly scoreEvaluations: number;
  readonly times: readonly number[];
}

/** Draws of the posterior that `condition`, `guide` or `twist` made of a process. */
export async function particles(process: TwistedProcess, options: ParticleOptions): Promise<ParticleResult> {
  const { shape: event, particles: count, threshold = 0.5, batch = count, denoise = false, key, signal } = options;
  const { twist } = process;
  if (!twist)
    fail(
      "usage",
      `particles: ${process.name} is not conditioned on anything`,
      "make it with condition, guide or twist",
    );
  requireUnchanged(process, twist);
  if (!(Number.isInteger(count) && count >= 1))
    fail("usage", `particles: ${count} particles`, "give a whole number, at least 1");
  if (!(threshold >= 0 && threshold <= 1))
    fail("usage", `particles: the threshold is ${threshold}`, "give a share from 0 to 1");
  const { device, threads, worker, checkFinite, onStep, ...drawing } = options;
  const type = floatType(options);
  const { build, dispose } = compiler(
    {
      ...(device !== undefined && { device }),
      ...(threads !== undefined && { threads }),
      ...(worker !== undefined && { worker }),
      ...(checkFinite !== undefined && { checkFinite }),
    },
    type,
  );
  const batchOf = (first: number, rows: number): Batch => ({
    ...{ process: twist.of, method: domainPreserving(), type, event, denoise, worker: worker ?? false, build },
    ...{ options: drawing, controls: { values: {}, name: "" }, first, count: rows },
  });
  const times = gridOf(process, drawing, "uniform");
  const steps = times.length - 1;
  const parts = batches(count, Math.min(batch, count));
  try {
    const { look, move, finish, draws } = graphsOf(process, batchOf(0, count));
    /** Something of every particle, batch after batch. */
    const each = async <T extends Readonly<Record<string, NdArray>>>(
      run: (rows: (array: NdArray) => NdArray, from: number, rowCount: number) => Promise<T>,
    ): Promise<T> => {
      const found: T[] = [];
      for (const [from, rows] of parts) {
        signal?.throwIfAborted();
        found.push(await run((array) => rowsOf(array, from, rows), from, rows));
      }
      return Object.fromEntries(Object.keys(found[0]).map((name) => [name, stacked(found.map((f) => f[name]))])) as T;
    };
    const noise = independentNoise(key);
    const cloud = new Cloud(count, threshold, fold(key, "resample"));
    const pause = pauses();
    let { x } = await each(async (_, first, rows) => ({
      x: await startingPoints(batchOf(first, rows), times[0]),
    }));
    for (let k = 0; k < steps; k++) {
      const [t, dt] = [times[k], times[k + 1] - times[k]];
      const { psi: raw, ...seen } = await each((rows) => look(rows(x), t));
      const possible = aboveZero(raw);
      cloud.gain(possible, 1, `step ${k + 1}, at t = ${t}`);
      const parents = cloud.drawAnew(k);
      const own = (array: NdArray): NdArray => (parents ? pickRows(array, parents) : array);
      const [at, drift, delta, psi] = [x, seen.drift, seen.delta, possible].map(own);
      const request = { step: k, index: 0, from: t, to: times[k + 1], shape: draws, dtype: type };
      const moved = await each((rows, first, n) =>
        move(
          rows(at),
          rows(drift),
          rows(delta),
          { shape: [n, ...draws], dtype: type, data: noise({ ...request, first, count: n }) },
          t,
          dt,
        ),
      );
      const bad = firstNotFinite(moved.next);
      if (bad !== undefined)
        fail(
          "numerical",
          `${process.name}: particle ${Math.floor(bad / sizeOf(event))} is no longer a finite number after step ${k + 1}, from t = ${t} to ${times[k + 1]}`,
          "use smaller steps, a wider likelihood, a smaller strength, or compute in float64",
        );
      cloud.gain(psi, -1, `step ${k + 1}`);
      cloud.gain(moved.ratio, 1, `step ${k + 1}`);
      x = moved.next;
      await onStep?.({ step: k + 1, steps, t: times[k + 1], ess: cloud.essBySteps[k] });
      await pause();
    }
    const last = await each((rows) => finish(rows(x), times[steps]));
    cloud.gain(last.weight, 1, "the end");
    const { weights, ess, logEvidence } = cloud.end();
    const points = last.y as Samples;
    return {
      samples: pickRows(points, systematic(weights, cloud.number("last"))) as Samples,
      points,
      weights,
      ess,
      essBySteps: [...cloud.essBySteps, ess],
      resampled: cloud.resampled,
      ancestors: cloud.ancestors(),
      logEvidence,
      scoreEvaluations: steps + (denoise ? 1 : 0),
      times,
    };
  } finally {
    await dispose();
  }
}

/** What a step sees of a point, how it moves it, and what the last ones are worth. */
function graphsOf(process: TwistedProcess, batch: Batch) {
  const { event, build, type } = batch;
  const { twist, eventRank } = process;
  const stage = stageOf(twist.of, "x");
  const draws = drawnShape(stage, event, type);
  const open = [null, ...event];
  const look = build(
    "look",
    (x: Tensor, t: Tensor) => {
      const each = timesOf(x, t, eventRank);
      return { psi: twist.log(x, each), drift: stage.motion.drift(x, t), delta: twist.delta(x, each) };
    },
    [open, []],
  );
  const move = build(
    "move",
    (x: Tensor, drift: Tensor, delta: Tensor, z: Tensor, t: Tensor, dt: Tensor) => {
      const h = neg(dt);
      const g = multipliedOut(stage.motion.diffusion(x, t));
      const a = applyTransposed(g, delta, eventOf(x, eventRank));
      const push = applyDiffusion(g, add(mul(z, sqrt(h)), mul(a, h)), eventOf(x, eventRank));
      const noise = (v: Tensor): Tensor => sumEvent(v, draws.length);
      return {
        next: add(add(x, mul(drift, dt)), push),
        ratio: neg(add(mul(noise(mul(z, a)), sqrt(h)), mul(noise(square(a)), mul(h, 0.5)))),
      };
    },
    [open, open, open, [null, ...draws], [], []],
  );
  const finish = build(
    "finish",
    (x: Tensor, t: Tensor) => {
      const y = finalPoints(batch, twist.of, x, t);
      return { y, weight: twist.end ? twist.end(y) : twist.log(x, timesOf(x, t, eventRank)) };
    },
    [open, []],
  );
  return { look, move, finish, draws };
}

/**
 * On the way ψ must not be zero: an x̂₀ that is impossible may still become a point that is not. Such a particle is taken to be
 * e times less likely than the least likely of the others; the end alone says what was impossible.
 */
function aboveZero(psi: NdArray): NdArray {
  const values = psi.data as Float64Array;
  const least = values.reduce((a, v) => (v > Number.NEGATIVE_INFINITY && v < a ? v : a), Number.POSITIVE_INFINITY);
  const floor = least === Number.POSITIVE_INFINITY ? 0 : least - 1;
  return { ...psi, data: values.map((v) => (v === Number.NEGATIVE_INFINITY ? floor : v)) };
}

/** Logarithms of weights, and when they are drawn by. */
class Cloud {
  readonly essBySteps: number[] = [];
  readonly resampled: number[] = [];
  readonly #log: Float64Array;
  readonly #threshold: number;
  readonly #key: Key;
  #lineage: Uint32Array;
  #evidence = 0;

  constructor(count: number, threshold: number, key: Key) {
    this.#log = new Float64Array(count);
    this.#threshold = threshold;
    this.#key = key;
    this.#lineage = Uint32Array.from({ length: count }, (_, i) => i);
  }

  /** A number between 0 and 1 that is a function of the key and the step. */
  number(step: number | "last"): number {
    return uniform(fold(this.#key, step), [1], { dtype: "float64" }).data[0];
  }

  /** Multiplies weights by e^{±v}. */
  gain({ data }: NdArray, sign: number, where: string): void {
    const values = data as Float64Array;
    for (let i = 0; i < values.length; i++) {
      this.#log[i] += sign * values[i];
      if (Number.isNaN(this.#log[i]) || this.#log[i] === Number.POSITIVE_INFINITY)
        fail(
          "numerical",
          `the log-likelihood of particle ${i} is ${values[i]} (${where})`,
          "let the likelihood give a number, or −∞ where the observation is impossible",
        );
    }
  }

  /** Weights that sum to one, their effective sample size, and the logarithm of their mean. */
  #normalised(): { weights: Float64Array; ess: number; logMean: number } {
    const most = this.#log.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
    if (most === Number.NEGATIVE_INFINITY)
      fail(
        "numerical",
        "the observation is impossible for every particle",
        "take more particles, or a likelihood that is nowhere quite zero",
      );
    const weights = this.#log.map((v) => Math.exp(v - most));
    const total = weights.reduce((a, b) => a + b, 0);
    const squares = weights.reduce((a, b) => a + b * b, 0);
    return {
      weights: weights.map((w) => w / total),
      ess: (total * total) / squares,
      logMean: most + Math.log(total / weights.length),
    };
  }

  /** The parents of the next generation, where one is due. */
  drawAnew(step: number): Uint32Array | undefined {
    const { weights, ess, logMean } = this.#normalised();
    this.essBySteps.push(ess);
    if (!(ess < this.#threshold * weights.length)) return undefined;
    const parents = systematic(weights, this.number(step));
    this.resampled.push(step);
    this.#evidence += logMean;
    this.#log.fill(0);
    this.#lineage = parents.map((p) => this.#lineage[p]);
    return parents;
  }

  ancestors(): number {
    return new Set(this.#lineage).size;
  }

  end(): { weights: Float64Array; ess: number; logEvidence: number } {
    const { weights, ess, logMean } = this.#normalised();
    return { weights, ess, logEvidence: this.#evidence + logMean };
  }
}

/** Numbers of particles, each as often as its weight times their number, to the nearest whole number below or above. */
export function systematic(weights: Float64Array, u: number): Uint32Array {
  const n = weights.length;
  let [i, sum] = [0, weights[0]];
  return Uint32Array.from({ length: n }, (_, k) => {
    while (sum < (k + u) / n && i + 1 < n) sum += weights[++i];
    return i;
  });
}
