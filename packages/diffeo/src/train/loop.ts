/**
 * The training loop. A batch is a pure function of the step, and a checkpoint has the state and the
 * step. So an interrupted run continues to exactly the numbers of an uninterrupted one.
 */
import { hasNonFinite } from "../engine/finite.ts";
import { DeviceArray, release, toHost } from "../engine/index.ts";
import { fail, type NdArray } from "../graph/index.ts";
import { mean } from "../host/index.ts";
import type { Checkpoint, RunStore } from "./run-store.ts";
import type { StepResult, TrainState } from "./step.ts";

/** A report of a training loop. */
export interface TrainReport {
  readonly step: number;
  /**
   * The number of steps over which the report averages: those since the last report, or since the
   * run was continued.
   */
  readonly steps: number;
  readonly loss: number;
  readonly norm: number;
  readonly rate: number;
  /** Samples per second since the last report. */
  readonly speed: number;
  readonly seconds: number;
}

/** Options of `train`. */
export interface TrainOptions {
  /** The last completed step; 0 for a new run. */
  readonly from: number;
  /** The step at which training ends. */
  readonly steps: number;
  /** Samples per step, for the reported speed. */
  readonly batchSize: number;
  /** Runs step number `step` (from 1). */
  readonly run: (state: TrainState<NdArray>, step: number) => Promise<StepResult<NdArray>>;
  readonly rate: (step: number) => number;
  /** Steps between reports and between checkpoints. */
  readonly reportEvery: number;
  readonly saveEvery: number;
  /**
   * The store of checkpoints and reports: a folder in Node (`RunFolder`), memory in a page
   * (`memoryStore`).
   */
  readonly store: RunStore;
  readonly metadata: Readonly<Record<string, string>>;
  readonly onStep?: (step: number) => void;
  readonly onReport?: (report: TrainReport) => Promise<void> | void;
  /** Called with the state on the host after each checkpoint. */
  readonly onSave?: (state: TrainState<NdArray>, step: number) => Promise<void>;
  /** Stops after the current step with a checkpoint. */
  readonly signal?: AbortSignal;
  /** Stops with a checkpoint after this number of seconds. */
  readonly seconds?: number;
}

/**
 * The number of steps queued on a GPU before their losses are read, so that it does not wait for
 * the host.
 */
const AHEAD = 16;

/** The state with all arrays read from their device. */
async function onHost(state: TrainState<NdArray>): Promise<TrainState<NdArray>> {
  const [theta, m, v, ema] = await Promise.all(
    [state.theta, state.m, state.v, state.ema].map(toHost),
  );
  return { theta, m, v, ema };
}

/** The state in a checkpoint; throws if it has another architecture. */
export function stateOf({ arrays }: Checkpoint, size: number, where: string): TrainState<NdArray> {
  const pick = (name: keyof TrainState<NdArray>): NdArray => {
    const array = arrays[name];
    if (!array || array.data.length !== size)
      fail(
        "data",
        `${where}: ${name} has ${array ? `${array.data.length} numbers` : "no entry"}, this ` +
          `architecture has ${size}`,
        "use the settings with which the checkpoint was made",
      );
    return array;
  };
  return { theta: pick("theta"), m: pick("m"), v: pick("v"), ema: pick("ema") };
}

/**
 * Throws the error for numbers that are not finite. The settings are stored, so other settings need
 * another folder.
 */
async function diverged(store: RunStore, what: string): Promise<never> {
  const reached = await store.reached();
  const newest = reached
    ? `the newest checkpoint is that of step ${reached}`
    : "no checkpoint has been saved";
  return fail(
    "numerical",
    `${what}; ${newest}`,
    `start another run with a smaller learning rate or gradient norm${
      reached ? ", perhaps from that checkpoint's averaged weights" : ""
    }`,
  );
}

/** The loss and the gradient norm of one step. */
interface StepLoss {
  readonly loss: number;
  readonly norm: number;
}

/** Reads the losses and norms of the steps up to `reached` from their device. */
async function readLosses(
  results: readonly StepResult<NdArray>[],
  reached: number,
  store: RunStore,
): Promise<StepLoss[]> {
  const read: StepLoss[] = [];
  for (const [i, result] of results.entries()) {
    const [loss, norm] = (await Promise.all([toHost(result.loss), toHost(result.norm)])).map((a) =>
      Number(a.data[0]),
    );
    release(result.loss);
    release(result.norm);
    const at = reached - results.length + 1 + i;
    if (!Number.isFinite(loss)) await diverged(store, `the loss became ${loss} at step ${at}`);
    if (!Number.isFinite(norm))
      await diverged(store, `the norm of the gradient became ${norm} at step ${at}`);
    read.push({ loss, norm });
  }
  return read;
}

/** Writes a checkpoint; throws if a number is not finite. */
async function checkpoint(
  state: TrainState<NdArray>,
  step: number,
  options: TrainOptions,
): Promise<TrainState<NdArray>> {
  const { store, metadata, onSave } = options;
  const host = await onHost(state);
  for (const [name, array] of Object.entries(host))
    if (await hasNonFinite({ [name]: array }))
      await diverged(store, `${name} is not finite after step ${step}`);
  await store.save({ step, arrays: { ...host }, metadata });
  await onSave?.(host, step);
  return host;
}

/**
 * Runs the training loop until `steps`, an abort or the time limit. Returns the last state, on the
 * host, and the last step.
 */
export async function train(
  start: TrainState<NdArray>,
  options: TrainOptions,
): Promise<{ state: TrainState<NdArray>; step: number }> {
  const { from, steps, batchSize, store, reportEvery, saveEvery, signal } = options;
  const began = performance.now();
  const seconds = (): number => (performance.now() - began) / 1000;
  let state = start;
  let step = from;
  let marked = performance.now();
  let unread: StepResult<NdArray>[] = [];
  let unreported: StepLoss[] = [];

  const read = async (): Promise<void> => {
    const results = unread;
    unread = [];
    unreported.push(...(await readLosses(results, step, store)));
  };
  const report = async (): Promise<void> => {
    const found = {
      step,
      steps: unreported.length,
      loss: mean(unreported.map(({ loss }) => loss)),
      norm: mean(unreported.map(({ norm }) => norm)),
      rate: options.rate(step),
      speed: (1000 * batchSize * unreported.length) / (performance.now() - marked),
      seconds: seconds(),
    };
    await store.log(found);
    await options.onReport?.(found);
    [unreported, marked] = [[], performance.now()];
  };

  while (
    step < steps &&
    !signal?.aborted &&
    seconds() < (options.seconds ?? Number.POSITIVE_INFINITY)
  ) {
    const result = await options.run(state, step + 1);
    for (const old of Object.values(state)) release(old);
    state = result.state;
    step++;
    unread.push(result);
    const reports = step % reportEvery === 0 || step === steps;
    const saves = step % saveEvery === 0;
    if (!(result.loss instanceof DeviceArray) || unread.length === AHEAD || reports || saves)
      await read();
    options.onStep?.(step);
    if (reports) await report();
    if (saves && step < steps) {
      const paused = performance.now();
      await checkpoint(state, step, options);
      // The speed does not include the time of saving.
      marked += performance.now() - paused;
    }
  }
  await read();
  return { state: await checkpoint(state, step, options), step };
}
