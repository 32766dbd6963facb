/** Boards on the terminal or as files: what commands that make boards share. */
import { type Command, Option } from "commander";
import { ansiBoards } from "../chess/ansi.ts";
import { flawsOf, makeFullFen } from "../chess/legality.ts";
import { judged } from "../chess/pictures.ts";
import { boardAt, type Positions } from "../chess/position.ts";
import type { Accepted } from "../chess/rejection.ts";
import { type Picture, sheetSvg } from "../chess/svg.ts";
import { makeTrace } from "../chess/trace.ts";
import { renderPng } from "../figure/png.ts";
import { fail } from "../graph/index.ts";
import { writeFileAtomic } from "../train/index.ts";
import { type DrawOptions, reportRejection, shareRejected, withDrawOptions } from "./chess-draw.ts";
import { checkWritable, integer, refuseBeside } from "./options.ts";

const boardsOf = (positions: Positions) => Array.from({ length: positions.count }, (_, i) => boardAt(positions, i));

const fens = (positions: Positions): string =>
  boardsOf(positions)
    .map((board) => `${makeFullFen(board)}\n`)
    .join("");

/** What is said of the boards in JSON beside themselves. */
type About = Readonly<Record<string, unknown>>;

function json(accepted: Accepted, about: About): string {
  const { positions, trace: _, rejected: rejectedSteps, ...report } = accepted;
  const boards = boardsOf(positions).map((board) => ({ fen: makeFullFen(board), flaws: flawsOf(board) }));
  const record = { ...about, ...report, rejectedSteps, shareRejected: shareRejected(accepted), boards };
  return `${JSON.stringify(record, undefined, 1)}\n`;
}

/** How a picture in text fits where it is printed. */
export const screen = () => ({ colour: process.stdout.isTTY === true, width: process.stdout.columns ?? 80 });

const formats = {
  ansi: (_: Accepted, pictures: readonly Picture[]) => ansiBoards(pictures, screen()),
  fen: ({ positions }: Accepted) => fens(positions),
  json: (boards: Accepted, _: readonly Picture[], about: About) => json(boards, about),
  svg: (_: Accepted, pictures: readonly Picture[]) => sheetSvg(pictures),
  png: (_: Accepted, pictures: readonly Picture[]) => renderPng(sheetSvg(pictures)),
} as const;

export interface OutputOptions extends DrawOptions {
  readonly format: keyof typeof formats;
  readonly out?: string;
  readonly trace?: string;
  readonly frames: number;
}

export const withOutputOptions = (command: Command): Command =>
  withDrawOptions(command)
    .addOption(new Option("--format <format>", "what to print").choices(Object.keys(formats)).default("ansi"))
    .option("--out <file>", "write to a file instead of the terminal")
    .option("--trace <file>", "write frames of the reverse diffusion, each square's mixture of pieces, as JSON")
    .option("--frames <n>", "frames of the trace", integer(2), 25);

/** Errors that should come before the work, not after it. */
export async function checkOutput({ format, out, trace, require: conditions }: OutputOptions, command: Command) {
  if (format === "png" && !out) fail("usage", "a PNG cannot be printed", "give --out FILE.png");
  if (!trace) refuseBeside(command, "no --trace", ["frames"]);
  if (!conditions) refuseBeside(command, "no --require", ["tries"]);
  await checkWritable(out, trace);
}

/** Prints or writes the boards and their trace, and says what rejection and clamping did to them. */
export async function writeBoards(
  boards: Accepted,
  count: number,
  options: OutputOptions,
  about: About,
  marked?: Iterable<number>,
): Promise<void> {
  const { format, out, trace, require: conditions = [] } = options;
  const { positions } = boards;
  if (positions.count > 0) {
    const pictures = judged(positions).map((picture) => (marked ? { ...picture, marked } : picture));
    const made = formats[format](boards, pictures, { ...about, conditions: conditions.map(({ text }) => text) });
    if (out) await writeFileAtomic(out, made);
    else process.stdout.write(made as string);
    if (trace && boards.trace) await writeFileAtomic(trace, makeTrace(boards.trace, positions));
  }
  if (boards.exits > 0)
    process.stderr.write(`${boards.exits} steps left the simplex, ${boards.clamps} points were put back\n`);
  reportRejection(boards, count, options);
}
