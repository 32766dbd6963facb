/** Boards on the terminal or as files: what commands that make boards share. */
import { type Command, Option } from "commander";
import { fail } from "diffeo/graph";
import { writeFileAtomic } from "diffeo/node";
import type { Accepted } from "diffeo-chess";
import { ansiBoards, boardAt, flawsOf, judged, makeFullFen, makeTrace, type Picture, sheetSvg } from "diffeo-chess";
import { renderPng } from "diffeo-picture/node";
import { type DrawOptions, reportRejection, shareRejected, withDrawOptions } from "./chess-draw.ts";
import { checkWritable, integer, refuseBeside } from "./options.ts";

/** What is said of the boards in JSON beside themselves. */
type About = Readonly<Record<string, unknown>>;

/** What was known of every board: squares, and fields of the FEN after the placement. */
interface Given {
  readonly squares: Iterable<number>;
  readonly fields: readonly string[];
}

/** Boards in the forms that one may ask for. */
interface Made {
  readonly boards: Accepted;
  readonly pictures: readonly Picture[];
  readonly fens: readonly string[];
  readonly about: About;
}

function json({ boards: accepted, fens, about }: Made): string {
  const { positions, trace: _, rejected: rejectedSteps, ...report } = accepted;
  const boards = fens.map((fen, i) => ({ fen, flaws: flawsOf(boardAt(positions, i)) }));
  const record = { ...about, ...report, rejectedSteps, shareRejected: shareRejected(accepted), boards };
  return `${JSON.stringify(record, undefined, 1)}\n`;
}

/** How a picture in text fits where it is printed. */
export const screen = () => ({ colour: process.stdout.isTTY === true, width: process.stdout.columns ?? 80 });

const formats = {
  ansi: ({ pictures }: Made) => ansiBoards(pictures, screen()),
  fen: ({ fens }: Made) => fens.map((fen) => `${fen}\n`).join(""),
  json,
  svg: ({ pictures }: Made) => sheetSvg(pictures),
  png: ({ pictures }: Made) => renderPng(sheetSvg(pictures)),
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
  { squares: marked, fields }: Given = { squares: [], fields: [] },
): Promise<void> {
  const { format, out, trace, require: conditions = [] } = options;
  const { positions } = boards;
  if (positions.count > 0) {
    const pictures = judged(positions).map((picture) => ({ ...picture, marked }));
    const fens = pictures.map((_, i) => makeFullFen(boardAt(positions, i), fields));
    const said = { ...about, conditions: conditions.map(({ text }) => text) };
    const made = formats[format]({ boards, pictures, fens, about: said });
    if (out) await writeFileAtomic(out, made);
    else process.stdout.write(made as string);
    if (trace && boards.trace) await writeFileAtomic(trace, makeTrace(boards.trace, positions));
  }
  if (boards.exits > 0)
    process.stderr.write(`${boards.exits} steps left the simplex, ${boards.clamps} points were put back\n`);
  reportRejection(boards, count, options);
}
