/**
 * Training of the score network of a table: Adam with a rising, then falling rate, the averaged
 * weights measured on rows that training does not see, and the best of them kept. A batch is a
 * function of seed and step, and how many steps there are is settled before the first, so that the
 * same seed gives the same numbers, interrupted or not.
 */
import { compile } from "diffeo/engine";
import { isNdArray, mapTree, type NdArray, type Shape, sizeOf, type Tensor } from "diffeo/graph";
import { mean, quantile, takeTurn } from "diffeo/host";
import { type NetworkSpec, networkOf, type Parameters } from "diffeo/model";
import { fold, type Key, key as keyOf } from "diffeo/random";
import {
  compileStep,
  flatten,
  initialState,
  memoryStore,
  type RunStore,
  rateAt,
  stateOf,
  train,
  unflatten,
} from "diffeo/train";
import {
  type EngineOptions,
  engineOf,
  type Head,
  type NetworkKind,
  networkFor,
  plainHead,
  type Weights,
} from "../network/index.ts";
import { choiceOf, keptIn } from "./choice.ts";
import { BATCH, type Batch, batchOf, batchShapes, velocityLoss } from "./loss.ts";

/** A step of training with its losses. */
export interface TrainingProgress {
  readonly step: number;
  readonly steps: number;
  readonly loss: number;
  /** The loss on rows held out, of the averaged weights; the last that was measured. */
  readonly validation: number;
  readonly seconds: number;
  /** Until the last step, at the pace so far. */
  readonly secondsLeft: number;
}

/** How long and on what a network is trained. */
export interface TrainingOptions extends EngineOptions {
  readonly seed?: number;
  /**
   * Which network whole rows are learned by; that of given cells is residual. One of masked cells
   * is both. Default residual.
   */
  readonly network?: NetworkKind;
  /**
   * Default 128, or 256 for many rows and outputs, and 3; of a transformer 64 and 2, of masked
   * cells
   * 192 and 2.
   */
  readonly width?: number;
  readonly blocks?: number;
  /**
   * Steps of 512 rows, of masked cells 256. Default: 400 passes over the rows, from 2,000 to 20,000
   * steps; of masked cells 150 passes, from 1,000 to 40,000.
   */
  readonly steps?: number;
  /**
   * About how long training may take: steps are as many as fit at the pace it begins with. Default:
   * as long as the steps take.
   */
  readonly minutes?: number;
  /**
   * Measurements, of 40, that are clearly worse than the best, in a row, after which training ends.
   * Default 6.
   */
  readonly patience?: number;
  /** The largest learning rate. Default 2e-3. */
  readonly rate?: number;
  /** Where the run is kept, and continued from if something is there. Default: memory. */
  readonly store?: RunStore;
  readonly onProgress?: (progress: TrainingProgress) => void;
  /**
   * Called after each measurement with the averaged weights as they are by then. Training waits for
   * it.
   */
  readonly onWeights?: (weights: Weights) => Promise<void> | void;
  readonly signal?: AbortSignal;
}

/** How a network of a table is trained, beyond what a user says. */
export interface NetworkTraining extends TrainingOptions {
  /** How often weights are measured on rows held out. Default 40. */
  readonly measurements?: number;
  /** What weights are chosen by, a number for each of some rows or batches. Default: the losses. */
  readonly score?: (weights: Weights) => Promise<readonly number[]>;
  /** Which weights are kept: the best that were measured, by default, or the last. */
  readonly keep?: "best" | "last";
}

export interface TrainedParameters {
  /** The averaged weights of the best measurement. */
  readonly parameters: Parameters<NdArray>;
  /** The step that they are of, the last one taken, and the one that was planned. */
  readonly best: number;
  readonly step: number;
  readonly steps: number;
  readonly validation: number;
  readonly seconds: number;
}

export interface Trained extends TrainedParameters {
  readonly network: NetworkSpec;
}

/** Measurements a run, unless specified. */
const MEASUREMENTS = 40;
/** Reports of progress a run. */
const REPORTS = 400;
/** Batches of held-out rows that a measurement sees, the same each time. */
const VALIDATION_BATCHES = 16;
/**
 * Where time is limited, this share of it goes to finding out how long a step takes; more, up to
 * another share, as long as the steps timed are fewer than `TIMED`; and in any case two steps.
 */
const [PACED, MOST_OF_IT] = [0.02, 0.08];
/** Milliseconds of it at most: by then the pace is known. */
const MOST_PACED = 30_000;
const [LEAST_TIMED, TIMED] = [2, 16];
/** How far beyond its time a run may go whose steps turn out slower than at its beginning. */
const OVERTIME = 1.15;

/** Passes over the rows of training; a network of masked cells learns rows by heart in as many. */
const [PASSES, MASKED_PASSES] = [400, 150];
/**
 * Rows of a batch of masked cells: with 512, trees separated synthetic rows of Magic from real ones
 * more often after as many passes (scores of .808 and .842).
 */
export const MASKED_BATCH = 256;

