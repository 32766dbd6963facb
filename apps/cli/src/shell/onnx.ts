/** A graph as an ONNX file: written, then run in ONNX Runtime beside the plain float64 evaluator, and only then said to be there. */
import { readFile } from "node:fs/promises";
import { compile, openModel } from "diffeo/engine";
import { fail, type NdArray, type OnnxModel, showShape, type Tensor } from "diffeo/graph";
import { writeFileAtomic } from "diffeo/node";
import type { Io } from "./io.ts";

export interface OnnxExport {
  readonly written: OnnxModel;
  /** What was written, as a function of its inputs in their order. */
  readonly f: (...inputs: Tensor[]) => Tensor;
  /** What it is tried on, by the names of its inputs. */
  readonly feeds: Readonly<Record<string, NdArray>>;
  /** Events of a batch that the plain evaluator computes as well; it is slow, and an event does not depend on the others. */
  readonly checked: number;
  /** Whether each place of the last axis is held to its own largest value: they have scales of their own. Default false. */
  readonly apart?: boolean;
}

/** The largest value, and the largest difference, of what differs most. */
interface Agreement {
  readonly difference: number;
  readonly largest: number;
}

/** The share of the largest value by which a type may differ from float64: some tens of layers of rounding. */
const TOLERANCE = { float32: 1e-3, float64: 1e-9 } as const;

/** The first events of a batch. */
const head = ({ shape, data, dtype }: NdArray, count: number): NdArray => ({
  shape: [count, ...shape.slice(1)],
  dtype,
  data: data.slice(0, (count * data.length) / shape[0]),
});

/** How far values are from those expected, in the worst of so many columns; the former may have more rows. */
function agreement(found: NdArray, expected: NdArray, columns: number): Agreement {
  let worst: Agreement = { difference: 0, largest: 0 };
  for (let column = 0; column < columns; column++) {
    let [difference, largest] = [0, 0];
    for (let i = column; i < expected.data.length; i += columns) {
      const value = Number(expected.data[i]);
      difference = Math.max(difference, Math.abs(Number(found.data[i]) - value));
      largest = Math.max(largest, Math.abs(value));
    }
    // Not a number is worst of all.
    if (column === 0 || !(difference * worst.largest <= worst.difference * largest)) worst = { difference, largest };
  }
  return worst;
}

async function check(model: OnnxModel, { f, feeds, checked, apart = false }: OnnxExport): Promise<Agreement> {
  const { inputs, outputs } = model;
  const session = await openModel(model);
  const found = (await session.run(feeds))[outputs[0].name];
  await session.dispose();
  const events = Math.min(checked, inputs[0].shape[0]);
  const plain = compile(
    f,
    inputs.map(({ shape, dtype }) => ({ shape: [null, ...shape.slice(1)], dtype })),
    { device: "reference" },
  );
  const expected = await plain(...inputs.map(({ name }) => head(feeds[name], events)));
  await plain.dispose();
  return agreement(found, expected, apart ? (outputs[0].shape.at(-1) as number) : 1);
}

/** Writes a file, checks it, and says what it is. */
export async function writeOnnxFile(io: Io, out: string, made: OnnxExport, json: boolean): Promise<void> {
  const { written } = made;
  await writeFileAtomic(out, written.bytes);
  const { difference, largest } = await check({ ...written, bytes: await readFile(out) }, made);
  const { inputs, outputs } = written;
  const tolerance = TOLERANCE[outputs[0].dtype === "float64" ? "float64" : "float32"];
  if (!(difference <= tolerance * largest))
    fail(
      "numerical",
      `${out}: ONNX Runtime differs from the plain evaluator by ${difference.toExponential(1)} of ${largest.toPrecision(3)}`,
      "do not use the file; report it as a bug of diffeo",
    );
  if (json) {
    const record = { file: out, bytes: written.bytes.length, inputs, outputs, difference, largest };
    io.stdout.write(`${JSON.stringify(record, undefined, 1)}\n`);
    return;
  }
  const ports = [...inputs, ...outputs].map(({ name, shape }) => `${name} ${showShape(shape)}`);
  io.stdout.write(
    `${out}: ${(written.bytes.length / 2 ** 20).toFixed(1)} MiB, ${ports.slice(0, -1).join(", ")} → ${ports.at(-1)}\n` +
      `ONNX Runtime beside plain float64: values up to ${largest.toPrecision(3)} differ by ${difference.toExponential(1)} at most\n`,
  );
}
