/** diffeo chess train: a U-Net score on positions. */
import { join } from "node:path";
import { type Command, Option } from "commander";
import { chessSpec } from "../chess/encoding.ts";
import { denoiserOf, loadModel, type Model, type ModelSpec, parameterCount, saveModel } from "../chess/model-file.ts";
import { playouts } from "../chess/playout.ts";
import type { Positions } from "../chess/position.ts";
import { readPositions } from "../chess/read.ts";
import { compileDenoiserStep, denoiserBatch } from "../chess/train.ts";
import { unetInit } from "../model/unet.ts";
import { fold, key } from "../random/index.ts";
import { initialState, RunFolder, rateAt, stateOf, train } from "../train/index.ts";
import { integer, integers, interruption, numbers, positive } from "./options.ts";
import { progress } from "./progress.ts";

interface TrainCommand {
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
  readonly predict: "noise" | "posterior";
  readonly rate: number;
  readonly warmup: number;
  readonly ema: number;
  readonly clip: number;
  readonly decay: number;
  readonly seed: number;
  readonly device: string;
  readonly threads?: number;
  readonly saveEvery: number;
  readonly minutes?: number;
}

async function positionsOf(files: readonly string[] | undefined, seed: number): Promise<Positions> {
  if (files) return (await readPositions(files)).positions;
  process.stderr.write("no --data: training on positions of random games\n");
  return playouts(20_000, fold(key(seed), "playouts"));
}

/** The network and encoding that the options describe, with fresh parameters. */
function freshModel(options: TrainCommand, positions: Positions): Pick<Model, "spec" | "parameters"> {
  const spec: ModelSpec = {
    network: {
      channels: 12,
      width: options.width,
      multipliers: options.multipliers,
      blocks: options.blocks,
      groups: 8,
      attention: options.attention,
      position: [8, 8],
      outputs: options.predict === "posterior" ? 13 : 12,
    },
    parameterisation: options.predict,
    encoding: chessSpec(positions),
  };
  return { spec, parameters: unetInit(fold(key(options.seed), "parameters"), spec.network) };
}

async function run(options: TrainCommand): Promise<void> {
  const { steps, batch, seed, out, init } = options;
  const positions = await positionsOf(options.data, seed);
  const { spec, parameters } = init === undefined ? freshModel(options, positions) : await loadModel(init);
  const { denoiser } = denoiserOf(spec);
  const config = {
    spec,
    ...(init !== undefined && { init }),
    steps,
    batch,
    seed,
    positions: positions.count,
    rate: options.rate,
    warmup: options.warmup,
    ema: options.ema,
    clip: options.clip,
    decay: options.decay,
  };
  const folder = options.resume ? await RunFolder.open(out, config) : await RunFolder.create(out, config);
  const checkpoint = options.resume ? await folder.latest() : undefined;
  const size = parameterCount(parameters);
  const from = checkpoint?.step ?? 0;
  const start = checkpoint ? stateOf(checkpoint, size, out) : initialState(parameters);

  const step = compileDenoiserStep(denoiser, parameters, {
    clip: options.clip,
    emaDecay: options.ema,
    weightDecay: options.decay,
    device: options.device,
    ...(options.threads !== undefined && { threads: options.threads }),
  });
  const schedule = { peak: options.rate, warmup: options.warmup, steps };
  const signal = interruption();
  const bar = progress(steps, "training", from);
  let note = "";
  const { step: reached } = await train(start, {
    from,
    steps,
    batchSize: batch,
    rate: (s) => rateAt(s, schedule),
    run: (state, s) => step(state, denoiserBatch(positions, denoiser, batch, seed, s), s, rateAt(s, schedule)),
    reportEvery: Math.min(50, steps),
    saveEvery: options.saveEvery,
    folder,
    metadata: { format: "diffeo-checkpoint-1" },
    signal,
    ...(options.minutes !== undefined && { seconds: options.minutes * 60 }),
    onStep: (s) => bar.update(s, note),
    onReport: ({ step: s, loss, speed }) => {
      note = `loss ${loss.toFixed(4)}  ${speed.toFixed(0)} boards/s`;
      if (!process.stderr.isTTY) process.stderr.write(`step ${s}  ${note}\n`);
    },
    onSave: ({ ema }) => saveModel(join(out, "model.safetensors"), spec, ema.data as Float32Array),
  });
  bar.end();
  await step.dispose();
  process.stdout.write(
    reached === steps
      ? `${steps} steps of ${batch} boards, ${size} parameters: ${join(out, "model.safetensors")}\n`
      : `stopped at step ${reached} of ${steps}; continue with the same command and --resume\n`,
  );
  if (signal.aborted) process.exitCode = 130;
}

export function addChessTrain(chess: Command): void {
  chess
    .command("train")
    .description("train a U-Net score on chess positions")
    .option("--data <files...>", "positions: CSV, FEN list, PGN or a packed set (default: random games)")
    .option("--out <folder>", "run folder", "runs/chess")
    .option("--resume", "continue the run in the folder")
    .option("--init <file>", "start from a model's weights, with its architecture and encoding")
    .option("--steps <n>", "steps in all", integer(1), 2000)
    .option("--batch <n>", "boards a step", integer(2), 128)
    .option("--width <n>", "channels at full resolution", integer(8), 32)
    .option("--multipliers <list>", "width of every level", numbers, [1, 1, 1])
    .option("--blocks <n>", "residual blocks a level", integer(1), 2)
    .option("--attention <list>", "levels with self-attention", integers(0), [0, 1])
    .addOption(
      new Option("--predict <what>", "what the network gives").choices(["noise", "posterior"]).default("posterior"),
    )
    .option("--rate <x>", "peak learning rate", positive, 4e-4)
    .option("--warmup <n>", "steps of rising rate", integer(1), 500)
    .option("--ema <x>", "decay of the parameter average", positive, 0.9995)
    .option("--clip <x>", "largest gradient norm", positive, 1)
    .option("--decay <x>", "weight decay", Number, 0)
    .option("--seed <n>", "seed", integer(0), 1)
    .option("--device <name>", "cpu, webgpu or cuda", "cpu")
    .option("--threads <n>", "threads of one operation", integer(1))
    .option("--save-every <n>", "steps between checkpoints", integer(1), 500)
    .option("--minutes <x>", "stop with a checkpoint after this long", positive)
    .action(run);
}