/** Steps for so many rows of training: some passes, within bounds. */
export const usualSteps = (rows: number, network: NetworkKind = "residual"): number =>
  network === "masked"
    ? Math.min(40_000, Math.max(1000, Math.ceil((MASKED_PASSES * rows) / MASKED_BATCH)))
    : Math.min(20_000, Math.max(2000, Math.ceil((PASSES * rows) / BATCH)));

/** Rows and outputs from which a residual network is wide. */
const [MANY_ROWS, MANY_OUTPUTS] = [5000, 64];

/**
 * The width of a residual network of so many outputs: on 11,097 rows with 142 outputs, trees
 * separated synthetic rows less well with 256 than with 128 (a score of .805 and .725 after 6,000
 * steps).
 */
const usualWidth = (rows: number, outputs: number): number =>
  rows >= MANY_ROWS && outputs > MANY_OUTPUTS ? 256 : 128;

/** A tree like `like` out of a flat vector, on the host. */
function treeOf(flat: Float32Array, like: Parameters<NdArray>): Parameters<NdArray> {
  let at = 0;
  return mapTree<NdArray, NdArray>(
    like,
    ({ shape }) => {
      at += sizeOf(shape);
      return { shape, dtype: "float32", data: flat.slice(at - sizeOf(shape), at) };
    },
    isNdArray,
  );
}

/** Where batches come from. */
interface Batches {
  /** How many rows there are to learn from. */
  readonly rows: number;
  /** Rows of a batch. Default 512. */
  readonly batchSize?: number;
  /** Those of the arrays of a batch. */
  readonly shapes: readonly Shape[];
  /** A batch of rows to learn from, and of rows held out. */
  readonly batch: (key: Key) => readonly NdArray[];
  readonly held: (key: Key) => readonly NdArray[];
}

/** A network that is trained, and its loss on a batch. */
export interface NetworkTask extends Batches {
  readonly network: NetworkSpec;
  readonly loss: (
    network: (x: Tensor, lambda: Tensor) => Tensor,
    batch: readonly Tensor[],
  ) => Tensor;
}

/** Parameters of any kind that are trained, and their loss on a batch. */
export interface ParameterTask extends Batches {
  /** What keys are folded with. */
  readonly name: string;
  readonly init: (key: Key) => Parameters<NdArray>;
  readonly loss: (parameters: Parameters<Tensor>, batch: readonly Tensor[]) => Tensor;
  /** Called after each measurement with the averaged parameters as they are by then. */
  readonly onParameters?: (parameters: Parameters<NdArray>) => Promise<void> | void;
  /** What parameters are chosen by. Default: the losses. */
  readonly score?: (parameters: Parameters<NdArray>) => Promise<readonly number[]>;
}

/** The graphs of a run: a step, and the loss of weights on a batch. */
function graphsOf(
  { shapes, loss: of }: ParameterTask,
  like: Parameters<NdArray>,
  options: TrainingOptions,
) {
  const engine = engineOf(options);
  const loss = (p: Parameters<Tensor>, ...batch: Tensor[]): Tensor => of(p, batch);
  const step = compileStep(loss, like, [...shapes], { ...engine, beta2: 0.99 });
  const measure = compile(
    (theta: Tensor, ...batch: Tensor[]) => loss(unflatten(theta, like), ...batch),
    [[flatten(like).length], ...shapes],
    engine,
  );
  return { step, measure };
}

/**
 * The usual milliseconds of a task, by the latter half of the runs that so much time allows, or up
 * to `most` while they are few: the first wake what sleeps.
 */
async function paceOf(
  task: () => Promise<unknown>,
  milliseconds: number,
  most: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  const paces: number[] = [];
  const began = performance.now();
  const isDue = (): boolean => {
    const spent = performance.now() - began;
    if (paces.length < LEAST_TIMED) return true;
    return spent < Math.min(MOST_PACED, milliseconds) || (paces.length < TIMED && spent < most);
  };
  while (isDue()) {
    signal?.throwIfAborted();
    const from = performance.now();
    await task();
    paces.push(performance.now() - from);
  }
  return quantile(paces.slice(paces.length >> 1), 0.5);
}

/**
 * Steps that fit into so many minutes next to all measurements, of which no budget is too small for
 * one.
 */
async function fitting(
  minutes: number,
  step: () => Promise<unknown>,
  measure: () => Promise<unknown>,
  signal: AbortSignal | undefined,
): Promise<number> {
  const began = performance.now();
  const budget = minutes * 60_000;
  const most = MOST_OF_IT * budget;
  const [a, b] = [
    await paceOf(step, PACED * budget, most, signal),
    await paceOf(measure, 0, most, signal),
  ];
  const left = budget - (performance.now() - began);
  const whole = Math.floor((left - MEASUREMENTS * VALIDATION_BATCHES * b) / a);
  // With fewer steps than measurements there is one after each.
  return Math.max(
    1,
    whole >= MEASUREMENTS ? whole : Math.floor(left / (a + VALIDATION_BATCHES * b)),
  );
}

/**
 * Steps of a run that begins: as many as were requested or are usual, and no more than fit into its
 * time.
 */
