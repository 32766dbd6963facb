/** diffeo chess train: a score on positions. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Command, Option } from "commander";
import { BOUND, type Focus, type Model, parameterisations, weights } from "diffeo/categorical";
import { compile } from "diffeo/engine";
import { add, fail, type Tensor } from "diffeo/graph";
import { parameterCount } from "diffeo/model";
import { inFolder, loadModel, modelDigest, type RunConfig } from "diffeo/node";
import { type Positions, requireChess } from "diffeo-chess";
import { BOARD_MODEL } from "diffeo-chess/node";
import type { Declare, Io } from "../shell/io.ts";
import {
  engineOf,
  integer,
  integers,
  MOST,
  nonNegative,
  numbers,
  positive,
  type RunOptions,
  refuseBeside,
  share,
  withRunOptions,
} from "../shell/options.ts";
import { outputs } from "../shell/outputs.ts";
import { version } from "../shell/version.ts";
import { boardNetworks, checkNetwork, freshModel } from "./network.ts";
import { positionsOf } from "./positions.ts";
import { runTraining, type TrainCommand, type TrainingPlan } from "./training.ts";

/** The share of the times of a step that is sampled from --focus. */
const FOCUSED = 0.85;

function focusOf(range: readonly number[] | undefined, horizon: number): Focus | undefined {
  if (range === undefined) return undefined;
  const [from, to, share = FOCUSED, ...more] = range;
  if (more.length > 0 || !(from < to && to <= horizon && share < 1))
    fail(
      "usage",
      `--focus ${range.join(",")} is not a range of times`,
      `give two times in (0, ${horizon}], the smaller first, and optionally a share below 1`,
    );
  return { from, to, share };
}

/** Throws if the device does not work, before a run starts on it. */
async function tryDevice(options: RunOptions): Promise<void> {
  const f = compile((x: Tensor) => add(x, 1), [[1]], engineOf(options));
  await f([1]).finally(() => f.dispose());
}

/** Identifies the data: the number of positions and a digest of them in their order. */
function identityOf({ count, bytes }: Positions): string {
  return (
    `${count} positions, SHA-256 ` +
    `${createHash("sha256").update(bytes).digest("hex").slice(0, 12)}…`
  );
}

/** Options of every network. */
const SHARED = ["network", "width", "predict"];

const warmupOf = ({ warmup, steps }: TrainCommand): number =>
  warmup ?? Math.min(500, Math.ceil(steps / 10));

/** Throws if the options are wrong, before anything is read or written. */
async function checkOptions(options: TrainCommand, command: Command): Promise<void> {
  const { steps, out, init, weight, warmup, fall, saveEvery, samplesEvery = saveEvery } = options;
  if (fall !== undefined && warmupOf(options) + fall > steps)
    fail(
      "usage",
      `the rate rises for ${warmupOf(options)} steps and falls for ${fall}, more than --steps ` +
        `${steps}`,
      "use more --steps, or a smaller --fall or --warmup",
    );
  if (warmup !== undefined && warmup >= steps)
    fail(
      "usage",
      `--warmup ${warmup} leaves no step of --steps ${steps} in which the rate falls`,
      "set --warmup below --steps",
    );
  if (samplesEvery % saveEvery !== 0)
    fail(
      "usage",
      `--samples-every ${samplesEvery} is not a multiple of --save-every ${saveEvery}`,
      "make it a multiple, or 0 for no boards",
    );
  if (init !== undefined)
    refuseBeside(command, "--init", [...SHARED, ...Object.values(boardNetworks).flat()]);
  else {
    refuseBeside(
      command,
      `--network ${options.network}`,
      boardNetworks[options.network === "unet" ? "transformer" : "unet"],
    );
    checkNetwork(options);
  }
  if (weight !== "bounded") refuseBeside(command, `--weight ${weight}`, ["bound"]);
  // A run may replace its own files. Without a run, a model of that name is not ours.
  const own = ["config.json", "metrics.jsonl", BOARD_MODEL].map((name) => ({
    path: join(out, name),
  }));
  const isRun = existsSync(own[0].path);
  if (options.resume && !isRun)
    fail("usage", `${out} contains no run`, "omit --resume to start one");
  if (!options.resume && isRun)
    fail(
      "usage",
      `${out} already contains a run`,
      "continue it with --resume, or choose another folder",
    );
  await outputs(own, { inputs: [init, ...(options.data ?? [])], force: isRun });
}

/** The settings that determine the numbers of a run, and the paths of its data. */
async function configOf(
  options: TrainCommand,
  { positions, model, warmup, focus }: Omit<TrainingPlan, "config">,
): Promise<RunConfig> {
  const { init, weight, steps, fall, batch, seed, rate, ema, clip, decay, beta2 } = options;
  return {
    version,
    files: { data: options.data ?? [], init },
    // Before the spec, whose encoding is fitted to the data: a changed run reports the first
    // difference.
    data: identityOf(positions),
    ...(init !== undefined && { init: await modelDigest(init) }),
    spec: model.spec,
    // With --fall, a run can be continued for more steps.
    ...(fall === undefined ? { steps } : { fall }),
    batch,
    seed,
    ...(weight !== "none" && { weight }),
    ...(weight === "bounded" && { bound: options.bound }),
    rate,
    warmup,
    ema,
    clip,
    decay,
    ...(beta2 !== 0.999 && { beta2 }),
    ...(focus && { focus }),
  };
}

