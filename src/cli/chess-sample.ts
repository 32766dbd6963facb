/** diffeo chess sample: boards from a trained model, in the terminal or as files. */
import { writeFile } from "node:fs/promises";
import { type Command, Option } from "commander";
import { ansiBoards } from "../chess/ansi.ts";
import { makeFen } from "../chess/fen.ts";
import { flawsOf } from "../chess/legality.ts";
import { loadModel } from "../chess/model-file.ts";
import { renderPng } from "../chess/png.ts";
import { boardAt, type Positions } from "../chess/position.ts";
import { type Boards, sampleBoards } from "../chess/sample.ts";
import { shippedModel } from "../chess/shipped.ts";
import { sheetSvg } from "../chess/svg.ts";
import { fail } from "../graph/index.ts";
import { key } from "../random/index.ts";
import { type Method, samplers } from "../sampler/index.ts";
import { integer, interruption, positive } from "./options.ts";
import { progress } from "./progress.ts";

interface SampleCommand {
  readonly model: string;
  readonly count: number;
  readonly w: number;
  readonly steps: number;
  readonly seed: number;
  readonly space: "simplex" | "logit";
  readonly method: Method;
  readonly format: keyof typeof formats;
  readonly out?: string;
  readonly batch: number;
  readonly device: string;
  readonly threads?: number;
}

const boardsOf = (positions: Positions) => Array.from({ length: positions.count }, (_, i) => boardAt(positions, i));

const pictures = (positions: Positions) =>
  boardsOf(positions).map((board) => ({
    board,
    caption: flawsOf(board).length === 0 ? "legal" : flawsOf(board).join(", "),
  }));

const formats = {
  ansi: ({ positions }: Boards) =>
    ansiBoards(pictures(positions), { colour: process.stdout.isTTY === true, width: process.stdout.columns ?? 80 }),
  fen: ({ positions }: Boards) =>
    boardsOf(positions)
      .map((b) => `${makeFen(b)}\n`)
      .join(""),
  json: ({ positions, ...report }: Boards) =>
    `${JSON.stringify({ ...report, boards: boardsOf(positions).map((b) => ({ fen: makeFen(b), flaws: flawsOf(b) })) }, undefined, 1)}\n`,
  svg: ({ positions }: Boards) => sheetSvg(pictures(positions)),
  png: ({ positions }: Boards) => renderPng(sheetSvg(pictures(positions))),
} as const;

async function run(options: SampleCommand): Promise<void> {
  const { count, steps, format, out } = options;
  if (format === "png" && !out) fail("usage", "a PNG cannot be printed", "give --out FILE.png");
  const model = await loadModel(options.model);
  const batches = Math.ceil(count / options.batch);
  const bar = progress(steps * batches, "sampling");
  let done = 0;
  const boards = await sampleBoards(model, {
    count,
    key: key(options.seed),
    steps,
    driftScale: options.w,
    space: options.space,
    method: options.method,
    batch: options.batch,
    device: options.device,
    ...(options.threads !== undefined && { threads: options.threads }),
    onStep: () => bar.update(++done),
    signal: interruption(),
  });
  bar.end();
  const made = formats[format](boards);
  if (out) await writeFile(out, made);
  else process.stdout.write(made as string);
  if (boards.exits > 0)
    process.stderr.write(`${boards.exits} steps left the simplex, ${boards.clamps} points were put back\n`);
}

export function addChessSample(chess: Command): void {
  chess
    .command("sample")
    .description("draw chess positions from a trained model")
    .option("--model <file>", "model.safetensors of a training run", shippedModel)
    .option("--count <n>", "boards", integer(1), 16)
    .option("--w <x>", "drift scale: below 1 fewer pieces, above 1 more; useful from 0.95 to 1.05", positive, 1)
    .option("--steps <n>", "steps of the reverse process", integer(1), 250)
    .option("--seed <n>", "seed; board i is the same in any batch", integer(0), 7)
    .addOption(
      new Option("--space <space>", "where the process lives").choices(["simplex", "logit"]).default("simplex"),
    )
    .addOption(new Option("--method <name>", "integrator").choices(Object.keys(samplers)).default("domainPreserving"))
    .addOption(new Option("--format <format>", "what to print").choices(Object.keys(formats)).default("ansi"))
    .option("--out <file>", "write to a file instead of the terminal")
    .option("--batch <n>", "boards at a time", integer(1), 64)
    .option("--device <name>", "cpu, webgpu or cuda", "cpu")
    .option("--threads <n>", "threads of one operation", integer(1))
    .action(run);
}
