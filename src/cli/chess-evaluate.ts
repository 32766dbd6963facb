/** diffeo chess evaluate: how like real positions samples of a model, or those of a file, are. */
import type { Command } from "commander";
import { measureAll } from "../chess/measures.ts";
import { loadModel } from "../chess/model-file.ts";
import { playouts } from "../chess/playout.ts";
import type { Positions } from "../chess/position.ts";
import { readPositions } from "../chess/read.ts";
import { sampleBoards } from "../chess/sample.ts";
import { measureTable } from "../chess/table.ts";
import { fold, key } from "../random/index.ts";
import { type AimOptions, aimOf, withAimOptions } from "./chess-aim.ts";
import { engineOf, integer, interruption, type RunOptions, withRunOptions } from "./options.ts";
import { progress } from "./progress.ts";

interface EvaluateCommand extends AimOptions, RunOptions {
  readonly batch: number;
  readonly reference?: string[];
  readonly training?: string[];
  readonly count?: number;
  readonly neighbours: number;
  readonly skipBad?: boolean;
  readonly json?: boolean;
}

/** Samples of a model when no number is given: minutes on a processor. */
const SAMPLES = 200;

/** What is measured, what to call it, and how many rows of its file were left out. */
interface Measured {
  readonly source: string;
  readonly positions: Positions;
  readonly skipped: number;
}

async function sampled(options: EvaluateCommand): Promise<Measured> {
  const { count = SAMPLES, batch, seed } = options;
  const { w, steps } = await aimOf(options);
  const bar = progress(steps * Math.ceil(count / batch), "sampling");
  let done = 0;
  const { positions } = await sampleBoards(await loadModel(options.model), {
    count,
    key: key(seed),
    steps,
    driftScale: w,
    batch,
    ...engineOf(options),
    onStep: () => bar.update(++done),
    signal: interruption(),
  });
  bar.end();
  return { source: `${options.model}, w = ${w}, ${steps} steps, seed ${seed}`, positions, skipped: 0 };
}

async function measured(file: string | undefined, options: EvaluateCommand): Promise<Measured> {
  if (file === undefined) return sampled(options);
  const { count, skipBad = false } = options;
  const reading = await readPositions(file, { distinct: false, skipBad, ...(count !== undefined && { limit: count }) });
  return { source: file, positions: reading.positions, skipped: reading.skipped };
}

/** Without a reference there are at least legal positions to compare with. */
async function referencePositions(files: readonly string[] | undefined, seed: number): Promise<Positions> {
  if (files) return (await readPositions(files)).positions;
  process.stderr.write("no --reference: the real column is of positions of random games, not of real ones\n");
  return playouts(20_000, fold(key(seed), "playouts"));
}

async function run(file: string | undefined, options: EvaluateCommand): Promise<void> {
  const { neighbours, seed, json = false } = options;
  const { source, positions, skipped } = await measured(file, options);
  const real = await referencePositions(options.reference, seed);
  const training = options.training ? (await readPositions(options.training)).positions : undefined;
  const comparison = measureAll(positions, real, {
    key: fold(key(seed), "measures"),
    neighbours,
    ...(training && { training }),
  });
  if (json) {
    process.stdout.write(`${JSON.stringify({ source, skipped, ...comparison }, null, 1)}\n`);
    return;
  }
  if (skipped > 0) process.stdout.write(`${skipped} bad rows were left out\n`);
  process.stdout.write(measureTable(comparison));
}

export function addChessEvaluate(chess: Command): void {
  const command = chess
    .command("evaluate")
    .description("measure samples of a model, or positions of a file, beside real ones and beside independent squares")
    .argument("[file]", "positions: FEN, EPD, CSV, PGN or packed; - for standard input (default: samples of the model)")
    .option("-r, --reference <files...>", "real positions to compare with; by default positions of random games")
    .option("--training <files...>", "positions the model was trained on; by default the reference")
    .option(
      "--count <count>",
      `how many samples (default: ${SAMPLES}), or how many of a file (default: all)`,
      integer(1),
    )
    .option("--neighbours <count>", "how many look for their nearest training position", integer(1), 1000)
    .option("--skip-bad", "count bad rows of a file and go on")
    .option("--json", "print JSON");
  withAimOptions(command).option("--batch <n>", "boards at a time", integer(1), 64);
  withRunOptions(command, 0).action(run);
}
