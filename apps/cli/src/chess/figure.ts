/**
 * diffeo chess figure: the paper's figure (fig:chess_samples), boards of one model at several drift
 * scales w. For each w, the boards are sorted by their number of pieces, and the middle ones are
 * shown; among equal numbers, those sampled first.
 */
import { DiffeoError } from "diffeo/graph";
import { loadModel } from "diffeo/node";
import { key } from "diffeo/random";
import {
  BOARD_STEPS,
  type Board,
  boardPictures,
  EMPTY,
  legalityShares,
  materialOf,
  openBoards,
  type Picture,
  type Positions,
  select,
  sheetSvg,
} from "diffeo-chess";
import type { Declare, Io } from "../shell/io.ts";
import {
  engineOf,
  forceOption,
  integer,
  MOST,
  numbers,
  type RunOptions,
  withRunOptions,
} from "../shell/options.ts";
import { outputs } from "../shell/outputs.ts";
import { pictureFiles, writePicture } from "../shell/pictures.ts";
import { stepping } from "../shell/progress.ts";
import { modelOption } from "./aim.ts";
import { textBoards } from "./output.ts";

/** Boards sampled per w, unless more are shown. */
const BOARDS_OF = 6;

interface FigureCommand extends RunOptions {
  readonly model: string;
  readonly w: number[];
  readonly boards: number;
  readonly of?: number;
  readonly steps: number;
  readonly out: string;
  readonly force?: boolean;
}

/** The middle boards by number of pieces, in the order of these numbers. */
function typical(positions: Positions, count: number): Positions {
  const { pieces } = materialOf(positions);
  const rows = Array.from(pieces, (_, i) => i).sort((a, b) => pieces[a] - pieces[b] || a - b);
  const first = Math.floor((rows.length - count) / 2);
  return select(positions, rows.slice(first, first + count));
}

async function figure(io: Io, options: FigureCommand): Promise<void> {
  const { model: path, w: scales, boards, steps, seed, out } = options;
  const { of = Math.max(boards, BOARDS_OF) } = options;
  if (of < boards)
    throw new DiffeoError(
      "usage",
      `--boards ${boards} is larger than --of ${of}`,
      "set --of to at least --boards",
    );
  await outputs(pictureFiles(out), { inputs: [path], force: options.force });
  const model = await loadModel(path);
  const pictures: Picture[] = [];
  const draw = await openBoards(model, engineOf(options));
  await stepping(io, options, scales.length * steps, "sampling", async ({ signal, onStep }) => {
    for (const w of scales) {
      const { positions } = await draw({
        count: of,
        key: key(seed),
        steps,
        driftScale: w,
        signal,
        onStep,
      });
      const legal = Math.round(legalityShares(positions).legal * of);
      const shown = typical(positions, boards);
      pictures.push(
        ...boardPictures(
          shown,
          (board) => `w = ${w}, ${legal} of ${of} legal\n${counted(board)}\n`,
        ),
      );
    }
  }).finally(() => draw.dispose());
  io.stdout.write(textBoards(pictures, io.stdout));
  const svg = sheetSvg(pictures, { columns: 4, title: "Positions at several drift scales w" });
  await writePicture(io, out, svg);
  io.stdout.write(
    [
      `\nAt each w = ${scales.join(", ")}: of ${of} boards, the ${boards} with the middle `,
      `${boards === 1 ? "number" : "numbers"} of pieces. The reverse diffusion on the simplex, `,
      `${steps} steps, drift scaled by w.\nWritten to ${out}.svg and ${out}.png\n`,
    ].join(""),
  );
}

function counted(board: Board): string {
  const pieces = board.filter((k) => k !== EMPTY).length;
  return `${pieces} ${pieces === 1 ? "piece" : "pieces"}`;
}

export const declare: Declare = (command, io) => {
  command
    .addOption(modelOption())
    .option("--w <list>", "drift scales", numbers, [0.8, 0.9, 0.95, 0.97, 1, 1.03, 1.05, 1.1])
    .option(
      "--boards <n>",
      "boards to show per w: the middle ones by number of pieces",
      integer(1, 1000),
      2,
    )
    .option(
      "--of <n>",
      `boards to sample per w (default: ${BOARDS_OF}, or --boards)`,
      integer(1, 1000),
    )
    .option("--steps <n>", "steps of the reverse process", integer(1, MOST.steps), BOARD_STEPS)
    .option("--out <name>", "name of the files, without extension", "chess-figure")
    .addOption(forceOption());
  withRunOptions(command, 7).action((options) => figure(io, options));
};
