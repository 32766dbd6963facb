/** diffeo chess evaluate: compares samples of a model, or positions of a file, with real ones. */
import type { Command } from "commander";
import { fold, key } from "diffeo/random";
import { type Accepted, measureAll, measureTable, type Positions, tooFew } from "diffeo-chess";
import { readPositions } from "diffeo-chess/node";
import type { Declare, Io } from "../shell/io.ts";
import { integer, MOST, type RunOptions, refuseBeside, withRunOptions } from "../shell/options.ts";
import { type AimOptions, withAimOptions, withPieces } from "./aim.ts";
import {
  checkConditions,
  type DrawOptions,
  drawSamples,
  recordOfGuide,
  reportRejection,
  shareRejected,
  withDrawOptions,
} from "./draw.ts";
import { positionsOf } from "./positions.ts";

interface EvaluateCommand extends AimOptions, DrawOptions, RunOptions {
  readonly reference?: string[];
  readonly training?: string[];
  readonly count?: number;
  readonly neighbours: number;
  readonly skipBad?: boolean;
  readonly json?: boolean;
}

/** Default number of samples, which takes minutes on a CPU. */
const SAMPLES = 200;

/** The positions that are evaluated, and their source. */
interface Measured {
  readonly about: {
    readonly source: string;
    readonly skipped: number;
    readonly guide?: readonly string[] | undefined;
    readonly guideStrength?: number | undefined;
    readonly conditions?: readonly string[];
    readonly shareRejected?: number;
  };
  readonly positions: Positions;
}

async function sampled(io: Io, options: EvaluateCommand): Promise<Measured> {
  const { count = SAMPLES, seed, w, steps, require: conditions } = options;
  const boards = (await drawSamples(io, options, { count, steps, driftScale: w })) as Accepted;
  reportRejection(io, boards, count, options);
  return {
    about: {
      source: `${options.model}, w = ${w}, ${steps} steps, seed ${seed}`,
      skipped: 0,
      ...recordOfGuide(options),
      ...(conditions && {
        conditions: conditions.map(({ text }) => text),
        shareRejected: shareRejected(boards),
      }),
    },
    positions: boards.positions,
  };
}

async function inFile(
  io: Io,
  file: string,
  { count, skipBad = false }: EvaluateCommand,
): Promise<Measured> {
  const limit = count === undefined ? {} : { limit: count };
  const { positions, skipped } = await readPositions(file, {
    distinct: false,
    skipBad,
    stdin: io.stdin,
    ...limit,
  });
  return { about: { source: file, skipped }, positions };
}

/** Options that apply to sampling only. */
const SAMPLING = [
  ...["model", "w", "pieces", "steps", "guide", "guideStrength", "require", "tries"],
  ...["batch", "device", "threads"],
];

async function evaluate(
  io: Io,
  file: string | undefined,
  given: EvaluateCommand,
  command: Command,
): Promise<void> {
  const guide = withPieces(given.guide, given);
  const options = { ...given, ...(guide && { guide }) };
  const { neighbours, seed, skipBad = false, json = false } = options;
  if (file !== undefined) refuseBeside(command, "a file of positions", SAMPLING);
  checkConditions(io, options, command);
  const real = await positionsOf(io, options.reference, {
    seed,
    skipBad,
    without: "no --reference: the column “real” holds positions of random games",
  });
  const training =
    options.training &&
    (await readPositions(options.training, { skipBad, stdin: io.stdin })).positions;
  const { about, positions } = await (file === undefined
    ? sampled(io, options)
    : inFile(io, file, options));
  const comparison = measureAll(positions, real, {
    key: fold(key(seed), "measures"),
    neighbours,
    training,
  });
  if (json) {
    io.stdout.write(
      `${JSON.stringify({ ...about, ...comparison, tooFew: tooFew(comparison) }, null, 1)}\n`,
    );
    return;
  }
  if (about.skipped > 0) io.stdout.write(`${about.skipped} bad rows were left out\n`);
  io.stdout.write(measureTable(comparison));
}

export const declare: Declare = (command, io) => {
  command
    .argument(
      "[file]",
      "positions: FEN, EPD, CSV, PGN or packed; - for standard input (default: samples of the " +
        "model)",
    )
    .option(
      "-r, --reference <files...>",
      "real positions to compare with (default: positions of random games)",
    )
    .option("--training <files...>", "positions the model was trained on (default: the reference)")
    .option(
      "--count <count>",
      `how many samples (default: ${SAMPLES}), or how many of a file (default: all)`,
      integer(1, MOST.boards),
    )
    .option(
      "--neighbours <count>",
      "number of samples for which the nearest training position is searched",
      integer(1, MOST.boards),
      1000,
    )
    .option("--skip-bad", "count bad rows of files instead of stopping")
    .option("--json", "print JSON");
  withDrawOptions(withAimOptions(command));
  withRunOptions(command, 0).action((file, options) => evaluate(io, file, options, command));
};