async function plannedSteps(
  rows: number,
  { network, steps = usualSteps(rows, network), minutes, signal }: TrainingOptions,
  step: () => Promise<unknown>,
  measure: () => Promise<unknown>,
): Promise<number> {
  return minutes === undefined
    ? steps
    : Math.min(steps, await fitting(minutes, step, measure, signal));
}

/** Trains on points [rows, n] of about unit variance a column, and measures on others. */
export function trainScore(
  points: NdArray,
  held: NdArray,
  options: NetworkTraining & { readonly head?: Head } = {},
): Promise<Trained> {
  const [rows, n] = points.shape;
  const { head = plainHead(n), network = "residual" } = options;
  const { velocity } = head;
  const { width = network === "residual" ? usualWidth(rows, head.outputs) : undefined } = options;
  return trainTask(
    {
      network: networkFor(head, n, { ...options, width }),
      rows,
      shapes: batchShapes(n),
      loss: (network, batch) =>
        velocityLoss(
          (x, lambda) => velocity(network(x, lambda), x, lambda),
          ...(batch as Batch<Tensor>),
        ),
      batch: (key) => batchOf(points, key),
      held: (key) => batchOf(held, key),
    },
    options,
  );
}

/** Trains the network of a task. */
export async function trainTask(
  { network, loss, ...rest }: NetworkTask,
  options: NetworkTraining,
): Promise<Trained> {
  const { onWeights, score } = options;
  const { init, apply } = networkOf(network);
  const task: ParameterTask = {
    ...rest,
    name: "table",
    init,
    loss: (p, batch) => loss((x, lambda) => apply(p, x, lambda), batch),
    ...(onWeights && { onParameters: (parameters) => onWeights({ network, parameters }) }),
    ...(score && { score: (parameters) => score({ network, parameters }) }),
  };
  return { network, ...(await trainParameters(task, options)) };
}

/** Trains what a task says. */
export async function trainParameters(
  task: ParameterTask,
  options: NetworkTraining,
): Promise<TrainedParameters> {
  const { seed = 0, patience = 6, rate = 2e-3, minutes, signal, onProgress } = options;
  const { store = memoryStore(), measurements = MEASUREMENTS, keep = "best" } = options;
  const root = fold(keyOf(seed), task.name);
  const like = task.init(fold(root, "network"));
  const size = flatten(like).length;
  const { step, measure } = graphsOf(task, like, options);
  try {
    const before = await store.latest();
    const start = before ? stateOf(before, size, "the run") : initialState(like);
    const batch = (at: number): NdArray[] => [...task.batch(fold(fold(root, "batch"), at))];
    // Of no seed: fits of several are compared by them.
    const checks: (readonly NdArray[])[] = [];
    for (let i = 0; i < VALIDATION_BATCHES; i++) {
      checks.push(task.held(fold(keyOf("held"), i)));
      // Of a table of 500 columns, a batch takes a third of a second.
      await takeTurn(signal);
    }
    const steps = before
      ? keptIn(before).steps
      : await plannedSteps(
          task.rows,
          options,
          () => step(start, batch(0), 1, 0),
          () => measure(start.theta, ...checks[0]),
        );
    const every = Math.ceil(steps / measurements);
    const lossesOf = async (weights: NdArray): Promise<readonly number[]> => {
      const losses: number[] = [];
      for (const one of checks) losses.push(Number((await measure(weights, ...one)).data[0]));
      return losses;
    };
    const { score } = task;
    const choice = choiceOf(store, before, {
      steps,
      every,
      patience,
      isLast: keep === "last",
      measure: score ? ({ data }) => score(treeOf(data as Float32Array, like)) : lossesOf,
      onWeights: ({ data }) => task.onParameters?.(treeOf(data as Float32Array, like)),
    });
    const schedule = { peak: rate, warmup: Math.ceil(steps / 20), steps };
    const began = performance.now();
    const from = before?.step ?? 0;
    const { state, step: reached } = await train(start, {
      from,
      steps,
      batchSize: task.batchSize ?? BATCH,
      run: (state, at) => step(state, batch(at), at, rateAt(at, schedule)),
      rate: (at) => rateAt(at, schedule),
      reportEvery: Math.ceil(steps / REPORTS),
      saveEvery: every,
      store: choice.store,
      metadata: { seed: String(seed) },
      onReport: ({ step: at, loss, seconds }) => {
        const secondsLeft = (seconds / (at - from)) * (steps - at);
        onProgress?.({ step: at, steps, loss, validation: choice.last(), seconds, secondsLeft });
      },
      seconds: minutes === undefined ? undefined : OVERTIME * 60 * minutes,
      signal: signal ? AbortSignal.any([signal, choice.enough]) : choice.enough,
    });
    const { best, validation: lowest, weights } = await choice.best(reached, state.ema);
    const validation = score ? mean(await lossesOf(weights)) : lowest;
    const parameters = treeOf(weights.data as Float32Array, like);
    const seconds = (performance.now() - began) / 1000;
    return { parameters, best, step: reached, steps, validation, seconds };
  } finally {
    await Promise.all([step.dispose(), measure.dispose()]);
  }
}
