/**
 * Posterior samples by weighted particles: the twisted diffusion sampler of L. Wu et al.
 * ("Practical and asymptotically exact conditional sampling in diffusion models", NeurIPS 2023), in
 * x, for any process, map and twist.
 *
 * Particles move by the twisted process, x′ = x + (f̄ − GGᵀδ) dt + √h G z with h = |dt|. Their
 * weight is the ratio of the density of their path under the process itself, times ψ, to its
 * density under the twisted process:
 *
 *   w′ = w · p(x′ | x)/p̃(x′ | x) · ψ′(x′)/ψ(x),      log p/p̃ = −√h z·a − ½ h |a|²,   a = Gᵀδ
 *
 * because x′ is √h G(z + √h a) from the mean of p; G need not be invertible. The last ψ is the
 * likelihood of the returned points. So for any δ and ψ the weighted particles converge to (the
 * distribution of the sampler's steps) × likelihood as their number increases, and the mean weight
 * converges to p(observation). If the effective sample size (Σw)²/Σw² falls below a share of their
 * number, the particles are resampled in proportion to their weights, by systematic resampling with
 * a random number that is a function of (key, step).
 */
import { fail, input, type NdArray } from "../graph/index.ts";
import {
  batches,
  type Closable,
  disposable,
  mapValues,
  pickRows,
  rowsOf,
  stackArrays,
} from "../host/index.ts";
import { fold } from "../random/index.ts";
import type { TwistedProcess } from "../sde/index.ts";
import { requireUnchanged } from "../sde/twist.ts";
import type { Batch } from "./batch.ts";
import { compiler, floatType, type NamedTensors } from "./compiler.ts";
import { firstNotFinite, startingPoints } from "./exits.ts";
import { type DrawOptions, gridOf, type Progress, type Samples } from "./options.ts";
import { graphsOf, type Opened, type OpenParticleOptions } from "./particle-graphs.ts";
import { pauses } from "./pauses.ts";
import { domainPreserving } from "./stochastic.ts";
import { aboveZero, Cloud, type Weighed } from "./weights.ts";

/** Options of a call of an open particle sampler. */
export interface ParticleCall
  extends Pick<DrawOptions, "key" | "steps" | "grid" | "tEnd" | "signal"> {
  /** The number of particles. */
  readonly particles: number;
  /**
   * Particles are resampled if the effective sample size falls below this share of their number; 0
   * means never. Default ½.
   */
  readonly threshold?: number;
  /**
   * The number of particles per batch. Default: all. It affects memory and speed, not the samples.
   */
  readonly batch?: number;
  /** The arrays whose shapes `observed` of `openParticles` declares. */
  readonly observed?: Readonly<Record<string, NdArray>>;
  readonly onStep?: (
    progress: Omit<Progress, "points" | "first" | "count"> & { readonly ess: number },
  ) => void | Promise<void>;
}

/** Options of `particles`: those of `openParticles` and of one call. */
export interface ParticleOptions
  extends Omit<OpenParticleOptions, "observed">,
    Omit<ParticleCall, "observed"> {}

/** The result of a particle sampler: particles with their weights and effective sample sizes. */
export interface ParticleResult extends Weighed {
  /** Score evaluations per particle. */
  readonly scoreEvaluations: number;
  readonly times: readonly number[];
}

/** A sampler of weighted particles, opened once and called often. */
export interface OpenParticles extends Closable {
  (call: ParticleCall): Promise<ParticleResult>;
  /** Frees the graphs. Calling the sampler afterwards is an error. */
  dispose(): Promise<void>;
}

/** A twisted process, or a function that makes it from the observed arrays of a call. */
type Conditioned = TwistedProcess | ((observed: NamedTensors) => TwistedProcess);

/**
 * Opens a particle sampler of a process made by `condition`, `guide` or `twist`. Graphs are
 * compiled at the first call with each batch size. Observed arrays can be passed with each call:
 * `openParticles((observed) => condition(…), { observed })`.
 */
export function openParticles(process: Conditioned, options: OpenParticleOptions): OpenParticles {
  const { shape: event, denoise = false, observed = {}, ...engine } = options;
  const of = (values: NamedTensors): TwistedProcess =>
    typeof process === "function" ? process(values) : process;
  const probe = of(mapValues(observed, ({ shape, dtype }, name) => input(name, shape, dtype)));
  if (!probe.twist)
    fail(
      "usage",
      `particles: ${probe.name} has no observation or guidance`,
      "make it with condition, guide or twist",
    );
  requireUnchanged(probe, probe.twist);
  const type = floatType(engine);
  const { build, buildSteps, dispose } = compiler(engine, type);
  let open = true;
  const draw = async (call: ParticleCall): Promise<ParticleResult> => {
    if (!open) fail("disposed", "this particle sampler is disposed", "open a new one");
    requireCall(call, observed);
    const { particles: count, batch = count, key } = call;
    const batchOf = (first: number, rows: number): Batch => ({
      ...{
        process: probe.twist.of,
        solver: domainPreserving(),
        type,
        event,
        denoise,
        worker: engine.worker ?? false,
      },
      build,
      buildSteps,
      options: { key },
      controls: { values: {}, name: "" },
      first,
      count: rows,
    });
    return run(
      { of, probe, observed, denoise },
      call,
      batchOf,
      batches(count, Math.min(batch, count)),
    );
  };
  const close = async (): Promise<void> => {
    open = false;
    await dispose();
  };
  return Object.assign(draw, disposable(close));
}

