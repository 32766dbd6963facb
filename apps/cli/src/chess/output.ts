/** Output of boards to the terminal or to files, shared by the commands that make boards. */
import { type Command, Option } from "commander";
import { fail } from "diffeo/graph";
import { writeFileAtomic } from "diffeo/node";
import {
  type Accepted,
  ansiBoards,
  boardAt,
  boardPictures,
  CLASSES,
  flawsOf,
  formatFullFen,
  type Picture,
  SQUARES,
  serializeTrace,
  sheetSvg,
} from "diffeo-chess";
import type { Io, Output } from "../shell/io.ts";
import { forceOption, integer, noteUnused } from "../shell/options.ts";
import { outputs, PNG, SVG } from "../shell/outputs.ts";
import { pngOf } from "../shell/pictures.ts";
import { steered } from "../shell/visible.ts";
import {
  checkConditions,
  type DrawOptions,
  recordOfGuide,
  reportRejection,
  shareRejected,
  withDrawOptions,
} from "./draw.ts";

/** What the JSON output states besides the boards. */
type About = Readonly<Record<string, unknown>>;

/** The known part of every board: squares, and fields of the FEN after the placement. */
interface Given {
  readonly squares: Iterable<number>;
  readonly fields: readonly string[];
}

/** Boards in every output format. */
interface Made {
  readonly boards: Accepted;
  readonly pictures: readonly Picture[];
  readonly fens: readonly string[];
  readonly about: About;
}

function json({ boards: accepted, fens, about }: Made): string {
  const { positions, trace: _, rejected: rejectedSteps, ...report } = accepted;
  const boards = fens.map((fen, i) => ({ fen, flaws: flawsOf(boardAt(positions, i)) }));
  const record = {
    ...about,
    ...report,
    rejectedSteps,
    shareRejected: shareRejected(accepted),
    boards,
  };
  return `${JSON.stringify(record, undefined, 1)}\n`;
}

/** Boards as text that suits the output: in colour on a terminal. */
export function textBoards(
  pictures: Parameters<typeof ansiBoards>[0],
  { isTTY = false, columns = 80 }: Output,
): string | Uint8Array {
  const text = ansiBoards(pictures, { colour: isTTY, width: columns });
  return isTTY ? steered(text) : text;
}

const formats = {
  ansi: ({ pictures }: Made, { stdout }: Io) => textBoards(pictures, stdout),
  fen: ({ fens }: Made) => fens.map((fen) => `${fen}\n`).join(""),
  json,
  svg: ({ pictures }: Made) => sheetSvg(pictures),
  png: ({ pictures }: Made, io: Io) => pngOf(io, sheetSvg(pictures), "the picture"),
} as const;

export interface OutputOptions extends DrawOptions {
  readonly format: keyof typeof formats;
  readonly out?: string;
  readonly trace?: string;
  readonly frames: number;
  readonly force?: boolean;
}

export const withOutputOptions = (command: Command): Command =>
  withDrawOptions(command)
    .addOption(
      new Option("--format <format>", "what to print")
        .choices(Object.keys(formats))
        .default("ansi"),
    )
    .option("--out <file>", "write to a file instead of the terminal")
    .option(
      "--trace <file>",
      "write frames of the reverse diffusion as JSON: class probabilities of each square",
    )
    .option("--frames <n>", "frames of the trace", integer(2, 100_000), 25)
    .addOption(forceOption());

/** The maximum length of a string: a trace is written as one string. */
const LONGEST_TEXT = 2 ** 29;

/**
 * First bytes of a picture from an earlier run. Files of other formats cannot be recognised as
 * ours.
 */
const heads: Partial<Record<keyof typeof formats, RegExp>> = { svg: SVG, png: PNG };

/**
 * Checks the output options before the work starts.
 * @param inputs files that the command reads
 */
export async function checkOutput(
  io: Io,
  count: number,
  options: OutputOptions,
  command: Command,
  inputs: readonly (string | undefined)[],
): Promise<void> {
  const { format, out, trace, frames, force } = options;
  if (format === "png" && !out)
    fail("usage", "a PNG cannot be printed to the terminal", "give --out FILE.png");
  if (!trace) noteUnused(io, command, "without --trace", ["frames"]);
  else if ((4 / 3) * frames * count * SQUARES * CLASSES > LONGEST_TEXT)
    fail(
      "usage",
      `a trace of ${count} boards in ${frames} frames is too large for a file`,
      "use fewer --frames",
    );
  checkConditions(io, options, command);
  const like = heads[format];
  const files = [
    out === undefined ? [] : { path: out, like },
    trace === undefined ? [] : { path: trace },
  ];
  await outputs(files.flat(), { inputs, force });
}

/**
 * Prints or writes the boards and their trace, and reports rejection and clamping.
 */
export async function writeBoards(
  io: Io,
  boards: Accepted,
  count: number,
  options: OutputOptions,
  about: About,
  { squares: marked, fields }: Given = { squares: [], fields: [] },
): Promise<void> {
  const { format, out, trace, require: conditions = [] } = options;
  const { positions } = boards;
  if (positions.count > 0) {
    const pictures = boardPictures(positions).map((picture) => ({ ...picture, marked }));
    const fens = pictures.map((_, i) => formatFullFen(boardAt(positions, i), fields));
    const described = {
      ...about,
      ...recordOfGuide(options),
      conditions: conditions.map(({ text }) => text),
    };
    const made = await formats[format]({ boards, pictures, fens, about: described }, io);
    if (out) await writeFileAtomic(out, made);
    else io.stdout.write(made);
    if (trace && boards.trace)
      await writeFileAtomic(trace, serializeTrace(boards.trace, positions));
  }
  if (boards.exits > 0)
    io.stderr.write(
      `${boards.exits} steps left the simplex; ${boards.clamps} points were clamped to it\n`,
    );
  reportRejection(io, boards, count, options);
}