async function modelFor({ init, ...options }: TrainCommand, positions: Positions): Promise<Model> {
  const model = init === undefined ? freshModel(options, positions) : await loadModel(init);
  requireChess(model.encoding);
  return model;
}

async function trainCommand(io: Io, options: TrainCommand, command: Command): Promise<void> {
  const { steps, batch, seed, out } = options;
  await checkOptions(options, command);
  await tryDevice(options);
  const without = "no --data: training on positions of random games";
  const positions = await positionsOf(io, options.data, { seed, without });
  const model = await modelFor(options, positions);
  const plan = {
    options,
    positions,
    model,
    focus: focusOf(options.focus, model.denoiser.sde.horizon),
    warmup: warmupOf(options),
    samplesEvery: options.samplesEvery ?? options.saveEvery,
  };
  const config = await configOf(options, plan);
  const reached = await inFolder(out, () => runTraining(io, { ...plan, config }));
  io.stdout.write(
    reached === steps
      ? `${steps} steps of ${batch} boards, ${parameterCount(model.parameters)} parameters: ` +
          `${join(out, BOARD_MODEL)}\n`
      : `stopped at step ${reached} of ${steps}; continue with the same command and --resume\n`,
  );
  io.signal.throwIfAborted();
}

const choice = (flags: string, about: string, choices: readonly string[], chosen: string): Option =>
  new Option(flags, about).choices(choices).default(chosen);

const withRun = (command: Command): Command =>
  command
    .optionsGroup("Run:")
    .option(
      "--data <files...>",
      "positions: CSV, FEN list, PGN or a packed set (default: random games)",
    )
    .option("--out <folder>", "run folder", "runs/chess")
    .option("--resume", "continue the run in the folder")
    .option("--init <file>", "start from a model's weights, with its architecture and encoding")
    .option(
      "--steps <n>",
      "total steps; the learning rate falls to zero over them",
      integer(1, 1e9),
      2000,
    )
    .option("--batch <n>", "boards per step", integer(2, MOST.batch), 128)
    .option("--save-every <n>", "steps between checkpoints", integer(1, 1e9), 500)
    .option(
      "--samples-every <n>",
      "steps between sheets of boards, 0 for none (default: --save-every)",
      integer(0, 1e9),
    )
    .option("--minutes <x>", "stop with a checkpoint after this many minutes", positive);

const withNetwork = (command: Command): Command =>
  command
    .optionsGroup("Network:")
    .addOption(choice("--network <kind>", "architecture", Object.keys(boardNetworks), "unet"))
    .option("--width <n>", "channels per square; of a U-Net at 8×8", integer(8, 4096), 32)
    .option(
      "--multipliers <list>",
      "U-Net: channels at 8×8, 4×4, … as multiples of the width",
      numbers,
      [1, 1, 1],
    )
    .option("--blocks <n>", "U-Net: residual blocks per level", integer(1, 64), 2)
    .option(
      "--attention <list>",
      "U-Net: levels with self-attention, 0 being 8×8",
      integers(0, 15),
      [0, 1],
    )
    .option("--layers <n>", "transformer: number of blocks", integer(1, 256), 4)
    .option("--heads <n>", "transformer: heads of attention", integer(1, 256), 4)
    .addOption(
      choice(
        "--activation <f>",
        "transformer: activation function",
        ["relu2", "gelu", "silu"],
        "relu2",
      ),
    );

const withLoss = (command: Command): Command =>
  command
    .optionsGroup("Loss:")
    .addOption(
      choice(
        "--predict <what>",
        "what the network predicts",
        Object.keys(parameterisations),
        "posterior",
      ),
    )
    .addOption(
      choice(
        "--weight <kind>",
        "how errors are weighted: none, by the Jacobian (on the simplex), or by the Jacobian " +
          "with a bound",
        weights,
        "none",
      ),
    )
    .option(
      "--bound <x>",
      "largest weight of a square's error, for --weight bounded",
      positive,
      BOUND,
    )
    .option(
      "--focus <from,to,share>",
      "sample this share of the times (default 0.85) from the interval in which classes are " +
        "decided",
      numbers,
    );

const withOptimiser = (command: Command): Command =>
  command
    .optionsGroup("Optimiser (AdamW):")
    .option("--rate <x>", "peak learning rate", positive, 4e-4)
    .option(
      "--warmup <n>",
      "steps of rising rate (default: a tenth of --steps, at most 500)",
      integer(1, 1e9),
    )
    .option(
      "--fall <n>",
      "keep the peak rate until the last n steps; --resume may then set more --steps than before",
      integer(1, 1e9),
    )
    .option("--ema <x>", "decay of the parameter average", share, 0.9995)
    .option("--clip <x>", "largest gradient norm", positive, 1)
    .option("--decay <x>", "weight decay", nonNegative, 0)
    .option("--beta2 <x>", "decay of the average of squared gradients", share, 0.999);

export const declare: Declare = (command, io) => {
  command.description(
    "Trains a score of chess positions: a U-Net or a transformer. The run folder receives the " +
      "model with averaged weights (model.safetensors), checkpoints, metrics and sheets of " +
      "sampled boards. Ctrl-C stops with a checkpoint. The same command with --resume continues, " +
      "and reaches the same numbers as an uninterrupted run.",
  );
  for (const declareGroup of [withRun, withNetwork, withLoss, withOptimiser]) declareGroup(command);
  command.optionsGroup("Machine:");
  withRunOptions(command, 1, "seed of weights, batches and noise").action((options) =>
    trainCommand(io, options, command),
  );
};
