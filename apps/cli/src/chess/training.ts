/**
 * A training run in its folder: from its newest checkpoint to its last step, with models and sheets
 * of boards on the way.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  compileDenoiserStep,
  denoiserBatch,
  type Focus,
  type LossOptions,
  type Model,
  modelOf,
} from "diffeo/categorical";
import { DiffeoError, fail } from "diffeo/graph";
import { parameterCount } from "diffeo/model";
import { type RunConfig, RunFolder, saveModel, writeFileAtomic } from "diffeo/node";
import { fold, key } from "diffeo/random";
import { type Checkpoint, initialState, rateAt, stateOf, train } from "diffeo/train";
import { boardPictures, type Positions, positionGrids, sampleBoards, sheetSvg } from "diffeo-chess";
import { advise } from "../shell/exit.ts";
import type { Io } from "../shell/io.ts";
import { engineOf, type RunOptions } from "../shell/options.ts";
import { progress } from "../shell/progress.ts";
import type { NetworkOptions } from "./network.ts";

/** The command's options. */
export interface TrainCommand extends RunOptions, NetworkOptions {
  readonly data?: string[];
  readonly out: string;
  readonly resume?: boolean;
  readonly init?: string;
  readonly steps: number;
  readonly batch: number;
  readonly weight: NonNullable<LossOptions["weight"]>;
  readonly bound: number;
  readonly rate: number;
  readonly warmup?: number;
  readonly fall?: number;
  readonly ema: number;
  readonly clip: number;
  readonly decay: number;
  readonly beta2: number;
  readonly saveEvery: number;
  readonly samplesEvery?: number;
  readonly minutes?: number;
  readonly focus?: number[];
}

/** What a run is made of: the command, and what it stands for. */
export interface TrainingPlan {
  readonly options: TrainCommand;
  readonly positions: Positions;
  readonly model: Model;
  readonly focus?: Focus | undefined;
  readonly warmup: number;
  /** Steps between sheets of boards, 0 for none. */
  readonly samplesEvery: number;
  readonly config: RunConfig;
}

/** Boards of one look at the model, and the steps each takes. */
const LOOK = { count: 8, steps: 50 };

export const MODEL_FILE = "model.safetensors";

/**
 * Draws boards of the model as it is by now. That it cannot make any yet is no reason to stop
 * training.
 */
async function drawSheet(
  io: Io,
  path: string,
  model: Model,
  step: number,
  options: TrainCommand,
): Promise<void> {
  const { signal } = io;
  try {
    const boardKey = fold(key(options.seed), "samples");
    const { positions } = await sampleBoards(model, {
      ...LOOK,
      key: boardKey,
      signal,
      ...engineOf(options),
    });
    const title = `After ${step} steps of training`;
    await writeFileAtomic(path, sheetSvg(boardPictures(positions), { columns: 4, title }));
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof DiffeoError && ["numerical", "device"].includes(error.kind)))
      throw error;
    io.stderr.write(`step ${step}  no sample boards: ${error.message}\n`);
  }
}

/**
 * What is kept beside a checkpoint: the model with averaged weights, and a sheet of its boards
 * where one is due.
 */
async function keepModel(
  io: Io,
  { options, model, samplesEvery }: TrainingPlan,
  ema: Float32Array,
  step: number,
): Promise<void> {
  const { out, steps } = options;
  const averaged = modelOf(model.spec, ema);
  await saveModel(join(out, MODEL_FILE), averaged);
  if (samplesEvery === 0 || (step % samplesEvery !== 0 && step !== steps)) return;
  const path = join(out, `samples-${String(step).padStart(6, "0")}.svg`);
  if (!existsSync(path)) await drawSheet(io, path, averaged, step, options);
}

/** The folder of a new run, or of one that goes on. */
const openRun = ({ options: { out, resume = false }, config }: TrainingPlan): Promise<RunFolder> =>
  resume
    ? RunFolder.open(out, config)
    : RunFolder.create(out, config).catch(
        advise("continue it with --resume, or choose another folder"),
      );

