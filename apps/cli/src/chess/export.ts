/** diffeo chess export: a trained network as an ONNX file that any runtime can load, checked once it is written. */
import { readFile } from "node:fs/promises";
import { Option } from "commander";
import type { Model } from "diffeo/categorical";
import { compile, openModel } from "diffeo/engine";
import { fail, type NdArray, type OnnxModel, showShape, type Target } from "diffeo/graph";
import { loadModel, writeFileAtomic } from "diffeo/node";
import { fold, key, normal, uniform } from "diffeo/random";
import { type ExportName, exported, exportOnnx, exports } from "diffeo-chess";
import type { Declare, Io } from "../shell/io.ts";
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

/** Boards that the plain evaluator computes as well; it is slow, and a board does not depend on the others. */
const CHECKED = 2;
/** The share of the largest value by which float32 may differ from float64: some tens of layers of rounding. */
const TOLERANCE = 1e-3;

/** The first boards of an array. */
const head = ({ shape, data, dtype }: NdArray, count: number): NdArray => ({
  shape: [count, ...shape.slice(1)],
  dtype,
  data: (data as Float32Array).slice(0, (count * data.length) / shape[0]),
});

/** The file in ONNX Runtime beside the graph in plain float64, on x of variance 1, as the process has it at all times. */
async function check(
  written: OnnxModel,
  model: Model,
  { what, batch }: ExportCommand,
): Promise<{ readonly difference: number; readonly largest: number }> {
  const { grid, channels } = model.encoding;
  const x = normal(fold(key("export"), "x"), [batch, ...grid, channels]);
  const t = uniform(fold(key("export"), "t"), [batch], { low: 0.02, high: 1 });
  const session = await openModel(written);
  const found = (await session.run({ x, t }))[what];
  await session.dispose();

  const boards = Math.min(CHECKED, batch);
  const f = compile(exported(model, what), [[null, ...grid, channels], [null]], {
    device: "reference",
    type: "float32",
  });
  const expected = await f(head(x, boards), head(t, boards));
  await f.dispose();
  let difference = 0;
  let largest = 0;
  for (let i = 0; i < expected.data.length; i++) {
    const value = Number(expected.data[i]);
    difference = Math.max(difference, Math.abs(Number(found.data[i]) - value));
    largest = Math.max(largest, Math.abs(value));
  }
  return { difference, largest };
}

async function exportModel(io: Io, options: ExportCommand): Promise<void> {
  const { out, force, json = false } = options;
  await outputs([{ path: out }], { inputs: [options.model], force });
  const model = await loadModel(options.model);
  const written = exportOnnx(model, options);
  await writeFileAtomic(out, written.bytes);
  const { difference, largest } = await check({ ...written, bytes: await readFile(out) }, model, options);
  if (!(difference <= TOLERANCE * largest))
    fail(
      "numerical",
      `${out}: ONNX Runtime differs from the plain evaluator by ${difference.toExponential(1)} of ${largest.toPrecision(3)}`,
      "do not use the file; report it as a bug of diffeo",
    );
  const { inputs, outputs: results } = written;
  if (json) {
    const record = { file: out, bytes: written.bytes.length, inputs, outputs: results, difference, largest };
    io.stdout.write(`${JSON.stringify(record, undefined, 1)}\n`);
    return;
  }
  const ports = [...inputs, ...results].map(({ name, shape }) => `${name} ${showShape(shape)}`);
  io.stdout.write(
    `${out}: ${(written.bytes.length / 2 ** 20).toFixed(1)} MiB, ${ports.slice(0, -1).join(", ")} → ${ports.at(-1)}\n` +
      `ONNX Runtime beside plain float64: values up to ${largest.toPrecision(3)} differ by ${difference.toExponential(1)} at most\n`,
  );
}

export const declare: Declare = (command, io) =>
  void command
    .addOption(modelOption())
    .option("--out <file>", "the file to write", "chess.onnx")
    .addOption(
      new Option("--what <what>", "the score, the mean of what was noised, or the class probabilities")
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
