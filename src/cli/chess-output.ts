/** Boards on the terminal or as files, and conditions they must meet: what commands that make boards share. */
import { type Command, Option } from "commander";
import { ansiBoards } from "../chess/ansi.ts";
import { type BoardCondition, parseCondition } from "../chess/condition.ts";
import { makeFen } from "../chess/fen.ts";
import { flawsOf } from "../chess/legality.ts";
import { judged } from "../chess/pictures.ts";
import { boardAt, type Positions } from "../chess/position.ts";
import type { Accepted } from "../chess/rejection.ts";
import { type Picture, sheetSvg } from "../chess/svg.ts";
import { makeTrace } from "../chess/trace.ts";
import { renderPng } from "../figure/png.ts";
import { fail } from "../graph/index.ts";
import { writeFileAtomic } from "../train/index.ts";
import { integer } from "./options.ts";

const boardsOf = (positions: Positions) => Array.from({ length: positions.count }, (_, i) => boardAt(positions, i));

const fens = (positions: Positions): string =>
  boardsOf(positions)
    .map((board) => `${makeFen(board)}\n`)
    .join("");

/** What is said of the boards in JSON beside themselves. */
type About = Readonly<Record<string, unknown>>;

function json({ positions, trace: _, ...report }: Accepted, about: About): string {
  const boards = boardsOf(positions).map((board) => ({ fen: makeFen(board), flaws: flawsOf(board) }));
  return `${JSON.stringify({ ...about, ...report, boards }, undefined, 1)}\n`;
}

const screen = () => ({ colour: process.stdout.isTTY === true, width: process.stdout.columns ?? 80 });

const formats = {
  ansi: (_: Accepted, pictures: readonly Picture[]) => ansiBoards(pictures, screen()),
  fen: ({ positions }: Accepted) => fens(positions),
  json: (boards: Accepted, _: readonly Picture[], about: About) => json(boards, about),
  svg: (_: Accepted, pictures: readonly Picture[]) => sheetSvg(pictures),
  png: (_: Accepted, pictures: readonly Picture[]) => renderPng(sheetSvg(pictures)),
} as const;

export interface OutputOptions {
  readonly count: number;
  readonly require?: readonly BoardCondition[];
  readonly tries?: number;
  readonly format: keyof typeof formats;
  readonly out?: string;
  readonly trace?: string;
  readonly frames: number;
}

export const withOutputOptions = (command: Command): Command =>
  command
    .option(
      "--require <condition>",
      "by rejection, draw until boards meet it: legal, Q, q=1, pieces<=20, balance>0, …; may be given again",
      (text: string, before: readonly BoardCondition[] = []) => [...before, parseCondition(text)],
    )
    .option("--tries <n>", "with --require, the most boards to draw (default: 100 for each that is wanted)", integer(1))
    .addOption(new Option("--format <format>", "what to print").choices(Object.keys(formats)).default("ansi"))
    .option("--out <file>", "write to a file instead of the terminal")
    .option("--trace <file>", "write frames of the reverse diffusion, each square's mixture of pieces, as JSON")
    .option("--frames <n>", "frames of the trace", integer(2), 25);

/** Errors that should come before the work, not after it. */
export function checkOutput({ format, out }: OutputOptions): void {
  if (format === "png" && !out) fail("usage", "a PNG cannot be printed", "give --out FILE.png");
}

export const triesOf = ({ tries, count }: OutputOptions): number => tries ?? 100 * count;

/** Prints or writes the boards and their trace, and says what rejection and clamping did to them. */
export async function writeBoards(
  boards: Accepted,
  options: OutputOptions,
  about: About,
  marked?: Iterable<number>,
): Promise<void> {
  const { format, out, trace, require: conditions = [], count } = options;
  const { positions, drawn } = boards;
  if (positions.count > 0) {
    const pictures = judged(positions).map((picture) => (marked ? { ...picture, marked } : picture));
    const made = formats[format](boards, pictures, about);
    if (out) await writeFileAtomic(out, made);
    else process.stdout.write(made as string);
    if (trace && boards.trace) await writeFileAtomic(trace, makeTrace(boards.trace, positions));
  }
  if (boards.exits > 0)
    process.stderr.write(`${boards.exits} steps left the simplex, ${boards.clamps} points were put back\n`);
  if (conditions.length === 0) return;
  const wanted = conditions.map(({ text }) => text).join(", ");
  const share = (1 - positions.count / drawn).toFixed(3);
  process.stderr.write(
    `rejection: of ${drawn} boards drawn ${positions.count} met ${wanted}; the share rejected is ${share}\n`,
  );
  if (positions.count < count)
    fail(
      "data",
      `only ${positions.count} of ${count} boards met ${wanted} in ${drawn} draws`,
      "ask for less, aim at it with --pieces or --w, or allow more with --tries",
    );
}
