/** diffeo chess train: a U-Net score on positions. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { type Command, Option } from "commander";
import {
  BOUND,
  compileDenoiserStep,
  denoiserBatch,
  denoiserOf,
  type Focus,
  type LossOptions,
  type Model,
  type ModelSpec,
  modelOf,
  type Parameterisation,
  parameterCount,
  parameterisations,
  weights,
} from "diffeo/categorical";
import { compile } from "diffeo/engine";
import { add, DiffeoError, fail, type Tensor } from "diffeo/graph";
import { unetInit } from "diffeo/model";
import { loadModel, modelDigest, RunFolder, saveModel, writeFileAtomic } from "diffeo/node";
import { fold, key } from "diffeo/random";
import { initialState, rateAt, stateOf, train } from "diffeo/train";
import {
  CLASSES,
  chessSpec,
  judged,
  type Positions,
  positionGrids,
  requireChess,
  sampleBoards,
  sheetSvg,
} from "diffeo-chess";
import { positionsOf } from "./chess-positions.ts";
import {
  engineOf,
  integer,
  integers,
  interruption,
  nonNegative,
  numbers,
  positive,
  type RunOptions,
  refuseBeside,
  share,
  withRunOptions,
} from "./options.ts";
import { progress } from "./progress.ts";
import { version } from "./version.ts";

interface TrainCommand extends RunOptions {
  readonly data?: string[];
  readonly out: string;
  readonly resume?: boolean;
  readonly init?: string;
  readonly steps: number;
  readonly batch: number;
  readonly width: number;
  readonly multipliers: number[];
  readonly blocks: number;
  readonly attention: number[];
  readonly predict: Parameterisation;
  readonly weight: NonNullable<LossOptions["weight"]>;
  readonly bound: number;
  readonly rate: number;
  readonly warmup?: number;
  readonly ema: number;
  readonly clip: number;
  readonly decay: number;
  readonly saveEvery: number;
  readonly samplesEvery?: number;
  readonly minutes?: number;
  readonly focus?: number[];
}

/** Groups of every normalisation: each level's width must divide into them. */
const GROUPS = 8;
/** Boards of one look at the model, and the steps each takes. */
const LOOK = { count: 8, steps: 50 };

/** The network and encoding that the options describe, with fresh parameters. */
function freshModel(options: TrainCommand, positions: Positions): Model {
  const { width, multipliers, blocks, attention, predict } = options;
  const odd = multipliers.find((m) => (width * m) % GROUPS !== 0);
  if (odd !== undefined)
    fail("usage", `a level of ${width} × ${odd} channels`, `choose --width and --multipliers that give multiples of 8`);
  if (multipliers.length > 4)
    fail("usage", `${multipliers.length} levels of a board of 8×8`, "give --multipliers at most four: 8, 4, 2, 1");
  const level = attention.find((l) => l >= multipliers.length);
  if (level !== undefined)
    fail(
      "usage",
      `attention at level ${level} of a network of ${multipliers.length}`,
      `give --attention levels from 0 to ${multipliers.length - 1}`,
    );
  const channels = CLASSES - 1;
  const spec: ModelSpec = {
    network: {
      channels,
      width,
      multipliers,
      blocks,
      groups: GROUPS,
      attention,
      position: [8, 8],
      outputs: parameterisations[predict].outputs(CLASSES, channels),
    },
    parameterisation: predict,
    encoding: chessSpec(positions),
  };
  return { spec, parameters: unetInit(fold(key(options.seed), "parameters"), spec.network), ...denoiserOf(spec) };
}

/** Of the times of a step, this share is drawn from --focus. */
const FOCUSED = 0.85;

function focusOf(range: readonly number[] | undefined, horizon: number): Focus | undefined {
  if (range === undefined) return undefined;
  const [from, to] = range;
  if (range.length !== 2 || !(from < to && to <= horizon))
    fail("usage", `--focus ${range.join(",")}`, `give two times, the smaller first, both within (0, ${horizon}]`);
  return { from, to, share: FOCUSED };
}

