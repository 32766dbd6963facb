/**
 * diffeo chess figure: the paper's figure (fig:chess_samples), boards from one model at several
 * drift scales w.
 */
import { loadModel } from "diffeo/node";
import { key } from "diffeo/random";
import {
  BOARD_STEPS,
  type Board,
  boardPictures,
  EMPTY,
  openBoards,
  type Picture,
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

interface FigureCommand extends RunOptions {
  readonly model: string;
  readonly w: number[];
  readonly boards: number;
  readonly steps: number;
  readonly out: string;
  readonly force?: boolean;
}

async function figure(io: Io, options: FigureCommand): Promise<void> {
  const { model: path, w: scales, boards, steps, seed, out } = options;
  await outputs(pictureFiles(out), { inputs: [path], force: options.force });
  const model = await loadModel(path);
  const pictures: Picture[] = [];
  const draw = await openBoards(model, engineOf(options));
  await stepping(io, options, scales.length * steps, "sampling", async ({ signal, onStep }) => {
    for (const w of scales) {
      const { positions } = await draw({
        count: boards,
        key: key(seed),
        steps,
        driftScale: w,
        signal,
        onStep,
      });
      pictures.push(...boardPictures(positions, (board) => `w = ${w}\n${counted(board)}\n`));
    }
  }).finally(() => draw.dispose());
  io.stdout.write(textBoards(pictures, io.stdout));
  const svg = sheetSvg(pictures, { columns: 4, title: "Positions at several drift scales w" });
  await writePicture(io, out, svg);
  io.stdout.write(
    `\n${boards} ${boards === 1 ? "board" : "boards"} each at w = ${scales.join(", ")}: the reverse diffusion on the simplex, ${steps} steps, drift scaled by w.\nWritten to ${out}.svg and ${out}.png\n`,
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
    .option("--boards <n>", "boards for each", integer(1, 1000), 2)
    .option("--steps <n>", "steps of the reverse process", integer(1, MOST.steps), BOARD_STEPS)
    .option("--out <name>", "name of the files, without ending", "chess-figure")
    .addOption(forceOption());
  withRunOptions(command, 7).action((options) => figure(io, options));
};
