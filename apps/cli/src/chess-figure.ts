/** diffeo chess figure: the paper's figure (fig:chess_samples), boards from one model at several drift scales w. */
import type { Command } from "commander";
import { loadModel, writeFileAtomic } from "diffeo/node";
import { key } from "diffeo/random";
import { ansiBoards, type Board, EMPTY, judged, type Picture, sampleBoards, sheetSvg } from "diffeo-chess";
import { renderPng } from "diffeo-picture/node";
import { modelOption } from "./chess-aim.ts";
import { screen } from "./chess-output.ts";
import { checkWritable, integer, numbers, type RunOptions, withRunOptions } from "./options.ts";
import { stepper } from "./stepper.ts";

interface FigureCommand extends RunOptions {
  readonly model: string;
  readonly w: number[];
  readonly boards: number;
  readonly steps: number;
  readonly out: string;
}

async function run(options: FigureCommand): Promise<void> {
  const { model: path, w: scales, boards, steps, seed, out } = options;
  await checkWritable(`${out}.svg`, `${out}.png`);
  const model = await loadModel(path);
  const pictures: Picture[] = [];
  await stepper(options)(scales.length * steps, "sampling", async (how) => {
    for (const w of scales) {
      const { positions } = await sampleBoards(model, { count: boards, key: key(seed), steps, driftScale: w, ...how });
      pictures.push(...judged(positions, (board) => `w = ${w}\n${counted(board)}\n`));
    }
  });
  process.stdout.write(ansiBoards(pictures, screen()));
  const svg = sheetSvg(pictures, { columns: 4, title: "Positions at several drift scales w" });
  await writeFileAtomic(`${out}.svg`, svg);
  await writeFileAtomic(`${out}.png`, renderPng(svg));
  process.stdout.write(
    `\n${boards} boards each at w = ${scales.join(", ")}: the reverse diffusion on the simplex, ${steps} steps, drift scaled by w.\nWritten to ${out}.svg and ${out}.png\n`,
  );
}

function counted(board: Board): string {
  const pieces = board.filter((k) => k !== EMPTY).length;
  return `${pieces} ${pieces === 1 ? "piece" : "pieces"}`;
}

export function addChessFigure(chess: Command): void {
  const command = chess
    .command("figure")
    .description("draw boards at several drift scales, in the terminal and as SVG and PNG")
    .addOption(modelOption())
    .option("--w <list>", "drift scales", numbers, [0.8, 0.9, 0.95, 0.97, 1, 1.03, 1.05, 1.1])
    .option("--boards <n>", "boards for each", integer(1), 2)
    .option("--steps <n>", "steps of the reverse process", integer(1), 100)
    .option("--out <name>", "name of the files, without ending", "chess-figure");
  withRunOptions(command, 7).action(run);
}
