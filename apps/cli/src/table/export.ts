/**
 * diffeo table export: writes the score of a model of a table, or its map from x to rows, as an
 * ONNX file, and checks the file.
 */
import { Option } from "commander";
import type { NdArray, Tensor } from "diffeo/graph";
import { fold, key, normal } from "diffeo/random";
import { exportedTable, exportTable, type TableExportName, tableExports } from "diffeo-tables";
import { loadTableModel } from "diffeo-tables/node";
import type { Declare, Io } from "../shell/io.ts";
import { writeOnnxFile } from "../shell/onnx.ts";
import { forceOption, integer, MOST } from "../shell/options.ts";
import { outputs } from "../shell/outputs.ts";
import { withModel } from "./options.ts";

interface ExportCommand {
  readonly model: string;
  readonly out: string;
  readonly what: TableExportName;
  readonly batch: number;
  readonly json?: boolean;
  readonly force?: boolean;
}

/**
 * Number of rows that the plain evaluator computes too, from nearly noise-free ones (e⁻⁴ standard
 * deviations) to noise.
 */
const CHECKED = 16;
const LEAST_TIME = 0.0025;

const timesOf = (rows: number): NdArray => ({
  shape: [rows],
  dtype: "float32",
  data: Float32Array.from(
    { length: rows },
    (_, i) => LEAST_TIME ** (1 - (i % CHECKED) / (CHECKED - 1)),
  ),
});

async function exportModel(io: Io, options: ExportCommand): Promise<void> {
  const { out, what, batch, force, json = false } = options;
  await outputs([{ path: out }], { inputs: [options.model], force });
  const model = await loadTableModel(options.model);
  const tried = batch * Math.ceil(CHECKED / batch);
  const x = normal(fold(key("export"), "x"), [tried, model.domain.dimension], {
    dtype: tableExports[what].type,
  });
  const f = exportedTable(model, what);
  const made = {
    written: exportTable(model, options),
    f: (...[points, t]: Tensor[]) => f(points, t),
    feeds: { x, ...(what !== "rows" && { t: timesOf(tried) }) },
    checked: CHECKED,
    // Columns have different scales, and so do scores: around labels they are larger by 1/σ.
    apart: true,
  };
  await writeOnnxFile(io, out, made, json);
}

export const declare: Declare = (command, io) =>
  void withModel(command)
    .requiredOption("--out <file>", "the file to write")
    .addOption(
      new Option(
        "--what <what>",
        "the score of x, the mean of the noise-free x, or the map from x to rows",
      )
        .choices(Object.keys(tableExports))
        .default("score"),
    )
    .option("--batch <n>", "batch size, which the file fixes", integer(1, MOST.batch), 1024)
    .option("--json", "print as JSON")
    .addOption(forceOption())
    .action((options) => exportModel(io, options));
