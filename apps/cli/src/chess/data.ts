/** diffeo chess data: reads positions of any format, counts, splits and packs them. */
import { basename, dirname, extname, join } from "node:path";
import { type Command, Option } from "commander";
import { fail } from "diffeo/graph";
import { writeFileAtomic } from "diffeo/node";
import { fold, key } from "diffeo/random";
import {
  boardAt,
  formatFullFen,
  type Positions,
  playouts,
  select,
  statisticsOf,
  statisticsTable,
} from "diffeo-chess";
import {
  type Format,
  type Reading,
  readPositions,
  splitRows,
  writeDataset,
} from "diffeo-chess/node";
import type { Declare, Io } from "../shell/io.ts";
import { forceOption, integer, MOST, refuseBeside, share } from "../shell/options.ts";
import { outputs } from "../shell/outputs.ts";

interface DataCommand {
  readonly out?: string;
  readonly heldOut?: number;
  readonly format?: Format;
  readonly skipBad?: boolean;
  readonly limit?: number;
  readonly fromPly?: number;
  readonly perGame?: number;
  readonly playouts: number;
  readonly seed: number;
  readonly json?: boolean;
  readonly force?: boolean;
}

/** Positions of random games as a `Reading`, so that both sources are handled alike. */
function randomGames(count: number, seed: number): Reading {
  const positions = playouts(count, fold(key(seed), "playouts"));
  return {
    positions,
    sides: new Uint8Array(count).fill(2),
    files: [],
    duplicates: 0,
    skipped: 0,
    problems: [],
  };
}

/** Writes one FEN per line, with the side to move where it is known. */
function writeFens(path: string, positions: Positions, sides: Uint8Array): Promise<void> {
  const known = [["w"], ["b"], []];
  const lines = Array.from(
    sides,
    (side, i) => `${formatFullFen(boardAt(positions, i), known[side])}\n`,
  );
  return writeFileAtomic(path, lines.join(""));
}

/** The writer for the extension of a path. */
function writerOf(path: string): typeof writeFens | typeof writeDataset {
  const extension = extname(path).toLowerCase();
  if (extension === ".fen") return writeFens;
  if (extension === ".bin") return writeDataset;
  return fail(
    "usage",
    `the extension of ${path} does not name an output format`,
    "use .bin for packed positions, or .fen for a list",
  );
}

/** Positions and their sides to move. */
type Part = Pick<Reading, "positions" | "sides">;

function split(reading: Reading, share: number): readonly Part[] {
  const { positions, sides } = reading;
  const { train, heldOut } = splitRows(reading, share);
  if (train.length === 0 || heldOut.length === 0)
    fail(
      "data",
      `--held-out ${share} of ${positions.count} positions leaves one of the two parts empty`,
      "give more positions, or change the share",
    );
  return [train, heldOut].map((rows) => ({
    positions: select(positions, rows),
    sides: Uint8Array.from(rows, (row) => sides[row]),
  }));
}

const besides = (path: string): string => {
  const extension = extname(path);
  return join(dirname(path), `${basename(path, extension)}.held-out${extension}`);
};

/** Reads the files or plays random games, and writes the output files. */
async function data(
  io: Io,
  files: readonly string[],
  options: DataCommand,
  command: Command,
): Promise<void> {
  const { out, heldOut, limit = Number.POSITIVE_INFINITY, seed, force } = options;
  if (heldOut !== undefined && !out) fail("usage", "--held-out needs an output file", "set --out");
  if (files.length > 0) refuseBeside(command, "files", ["playouts"]);
  else
    refuseBeside(command, "positions of random games", ["format", "skipBad", "fromPly", "perGame"]);
  const paths = out === undefined ? [] : heldOut === undefined ? [out] : [out, besides(out)];
  const writers = paths.map(writerOf);
  await outputs(
    paths.map((path) => ({ path })),
    { inputs: files, force },
  );
  const reading =
    files.length > 0
      ? await readPositions(files, { ...options, key: fold(key(seed), "plies"), stdin: io.stdin })
      : randomGames(Math.min(options.playouts, limit), seed);
  const written: Written[] = [];
  const parts = heldOut === undefined ? [reading] : split(reading, heldOut);
  for (const [i, write] of writers.entries()) {
    await write(paths[i], parts[i].positions, parts[i].sides);
    written.push({ path: paths[i], positions: parts[i].positions.count });
  }
  report(io, reading, written, options);
}

interface Written {
  readonly path: string;
  readonly positions: number;
}

function report(
  io: Io,
  reading: Reading,
  written: readonly Written[],
  { json = false }: DataCommand,
): void {
  const { files, positions, sides, duplicates, skipped, problems } = reading;
  const statistics = statisticsOf(positions, sides);
  if (json) {
    const all = { files, duplicates, skipped, problems, written, statistics };
    return void io.stdout.write(`${JSON.stringify(all, null, 1)}\n`);
  }
  const n = (count: number): string => count.toLocaleString("en");
  if (files.length === 0)
    io.stdout.write(`no files given: ${n(positions.count)} positions of random games\n`);
  for (const { name, format, rows } of files)
    io.stdout.write(`${name}: ${n(rows)} rows, read as ${format}\n`);
  if (duplicates > 0)
    io.stdout.write(`${n(duplicates)} rows repeat a placement and were left out\n`);
  if (skipped > 0)
    io.stdout.write(
      `${n(skipped)} bad rows were left out; ` +
        `the first:\n${problems.map((p) => `  ${p}\n`).join("")}`,
    );
  for (const { path, positions: count } of written)
    io.stdout.write(`wrote ${n(count)} positions to ${path}\n`);
  io.stdout.write(`\n${statisticsTable(statistics)}`);
}

export const declare: Declare = (command, io) =>
  void command
    .argument(
      "[files...]",
      "files of positions, - for standard input (default: positions of random games)",
    )
    .option(
      "-o, --out <file>",
      "output file: name.bin (packed, 32 bytes per position) or name.fen (one FEN per line)",
    )
    .option(
      "--held-out <share>",
      "write this share of the positions to a second file; games are not split, if they are known",
      share,
    )
    .addOption(
      new Option("--format <format>", "format of the files (default: by name or content)").choices([
        "csv",
        "fen",
        "pgn",
        "positions",
      ]),
    )
    .option("--skip-bad", "count bad rows instead of stopping")
    .option(
      "--limit <count>",
      "stop after this many positions",
      integer(1, Number.MAX_SAFE_INTEGER),
    )
    .option("--from-ply <ply>", "PGN: the first ply of a game to take (default 1)", integer(0, 1e6))
    .option("--per-game <count>", "PGN: take this many random plies per game", integer(1, 1e6))
    .option(
      "--playouts <count>",
      "number of positions of random games, if no files are given",
      integer(1, MOST.rows),
      10_000,
    )
    .option("--seed <number>", "seed of random games and plies", integer(0, MOST.seed), 0)
    .option("--json", "print everything as JSON, with the marginals of all squares")
    .addOption(forceOption())
    .action((files, options) => data(io, files, options, command));
