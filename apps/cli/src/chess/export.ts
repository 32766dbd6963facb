/**
 * diffeo chess export: a trained network as an ONNX file that any runtime can load, checked once it
 * is written.
 */
import { Option } from "commander";
import type { Target, Tensor } from "diffeo/graph";
import { loadModel } from "diffeo/node";
import { fold, key, normal, uniform } from "diffeo/random";
import { type ExportName, exportFunction, exportOnnx, exports } from "diffeo-chess";
import type { Declare, Io } from "../shell/io.ts";
import { writeOnnxFile } from "../shell/onnx.ts";
import { forceOption, integer, MOST } from "../shell/options.ts";
import { outputs } from "../shell/outputs.ts";
import { modelOption } from "./aim.ts";

interface ExportCommand {
  readonly model: string;
  readonly out: string;
  readonly what: ExportName;
  readonly batch: number;
  readonly target: Target;
  readonly json?: boolean;
  readonly force?: boolean;
}

/** Boards that the plain evaluator computes as well. */
const CHECKED = 2;

async function exportModel(io: Io, options: ExportCommand): Promise<void> {
  const { out, what, batch, force, json = false } = options;
  await outputs([{ path: out }], { inputs: [options.model], force });
  const model = await loadModel(options.model);
  const { grid, channels } = model.encoding;
  // x of variance 1, as the process has it at all times.
  const feeds = {
    x: normal(fold(key("export"), "x"), [batch, ...grid, channels]),
    t: uniform(fold(key("export"), "t"), [batch], { low: 0.02, high: 1 }),
  };
  const f = exportFunction(model, what);
  const made = {
    written: exportOnnx(model, options),
    f: (...[x, t]: Tensor[]) => f(x, t),
    feeds,
    checked: CHECKED,
  };
  await writeOnnxFile(io, out, made, json);
}

export const declare: Declare = (command, io) =>
  void command
    .addOption(modelOption())
    .option("--out <file>", "the file to write", "chess.onnx")
    .addOption(
      new Option(
        "--what <what>",
        "the score, the mean of what was noised, or the class probabilities",
      )
        .choices(Object.keys(exports))
        .default("score"),
    )
    .option("--batch <n>", "boards at a time: a file serves one size", integer(1, MOST.batch), 1)
    .addOption(
      new Option("--target <kind>", "the form that runs best there; either runs anywhere")
        .choices(["cpu", "gpu"])
        .default("cpu"),
    )
    .option("--json", "print as JSON")
    .addOption(forceOption())
    .action((options) => exportModel(io, options));
