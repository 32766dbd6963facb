/** diffeo grid fit: trains a model of grids of classes from a text file. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Option } from "commander";
import {
  boxesOf,
  type ClassArray,
  errorsByTime,
  type GridNetwork,
  type Groups,
  linesOf,
  type Model,
  trainGrid,
} from "diffeo/categorical";
import { fail, type Shape } from "diffeo/graph";
import { parameterCount } from "diffeo/model";
import { inFolder, RunFolder, saveModel } from "diffeo/node";
import { fold, key } from "diffeo/random";
import { memoryStore, type RunStore, type TrainReport } from "diffeo/train";
import type { Declare, Io } from "../shell/io.ts";
import {
  engineOf,
  integer,
  integers,
  MOST,
  positive,
  type RunOptions,
  withRunOptions,
} from "../shell/options.ts";
import { outputs } from "../shell/outputs.ts";
import { progress } from "../shell/progress.ts";
import { version } from "../shell/version.ts";
import { classesOf, readGrids, symbolsOf } from "./grids.ts";

interface FitCommand extends RunOptions {
  readonly grid: Shape;
  readonly out: string;
  readonly groups?: string;
  readonly network?: GridNetwork;
  readonly steps: number;
  readonly batch: number;
  readonly minutes?: number;
  readonly run?: string;
  readonly json?: boolean;
  readonly force?: boolean;
}

/** Parses the kinds of groups: rows, columns, boxes 3x3. */
function groupsOf(text: string, grid: Shape): Groups[] {
  return text.split(",").map((word) => {
    const box = /^boxes\s+(\d+(?:x\d+)*)$/.exec(word.trim());
    if (box) return boxesOf(grid, box[1].split("x").map(Number));
    const axis = ["columns", "rows"].indexOf(word.trim());
    if (axis < 0 || grid.length !== 2)
      fail(
        "usage",
        `--groups ${word.trim()}: a grid [${grid.join(", ")}] has no such groups`,
        "give rows, columns, boxes 3x3, with commas between them",
      );
    return linesOf(grid)[axis];
  });
}

/** The number of grids and of times at which the error by time is measured. */
const [ERROR_GRIDS, ERROR_TIMES] = [64, 32];

/** The model with its error over time, to which samplers fit their times. */
async function measured(model: Model, classes: ClassArray, options: FitCommand): Promise<Model> {
  const { grid } = model.encoding;
  const sites = grid.reduce((a, b) => a * b, 1);
  const errors = await errorsByTime(model, classes.subarray(0, ERROR_GRIDS * sites), {
    ...engineOf(options),
    key: fold(key(options.seed), "errors"),
    times: ERROR_TIMES,
  });
  return { ...model, errors };
}

async function train(io: Io, path: string, options: FitCommand, store: RunStore) {
  const { grid, groups, network, steps, batch, seed, minutes } = options;
  const lines = await readGrids(path, grid);
  const symbols = symbolsOf(lines);
  const classes = classesOf(lines, symbols, false);
  const from = (await store.latest())?.step ?? 0;
  const bar = progress(io.stderr, steps, "training", from);
  let last: TrainReport | undefined;
  const model = await trainGrid(classes, {
    ...engineOf(options),
    ...{ classes: symbols.length, symbols, grid, network, steps, batch, seed, store },
    groups: groups === undefined ? undefined : groupsOf(groups, grid),
    signal: io.signal,
    seconds: minutes === undefined ? undefined : 60 * minutes,
    onReport: (report) => {
      last = report;
      bar.update(report.step, `loss ${report.loss.toFixed(4)}`);
    },
  }).finally(bar.end);
  const reached = (await store.latest())?.step ?? steps;
  if (io.signal.aborted && options.run !== undefined)
    io.stderr.write(`${options.run} contains step ${reached}. Repeat the command to resume\n`);
  io.signal.throwIfAborted();
  const trained = await measured(model, classes, options);
  return { model: trained, symbols, grids: lines.grids.length, step: reached, loss: last?.loss };
}

/** Opens the run of a folder, new or continued. */
async function openRun(folder: string, path: string, options: FitCommand): Promise<RunFolder> {
  const { grid, groups, network, steps, batch, seed } = options;
  const lines = await readGrids(path, grid);
  const data = createHash("sha256").update(lines.grids.join("\n")).digest("hex").slice(0, 16);
  const config = {
    ...{ version, files: { data: path }, kind: "grid", data },
    ...{ grid, groups, network, steps, batch, seed },
  };
  const open = existsSync(join(folder, "config.json")) ? RunFolder.open : RunFolder.create;
  return open.call(RunFolder, folder, config);
}

async function fit(io: Io, path: string, options: FitCommand): Promise<void> {
  const { out, run, json = false, force = false } = options;
  await outputs([{ path: out }], { inputs: [path], force });
  const found =
    run === undefined
      ? await train(io, path, options, memoryStore())
      : await inFolder(run, async () =>
          train(io, path, options, await openRun(run, path, options)),
        );
  await saveModel(out, found.model);
  const { symbols, grids, step, loss } = found;
  const parameters = parameterCount(found.model.parameters);
  const report = { out, grids, classes: symbols.length, symbols, parameters, step, loss };
  io.stdout.write(
    json
      ? `${JSON.stringify(report)}\n`
      : `${grids} grids of ${symbols.length} classes; ${parameters} parameters, ${step} steps: ` +
          `${out}\n`,
  );
}

export const declare: Declare = (command, io) => {
  withRunOptions(
    command
      .argument("<file>", "grids, one per line: a character per site, or names separated by spaces")
      .requiredOption("--grid <sizes>", "sizes of a grid, such as 9,9 or 8", integers(1, 4096))
      .requiredOption("--out <file>", "where to write the model")
      .option(
        "--groups <kinds>",
        "groups of sites that belong together, such as rows,columns,boxes 3x3; use this if " +
          "classes differ only in their names",
      )
      .addOption(
        new Option(
          "--network <size>",
          "size of the network (default: by the number of sites)",
        ).choices(["small", "medium", "large"]),
      )
      .option("--steps <n>", "steps of training", integer(1, MOST.steps), 1000)
      .option("--batch <n>", "grids per step", integer(2, MOST.batch), 64)
      .option("--minutes <x>", "end training after this time and write the model so far", positive)
      .option("--run <folder>", "folder of the run; repeat the command to resume it")
      .option("--json", "print the report as JSON")
      .option("--force", "replace an existing file"),
    0,
  )
    .addHelpText(
      "after",
      `
Examples:
  diffeo grid fit sudokus.txt --grid 9,9 --groups "rows,columns,boxes 3x3" \\
    --out sudoku.model --run runs/sudoku
  diffeo grid sample --model sudoku.model --count 8
  diffeo grid sample --model sudoku.model --known puzzles.txt --draws 16 \\
    --check "rows different; columns different; boxes 3x3 different"`,
    )
    .action((path: string, options: FitCommand) => fit(io, path, options));
};
