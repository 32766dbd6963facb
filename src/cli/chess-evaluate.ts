/** diffeo chess evaluate: how like real positions those of a file are, beside real ones and independent squares. */
import type { Command } from "commander";
import { measureAll } from "../chess/measures.ts";
import { playouts } from "../chess/playout.ts";
import type { Positions } from "../chess/position.ts";
import { readPositions } from "../chess/read.ts";
import { measureTable } from "../chess/table.ts";
import { fold, key } from "../random/index.ts";
import { integer } from "./options.ts";

interface EvaluateCommand {
  readonly reference?: string[];
  readonly training?: string[];
  readonly count?: number;
  readonly neighbours: number;
  readonly skipBad?: boolean;
  readonly seed: number;
  readonly json?: boolean;
}

/** Without a reference there are at least legal positions to compare with. */
async function referencePositions(files: readonly string[] | undefined, seed: number): Promise<Positions> {
  if (files) return (await readPositions(files)).positions;
  process.stderr.write("no --reference: the real column is of positions of random games, not of real ones\n");
  return playouts(20_000, fold(key(seed), "playouts"));
}

async function run(file: string, options: EvaluateCommand): Promise<void> {
  const { count, neighbours, skipBad = false, seed, json = false } = options;
  const reading = await readPositions(file, { distinct: false, skipBad, ...(count !== undefined && { limit: count }) });
  const real = await referencePositions(options.reference, seed);
  const training = options.training ? (await readPositions(options.training)).positions : undefined;
  const comparison = measureAll(reading.positions, real, {
    key: fold(key(seed), "measures"),
    neighbours,
    ...(training && { training }),
  });
  if (json) {
    process.stdout.write(`${JSON.stringify({ file, skipped: reading.skipped, ...comparison }, null, 1)}\n`);
    return;
  }
  if (reading.skipped > 0) process.stdout.write(`${reading.skipped} bad rows were left out\n`);
  process.stdout.write(measureTable(comparison));
}

export function addChessEvaluate(chess: Command): void {
  chess
    .command("evaluate")
    .description("measure positions of a file beside real ones and beside independent squares")
    .argument("<file>", "positions: FEN, EPD, CSV, PGN or packed; - for standard input")
    .option("-r, --reference <files...>", "real positions to compare with; by default positions of random games")
    .option("--training <files...>", "positions the model was trained on; by default the reference")
    .option("--count <count>", "measure the first so many", integer(1))
    .option("--neighbours <count>", "how many look for their nearest training position", integer(1), 1000)
    .option("--skip-bad", "count bad rows and go on")
    .option("--seed <number>", "seed of everything that is drawn", integer(0), 0)
    .option("--json", "print JSON")
    .action(run);
}