/**
 * Samples the posterior of a process made by `condition`, `guide` or `twist` with weighted
 * particles, which is exact in the limit of many particles. Opens a particle sampler for one call;
 * to sample more than once, use `openParticles`.
 */
export async function particles(
  process: TwistedProcess,
  options: ParticleOptions,
): Promise<ParticleResult> {
  const { shape, denoise, device, type, threads, worker, checkFinite, ...call } = options;
  const draw = openParticles(process, {
    shape,
    denoise,
    device,
    type,
    threads,
    worker,
    checkFinite,
  });
  return draw(call).finally(() => draw.dispose());
}

function requireCall(
  { particles: count, threshold = 0.5, observed: given = {} }: ParticleCall,
  observed: NonNullable<OpenParticleOptions["observed"]>,
): void {
  if (!(Number.isInteger(count) && count >= 1))
    fail("usage", `\`particles\` is ${count}`, "set an integer of at least 1");
  if (!(threshold >= 0 && threshold <= 1))
    fail("usage", `particles: \`threshold\` is ${threshold}`, "set a share from 0 to 1");
  const [wanted, names] = [observed, given].map((record) => Object.keys(record).sort().join(", "));
  if (wanted !== names)
    fail(
      "usage",
      `particles: the call passes ${names || "no arrays"} as \`observed\`, the sampler was ` +
        `opened for ${wanted || "none"}`,
      "pass the arrays that `observed` of openParticles names",
    );
}

type Arrays = Readonly<Record<string, NdArray>>;

/** Applies a function to all particles in batches and joins the results. */
const inParts =
  (parts: readonly (readonly [number, number])[], signal: AbortSignal | undefined) =>
  async <T extends Arrays>(
    of: (rows: (array: NdArray) => NdArray, first: number, count: number) => Promise<T>,
  ): Promise<T> => {
    const found: T[] = [];
    for (const [first, count] of parts) {
      signal?.throwIfAborted();
      found.push(await of((array) => rowsOf(array, first, count), first, count));
    }
    return Object.fromEntries(
      Object.keys(found[0]).map((name) => [name, stackArrays(found.map((f) => f[name]))]),
    ) as T;
  };

/** Runs all steps of a call. */
async function run(
  opened: Opened,
  {
    particles: count,
    threshold = 0.5,
    key,
    signal,
    onStep,
    observed = {},
    ...options
  }: ParticleCall,
  batchOf: (first: number, rows: number) => Batch,
  parts: readonly (readonly [number, number])[],
): Promise<ParticleResult> {
  const { probe, denoise } = opened;
  const times = gridOf(probe, { ...options, key }, "uniform");
  const steps = times.length - 1;
  const { look, move, finish, draw } = graphsOf(opened, batchOf(0, count));
  const each = inParts(parts, signal);
  const cloud = new Cloud(count, threshold, fold(key, "resample"));
  const pause = pauses();
  let { x } = await each(async (_, first, rows) => ({
    x: await startingPoints(batchOf(first, rows), times[0]),
  }));
  for (let k = 0; k < steps; k++) {
    const [t, to] = [times[k], times[k + 1]];
    const { psi: raw, ...seen } = await each((rows) => look(rows(x), t, observed));
    const possible = aboveZero(raw);
    cloud.gain(possible, 1, `step ${k + 1}, at t = ${t}`);
    const parents = cloud.drawAnew(k);
    const own = (array: NdArray): NdArray => (parents ? pickRows(array, parents) : array);
    const [at, drift, delta, psi] = [x, seen.drift, seen.delta, possible].map(own);
    const moved = await each((rows, first, n) =>
      move(rows(at), rows(drift), rows(delta), draw(k, t, to, first, n), t, to - t),
    );
    requireFinite(moved.next, count, probe, `step ${k + 1}, from t = ${t} to ${to}`);
    cloud.gain(psi, -1, `step ${k + 1}`);
    cloud.gain(moved.ratio, 1, `step ${k + 1}`);
    x = moved.next;
    await onStep?.({ step: k + 1, steps, t: to, ess: cloud.essBySteps[k] });
    await pause();
  }
  const last = await each((rows) => finish(rows(x), times[steps], observed));
  cloud.gain(last.weight, 1, "the end");
  return { ...cloud.end(last.y as Samples), scoreEvaluations: steps + (denoise ? 1 : 0), times };
}

function requireFinite(
  points: NdArray,
  count: number,
  { name }: TwistedProcess,
  where: string,
): void {
  const bad = firstNotFinite(points);
  if (bad === undefined) return;
  fail(
    "numerical",
    `${name}: particle ${Math.floor(bad / (points.data.length / count))} is not ` +
      `finite after ${where}`,
    "use smaller steps, a wider likelihood, a smaller `strength`, or float64",
  );
}