/** What can be done where numbers were lost, in the command's words. */
const restart =
  (out: string) =>
  (error: unknown): never => {
    if (!(error instanceof DiffeoError && error.kind === "numerical")) throw error;
    const model = join(out, MODEL_FILE);
    const goesOn = existsSync(model)
      ? `; --init ${model} goes on from the averaged weights of the newest checkpoint`
      : "";
    const remedy = `begin a run in another folder with a smaller --rate or --clip${goesOn}`;
    throw new DiffeoError("numerical", error.problem, remedy, { cause: error });
  };

/**
 * A rate that falls over the last steps has a run made longer; one that has begun to fall goes to
 * the step it falls to.
 */
function checkLonger({ step, metadata }: Checkpoint, { steps, fall = 0 }: TrainCommand): void {
  const falls = Number(metadata.falls ?? steps);
  const level = Math.min(falls, steps) - fall;
  if (falls === steps || step <= level) return;
  fail(
    "usage",
    `at step ${step} a rate that falls for ${fall} steps cannot turn from ending at step ${falls} to ending at step ${steps}`,
    step > falls - fall
      ? `continue with --steps ${falls}, or begin a run with --init from the model of this one`
      : `ask for at least ${step + fall} --steps`,
  );
}

/** Trains until the last step, the end of the time or an interruption. Returns the step reached. */
export async function runTraining(io: Io, plan: TrainingPlan): Promise<number> {
  const { options, model, positions, focus, warmup } = plan;
  const { steps, fall, batch, seed, out } = options;
  const folder = await openRun(plan);
  const checkpoint = options.resume ? await folder.latest() : undefined;
  const from = checkpoint?.step ?? 0;
  if (checkpoint) checkLonger(checkpoint, options);
  const start = checkpoint
    ? stateOf(checkpoint, parameterCount(model.parameters), join(out, `step-${from}`))
    : initialState(model.parameters);
  // A process that was killed may have left a checkpoint without its model and its sheet.
  if (checkpoint) await keepModel(io, plan, start.ema.data as Float32Array, from);

  const step = compileDenoiserStep(model, {
    weight: options.weight,
    bound: options.bound,
    clip: options.clip,
    emaDecay: options.ema,
    weightDecay: options.decay,
    beta2: options.beta2,
    ...engineOf(options),
  });
  const rate = (s: number): number => rateAt(s, { peak: options.rate, warmup, steps, fall });
  const grids = positionGrids(positions);
  const bar = progress(io.stderr, steps, "training", from);
  let note = "";
  try {
    const { step: reached } = await train(start, {
      from,
      steps,
      batchSize: batch,
      rate,
      run: (state, s) =>
        step(
          state,
          denoiserBatch(model, grids, {
            size: batch,
            key: key(seed),
            step: s,
            focus,
          }),
          s,
          rate(s),
        ),
      reportEvery: Math.min(50, steps),
      saveEvery: options.saveEvery,
      store: folder,
      metadata: {
        format: "diffeo-checkpoint-1",
        ...(fall !== undefined && { falls: String(steps) }),
      },
      signal: io.signal,
      ...(options.minutes !== undefined && { seconds: options.minutes * 60 }),
      onStep: (s) => bar.update(s, note),
      onReport: ({ step: s, loss, speed }) => {
        note = `loss ${loss.toPrecision(4)}  ${speed.toFixed(0)} boards/s`;
        if (!io.stderr.isTTY) io.stderr.write(`step ${s}  ${note}  ${bar.left(s)} left\n`);
      },
      onSave: ({ ema }, s) => keepModel(io, plan, ema.data as Float32Array, s),
    }).catch(restart(out));
    return reached;
  } finally {
    bar.end();
    await step.dispose();
  }
}
