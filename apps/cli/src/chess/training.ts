/**
 * The training run of `diffeo chess train`: progress, reports, and errors that name its options.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Focus, LossOptions, Model } from "diffeo/categorical";
import { DiffeoError } from "diffeo/graph";
import type { RunConfig } from "diffeo/node";
import { key } from "diffeo/random";
import type { Positions } from "diffeo-chess";
import { BOARD_MODEL, trainBoards } from "diffeo-chess/node";
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

/** A run: the options of the command and the values derived from them. */
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

/** Rewrites the remedy of a numerical failure with the options of the command. */
const restart =
  (out: string) =>
  (error: unknown): never => {
    if (!(error instanceof DiffeoError && error.kind === "numerical")) throw error;
    const model = join(out, BOARD_MODEL);
    const goesOn = existsSync(model)
      ? `; --init ${model} starts from the averaged weights of the newest checkpoint`
      : "";
    const remedy = `start a run in another folder with a smaller --rate or --clip${goesOn}`;
    throw new DiffeoError("numerical", error.problem, remedy, { cause: error });
  };

/** Trains until the last step, the time limit or an interruption. Returns the step reached. */
export async function runTraining(
  io: Io,
  { options, warmup, ...plan }: TrainingPlan,
): Promise<number> {
  const { steps, fall, batch, seed, out, saveEvery, resume = false, minutes } = options;
  let bar: ReturnType<typeof progress> | undefined;
  let note = "";
  const step = {
    weight: options.weight,
    bound: options.bound,
    clip: options.clip,
    emaDecay: options.ema,
    weightDecay: options.decay,
    beta2: options.beta2,
    ...engineOf(options),
  };
  return trainBoards({
    ...plan,
    out,
    resume,
    batch,
    step,
    saveEvery,
    key: key(seed),
    schedule: { peak: options.rate, warmup, steps, fall },
    signal: io.signal,
    seconds: minutes === undefined ? undefined : minutes * 60,
    onStart: (from) => {
      bar = progress(io.stderr, steps, "training", from);
    },
    onStep: (s) => bar?.update(s, note),
    onReport: ({ step: s, loss, speed }) => {
      note = `loss ${loss.toPrecision(4)}  ${speed.toFixed(0)} boards/s`;
      if (!io.stderr.isTTY) io.stderr.write(`step ${s}  ${note}  ${bar?.left(s)} left\n`);
    },
    onNoBoards: (s, why) => io.stderr.write(`step ${s}  no sample boards: ${why.message}\n`),
  })
    .catch(restart(out))
    .finally(() => bar?.end());
}