/** Draws boards of the model as it is by now. That it cannot make any yet is no reason to stop training. */
async function look(
  path: string,
  model: Model,
  step: number,
  options: TrainCommand,
  signal: AbortSignal,
): Promise<void> {
  try {
    const boardKey = fold(key(options.seed), "samples");
    const { positions } = await sampleBoards(model, { ...LOOK, key: boardKey, signal, ...engineOf(options) });
    const title = `After ${step} steps of training`;
    await writeFileAtomic(path, sheetSvg(judged(positions), { columns: 4, title }));
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof DiffeoError && ["numerical", "device"].includes(error.kind))) throw error;
    process.stderr.write(`step ${step}  no sample boards: ${error.message}\n`);
  }
}

/** Raises what is wrong with a device before a run is begun on it. */
async function tryDevice(options: RunOptions): Promise<void> {
  const f = compile((x: Tensor) => add(x, 1), [[1]], engineOf(options));
  await f([1]).finally(() => f.dispose());
}

/** What tells data from other data: how many positions, and a digest of them in their order. */
function identityOf({ count, bytes }: Positions): string {
  return `${count} positions, SHA-256 ${createHash("sha256").update(bytes).digest("hex").slice(0, 12)}…`;
}

async function run(options: TrainCommand, command: Command): Promise<void> {
  const { steps, batch, seed, out, init, weight, bound, saveEvery, samplesEvery = saveEvery } = options;
  const { warmup = Math.min(500, Math.ceil(steps / 10)) } = options;
  if (options.warmup !== undefined && warmup >= steps)
    fail(
      "usage",
      `a rate that rises for ${warmup} steps of ${steps} never falls to zero`,
      "give a --warmup below --steps",
    );
  if (samplesEvery % saveEvery !== 0)
    fail(
      "usage",
      `boards every ${samplesEvery} steps, checkpoints every ${saveEvery}`,
      "give --samples-every a multiple of --save-every, or 0",
    );
  if (init !== undefined) refuseBeside(command, "--init", ["width", "multipliers", "blocks", "attention", "predict"]);
  if (weight !== "bounded") refuseBeside(command, `--weight ${weight}`, ["bound"]);
  await tryDevice(options);
  const positions = await positionsOf(options.data, {
    seed,
    without: "no --data: training on positions of random games",
  });
  const model = init === undefined ? freshModel(options, positions) : await loadModel(init);
  requireChess(model.encoding);
  const { spec, parameters, denoiser } = model;
  const focus = focusOf(options.focus, denoiser.sde.horizon);
  const config = {
    version,
    files: { data: options.data ?? [], ...(init !== undefined && { init }) },
    // Before the spec, whose encoding is fitted to the data: of what differs, the first is named.
    data: identityOf(positions),
    ...(init !== undefined && { init: await modelDigest(init) }),
    spec,
    steps,
    batch,
    seed,
    ...(weight !== "none" && { weight }),
    ...(weight === "bounded" && { bound }),
    rate: options.rate,
    warmup,
    ema: options.ema,
    clip: options.clip,
    decay: options.decay,
    ...(focus && { focus }),
  };
  const folder = options.resume ? await RunFolder.open(out, config) : await RunFolder.create(out, config);
  const checkpoint = options.resume ? await folder.latest() : undefined;
  const size = parameterCount(parameters);
  const from = checkpoint?.step ?? 0;
  const start = checkpoint ? stateOf(checkpoint, size, join(out, `step-${from}`)) : initialState(parameters);

  const step = compileDenoiserStep(model, {
    weight,
    bound,
    clip: options.clip,
    emaDecay: options.ema,
    weightDecay: options.decay,
    ...engineOf(options),
  });
  const schedule = { peak: options.rate, warmup, steps };
  const grids = positionGrids(positions);
  const signal = interruption();
  const bar = progress(steps, "training", from);
  const modelPath = join(out, "model.safetensors");
  let note = "";
  const { step: reached } = await train(start, {
    from,
    steps,
    batchSize: batch,
    rate: (s) => rateAt(s, schedule),
    run: (state, s) =>
      step(
        state,
        denoiserBatch(model, grids, { size: batch, seed, step: s, ...(focus && { focus }) }),
        s,
        rateAt(s, schedule),
      ),
    reportEvery: Math.min(50, steps),
    saveEvery,
    store: folder,
    metadata: { format: "diffeo-checkpoint-1" },
    signal,
    ...(options.minutes !== undefined && { seconds: options.minutes * 60 }),
    onStep: (s) => bar.update(s, note),
    onReport: ({ step: s, loss, speed }) => {
      note = `loss ${loss.toPrecision(4)}  ${speed.toFixed(0)} boards/s`;
      if (!process.stderr.isTTY) process.stderr.write(`step ${s}  ${note}  ${bar.left(s)} left\n`);
    },
    onSave: async ({ ema }, s) => {
      const averaged = modelOf(spec, ema.data as Float32Array);
      await saveModel(modelPath, averaged);
      if (samplesEvery === 0 || (s % samplesEvery !== 0 && s !== steps)) return;
      const path = join(out, `samples-${String(s).padStart(6, "0")}.svg`);
      await look(path, averaged, s, options, signal);
    },
  });
  bar.end();
  await step.dispose();
  process.stdout.write(
    reached === steps
      ? `${steps} steps of ${batch} boards, ${size} parameters: ${modelPath}\n`
      : `stopped at step ${reached} of ${steps}; continue with the same command and --resume\n`,
  );
  if (signal.aborted) process.exitCode = 130;
}

