/**
 * diffeo chess export: writes a trained network as an ONNX file that any runtime can load, and
 * checks the file.
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

/** Boards that are compared with the float64 evaluator. */
const CHECKED = 2;

async function exportModel(io: Io, options: ExportCommand): Promise<void> {
  const { out, what, batch, force, json = false } = options;
  await outputs([{ path: out }], { inputs: [options.model], force });
  const model = await loadModel(options.model);
  const { grid, channels } = model.encoding;
  // x has variance 1 at all times of the process.
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
      new Option("--what <what>", "the score, the mean of x₀ given x_t, or the class probabilities")
        .choices(Object.keys(exports))
        .default("score"),
    )
    .option("--batch <n>", "batch size, which the file fixes", integer(1, MOST.batch), 1)
    .addOption(
      new Option("--target <kind>", "processor that the file is optimised for; it runs on both")
        .choices(["cpu", "gpu"])
        .default("cpu"),
    )
    .option("--json", "print as JSON")
    .addOption(forceOption())
    .action((options) => exportModel(io, options));
