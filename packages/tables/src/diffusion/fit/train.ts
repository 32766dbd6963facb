/**
 * Training of the score network of a table: Adam with a rising, then falling rate, the averaged
 * weights measured on rows that training does not see, and the best of them kept. A batch is a
 * function of seed and step, and how many steps there are is settled before the first, so that the
 * same seed gives the same numbers, interrupted or not.
 */

import { compile } from "diffeo/engine";
import { isNdArray, mapTree, type NdArray, type Shape, sizeOf, type Tensor } from "diffeo/graph";
import { mean, takeTurn } from "diffeo/host";
import { type NetworkSpec, networkOf, type Parameters } from "diffeo/model";
import { fold, type Key, key as keyOf } from "diffeo/random";
import {
  compileStep,
  flatten,
  initialState,
  memoryStore,
  rateAt,
  stateOf,
  train,
  unflatten,
} from "diffeo/train";
import { engineOf, type Head, networkFor, plainHead } from "../network/index.ts";
import { choiceOf, keptIn } from "./choice.ts";
import { BATCH, type Batch, batchOf, batchShapes, velocityLoss } from "./loss.ts";
import { MEASUREMENTS, plannedSteps, VALIDATION_BATCHES } from "./pace.ts";
import type {
  NetworkTraining,
  Trained,
  TrainedParameters,
  TrainingOptions,
} from "./training-options.ts";

/** Reports of progress per run. */
const REPORTS = 400;

/** By what factor a run may exceed its time where steps become slower than at the beginning. */
const OVERTIME = 1.15;

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

/** Trains on points [rows, n] with a variance of about 1 per column, and measures on others. */
export function trainScore(
  points: NdArray,
  held: NdArray,
  options: NetworkTraining & { readonly head?: Head } = {},
): Promise<Trained> {
  const [rows, n] = points.shape;
  const { head = plainHead(n), network = "diffusion" } = options;
  const { velocity } = head;
  const { width = network === "diffusion" ? usualWidth(rows, head.outputs) : undefined } = options;
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

/** Trains the parameters of a task. */
export async function trainParameters(
  task: ParameterTask,
  options: NetworkTraining,
): Promise<TrainedParameters> {
  const root = fold(keyOf(options.seed ?? 0), task.name);
  const like = task.init(fold(root, "network"));
  const graphs = graphsOf(task, like, options);
  try {
    return await trainBy(graphs, task, like, options);
  } finally {
    await Promise.all([graphs.step.dispose(), graphs.measure.dispose()]);
  }
}

/**
 * Batches of rows held out. They do not depend on the seed: fits of several seeds are compared by
 * them.
 */
async function heldBatches(
  task: ParameterTask,
  signal: AbortSignal | undefined,
): Promise<readonly (readonly NdArray[])[]> {
  const batches: (readonly NdArray[])[] = [];
  for (let i = 0; i < VALIDATION_BATCHES; i++) {
    batches.push(task.held(fold(keyOf("held"), i)));
    // A batch of a table of 500 columns takes a third of a second.
    await takeTurn(signal);
  }
  return batches;
}

/** The loss on each batch. */
async function lossesOn(
  batches: readonly (readonly NdArray[])[],
  measure: (...batch: readonly NdArray[]) => Promise<NdArray>,
): Promise<readonly number[]> {
  const losses: number[] = [];
  for (const batch of batches) losses.push(Number((await measure(...batch)).data[0]));
  return losses;
}

/** Trains by compiled graphs. @param like the parameters before training */
async function trainBy(
  { step, measure }: ReturnType<typeof graphsOf>,
  task: ParameterTask,
  like: Parameters<NdArray>,
  options: NetworkTraining,
): Promise<TrainedParameters> {
  const { seed = 0, patience = 6, rate = 2e-3, minutes, signal, onProgress } = options;
  const { store = memoryStore(), measurements = MEASUREMENTS, keep = "best" } = options;
  const root = fold(keyOf(seed), task.name);
  const size = flatten(like).length;
  const before = await store.latest();
  const start = before ? stateOf(before, size, "the run") : initialState(like);
  const batch = (at: number): NdArray[] => [...task.batch(fold(fold(root, "batch"), at))];
  const checks = await heldBatches(task, signal);
  const steps = before
    ? keptIn(before).steps
    : await plannedSteps(
        task.rows,
        options,
        () => step(start, batch(0), 1, 0),
        () => measure(start.theta, ...checks[0]),
      );
  const every = Math.ceil(steps / measurements);
  const lossesOf = (weights: NdArray) => lossesOn(checks, (...one) => measure(weights, ...one));
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
}