const choice = (flags: string, about: string, choices: readonly string[], chosen: string): Option =>
  new Option(flags, about).choices(choices).default(chosen);

export function addChessTrain(chess: Command): void {
  const command = chess
    .command("train")
    .summary("train a U-Net score on chess positions")
    .description(
      "Trains a U-Net score on chess positions. The run folder gets the model with averaged weights (model.safetensors), " +
        "checkpoints, metrics and sheets of sampled boards. Ctrl-C stops with a checkpoint; the same command with " +
        "--resume goes on to the very numbers that an uninterrupted run reaches.",
    )
    .optionsGroup("Run:")
    .option("--data <files...>", "positions: CSV, FEN list, PGN or a packed set (default: random games)")
    .option("--out <folder>", "run folder", "runs/chess")
    .option("--resume", "continue the run in the folder")
    .option("--init <file>", "start from a model's weights, with its architecture and encoding")
    .option("--steps <n>", "steps in all; the learning rate falls to zero over them", integer(1), 2000)
    .option("--batch <n>", "boards a step", integer(2), 128)
    .option("--save-every <n>", "steps between checkpoints", integer(1), 500)
    .option("--samples-every <n>", "steps between sheets of boards, 0 for none (default: --save-every)", integer(0))
    .option("--minutes <x>", "stop with a checkpoint after this long", positive)
    .optionsGroup("Network:")
    .option("--width <n>", "channels at 8×8", integer(8), 32)
    .option("--multipliers <list>", "channels at 8×8, 4×4, … as multiples of the width", numbers, [1, 1, 1])
    .option("--blocks <n>", "residual blocks a level", integer(1), 2)
    .option("--attention <list>", "levels with self-attention, 0 being 8×8", integers(0), [0, 1])
    .optionsGroup("Loss:")
    .addOption(choice("--predict <what>", "what the network gives", Object.keys(parameterisations), "posterior"))
    .addOption(
      choice(
        "--weight <kind>",
        "errors of the score as they are, as the simplex sees them, or the latter with a bound",
        weights,
        "none",
      ),
    )
    .option("--bound <x>", "largest weight of a square's error, for --weight bounded", positive, BOUND)
    .option("--focus <from,to>", "draw 85 % of the times from this part of (0, 1], where classes are decided", numbers)
    .optionsGroup("Optimiser (AdamW):")
    .option("--rate <x>", "peak learning rate", positive, 4e-4)
    .option("--warmup <n>", "steps of rising rate (default: a tenth of --steps, at most 500)", integer(1))
    .option("--ema <x>", "decay of the parameter average", share, 0.9995)
    .option("--clip <x>", "largest gradient norm", positive, 1)
    .option("--decay <x>", "weight decay", nonNegative, 0)
    .optionsGroup("Machine:");
  withRunOptions(command, 1, "seed of weights, batches and noise").action(run);
}
