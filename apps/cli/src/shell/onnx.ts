/**
 * A graph as an ONNX file: written, then run in ONNX Runtime and compared with the plain float64
 * evaluator. The file is reported only after that.
 */
import { readFile } from "node:fs/promises";
import { compile, openModel } from "diffeo/engine";
import { fail, type NdArray, type OnnxModel, showShape, type Tensor } from "diffeo/graph";
import { rowsOf } from "diffeo/host";
import { writeFileAtomic } from "diffeo/node";
import type { Io } from "./io.ts";

export interface OnnxExport {
  readonly written: OnnxModel;
  /** What was written, as a function of its inputs in their order. */
  readonly f: (...inputs: Tensor[]) => Tensor;
  /** Test inputs by name, in one or several batches. */
  readonly feeds: Readonly<Record<string, NdArray>>;
  /**
   * Number of events that the plain evaluator computes too. It is slow, and events do not depend on
   * each other.
   */
  readonly checked: number;
  /**
   * Whether each index of the last axis is compared with its own largest value, because scales
   * differ. Default: false.
   */
  readonly apart?: boolean;
}

/** The largest value and the largest difference, of the output that differs most. */
interface Agreement {
  readonly difference: number;
  readonly largest: number;
}

/** Tolerance per type, as a share of the largest value: the rounding of some tens of layers. */
const TOLERANCE = { float32: 1e-3, float64: 1e-9 } as const;

/** The distance of values from the expected ones, in the worst column. NaN counts as the worst. */
function agreement(
  found: readonly number[],
  expected: readonly number[],
  columns: number,
): Agreement {
  const all = Array.from({ length: columns }, (_, column) => {
    let [difference, largest] = [0, 0];
    for (let i = column; i < expected.length; i += columns) {
      difference = Math.max(difference, Math.abs(found[i] - expected[i]));
      largest = Math.max(largest, Math.abs(expected[i]));
    }
    return { difference, largest };
  });
  return (
    all.find(({ difference }) => Number.isNaN(difference)) ??
    all.reduce((a, b) => (b.difference * a.largest > a.difference * b.largest ? b : a))
  );
}

async function check(
  model: OnnxModel,
  { f, feeds, checked, apart = false }: OnnxExport,
): Promise<Agreement> {
  const { inputs, outputs } = model;
  const batch = inputs[0].shape[0];
  const events = Math.min(checked, feeds[inputs[0].name].shape[0]);
  const some = (from: number, count: number) =>
    inputs.map(({ name }) => rowsOf(feeds[name], from, count));
  const session = await openModel(model);
  const found: number[] = [];
  for (let from = 0; from < events; from += batch) {
    const given = some(from, batch);
    const answer = await session.run(
      Object.fromEntries(inputs.map(({ name }, i) => [name, given[i]])),
    );
    for (const value of answer[outputs[0].name].data) found.push(Number(value));
  }
  await session.dispose();
  const plain = compile(
    f,
    inputs.map(({ shape, dtype }) => ({ shape: [null, ...shape.slice(1)], dtype })),
    { device: "reference" },
  );
  const expected = await plain(...some(0, events));
  await plain.dispose();
  return agreement(
    found,
    Array.from(expected.data, Number),
    apart ? (outputs[0].shape.at(-1) as number) : 1,
  );
}

/** Writes a file, checks it, and prints its description. */
export async function writeOnnxFile(
  io: Io,
  out: string,
  made: OnnxExport,
  json: boolean,
): Promise<void> {
  const { written } = made;
  await writeFileAtomic(out, written.bytes);
  const { difference, largest } = await check({ ...written, bytes: await readFile(out) }, made);
  const { inputs, outputs } = written;
  const tolerance = TOLERANCE[outputs[0].dtype === "float64" ? "float64" : "float32"];
  if (!(difference <= tolerance * largest))
    fail(
      "numerical",
      `${out}: ONNX Runtime differs from the plain evaluator by ` +
        `${difference.toExponential(1)} of ${largest.toPrecision(3)}`,
      "do not use the file; report it as a bug of diffeo",
    );
  if (json) {
    const record = { file: out, bytes: written.bytes.length, inputs, outputs, difference, largest };
    io.stdout.write(`${JSON.stringify(record, undefined, 1)}\n`);
    return;
  }
  const ports = [...inputs, ...outputs].map(({ name, shape }) => `${name} ${showShape(shape)}`);
  io.stdout.write(
    `${out}: ${(written.bytes.length / 2 ** 20).toFixed(1)} MiB, ` +
      `${ports.slice(0, -1).join(", ")} → ${ports.at(-1)}\n` +
      `ONNX Runtime compared with plain float64: values up to ${largest.toPrecision(3)} ` +
      `differ by ${difference.toExponential(1)} at most\n`,
  );
}
