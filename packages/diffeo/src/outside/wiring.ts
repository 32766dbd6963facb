/**
 * The wiring of a file: which ports are x, t and the prediction, and how the rows of a batch are
 * passed. What the description leaves open is found by runs on two batch sizes.
 */
import {
  type DType,
  fail,
  type NdArray,
  type OnnxModel,
  type Shape,
  sizeOf,
  type TypedArray,
} from "../graph/index.ts";
import { convert, sameShape, showShape, toFloat64 } from "../graph/ndarray.ts";
import { fromHalf, toHalf } from "../host/half.ts";
import { type FilePort, isArrayType, type OnnxFile } from "./onnx-file.ts";

/**
 * The shape of times: one per row, as a vector or a column, or one for all, as a vector of one or a
 * number.
 */
export type TimeForm = "[batch]" | "[batch, 1]" | "[1]" | "[]";

/** Which ports of a file are x, t and the prediction. */
export interface PortOptions {
  /** The names of the ports of x and t. Needed if the file is ambiguous. */
  readonly inputs?: { readonly x?: string; readonly t?: string };
  /** The name of the output with the prediction. */
  readonly output?: string;
  /** Values of the other inputs of the file, by name. */
  readonly constants?: Readonly<Record<string, NdArray>>;
}

type PortType = DType | "float16";
type TypedPort = FilePort & { readonly type: PortType };

export interface Ports {
  readonly x: TypedPort;
  /** Absent for a network without time. */
  readonly t?: TypedPort;
  readonly output: TypedPort;
}

const timeNames =
  /^(t|time|times|timestep|timesteps|sigma|sigmas|noise_level|log_?snr|lambda|step|steps)$/i;
const quote = (ports: readonly FilePort[]): string =>
  ports.map(({ name }) => `"${name}"`).join(", ");

const named = (ports: readonly FilePort[], name: string, what: string): FilePort =>
  ports.find((port) => port.name === name) ??
  fail("usage", `the ONNX file has no ${what} "${name}"`, `use one of ${quote(ports)}`);

/** The ports of a file, by the given names or by their shapes and names. */
export function portsOf(
  file: OnnxFile,
  { inputs = {}, output, constants = {} }: PortOptions,
): Ports {
  for (const name of Object.keys(constants)) named(file.inputs, name, "input");
  const free = file.inputs.filter(({ name }) => !Object.hasOwn(constants, name));
  const doubt = (why: string): never =>
    fail(
      "usage",
      `the ONNX file has the inputs ${quote(free) || "none"}: ${why}`,
      "name the ports of x and t with `inputs`",
    );
  const isTime = ({ name, sizes }: FilePort): boolean =>
    timeNames.test(name) ||
    (sizes !== undefined && (sizes.length <= 1 || (sizes.length === 2 && sizes[1] === 1)));
  let t = inputs.t === undefined ? undefined : named(free, inputs.t, "input");
  let x = inputs.x === undefined ? undefined : named(free, inputs.x, "input");
  const rest = free.filter((port) => port !== x && port !== t);
  if (!t && rest.length > (x ? 0 : 1)) {
    const times = rest.filter(isTime);
    // A column is not the time if another port has a name of times.
    const one = times.length > 1 ? times.filter(({ name }) => timeNames.test(name)) : times;
    if (one.length !== 1) doubt("it is not clear which one is t");
    t = one[0];
  }
  const others = rest.filter((port) => port !== t);
  if (!x) {
    if (others.length === 0) doubt("none is x");
    x = others[0];
  }
  const left = others.filter((port) => port !== x);
  if (left.length > 0)
    fail(
      "usage",
      `the ONNX file has other inputs ${quote(left)}`,
      "give their values with `constants`, each as { shape, dtype, data }, or name the ports " +
        "of x and t with `inputs`",
    );
  const out =
    output === undefined ? usualOutput(file.outputs, x) : named(file.outputs, output, "output");
  return {
    x: requireType(x, floats),
    ...(t && { t: requireType(t, [...floats, "int32", "int64"]) }),
    output: requireType(out, floats),
  };
}

/** The first output with the sizes of x, as far as both are stated. */
const usualOutput = (outputs: readonly FilePort[], x: FilePort): FilePort =>
  outputs.find(
    ({ sizes }) =>
      sizes?.length === x.sizes?.length &&
      !sizes?.some((d, i) => typeof d === "number" && d !== x.sizes?.[i]),
  ) ?? outputs[0];

const floats = ["float32", "float64", "float16"] as const;

function requireType(port: FilePort, types: readonly PortType[]): TypedPort {
  if (!(types as readonly string[]).includes(port.type))
    fail(
      "type",
      `port "${port.name}" of the ONNX file is ${port.type}`,
      `export it as one of ${types.join(", ")}`,
    );
  return port as TypedPort;
}

/**
 * Numbers in the type of a port. Arrays of this library cannot be float16, which is passed as bits.
 */
function encoded(values: ArrayLike<number>, shape: Shape, type: PortType): NdArray {
  if (type !== "float16") return { shape, dtype: type, data: convert(values, type) };
  return {
    shape,
    dtype: type as DType,
    data: toHalf(Float32Array.from(values)) as unknown as TypedArray,
  };
}

/** The numbers of an output: float16 comes as bits, or as numbers if JavaScript supports it. */
const decoded = ({ data }: NdArray): Float64Array =>
  (data as unknown) instanceof Uint16Array
    ? Float64Array.from(fromHalf(data as unknown as Uint16Array))
    : data instanceof BigInt64Array
      ? toFloat64(data)
      : Float64Array.from(data);

/** The shape of an event that the file states; undefined if one of its sizes is open. */
export function statedEvent({ x }: Ports): Shape | undefined {
  const event = x.sizes?.slice(1);
  return event?.every((d) => typeof d === "number") ? (event as number[]) : undefined;
}

/** The number of rows that the file takes, if it is fixed. */
export function fixedRows({ x, t, output }: Ports): number | undefined {
  const of = [x, output, ...(t?.sizes && t.sizes.length > 0 && t.sizes[0] !== 1 ? [t] : [])];
  return of.map(({ sizes }) => sizes?.[0]).find((d) => typeof d === "number") as number | undefined;
}

/** The possible forms of t, the most likely one first. */
export function timeForms({ x, t }: Ports): readonly TimeForm[] {
  const sizes = t?.sizes;
  if (!sizes) return ["[batch]", "[batch, 1]", "[1]", "[]"];
  if (sizes.length === 0) return ["[]"];
  if (sizes.length === 2 && (typeof sizes[1] !== "number" || sizes[1] === 1)) return ["[batch, 1]"];
  if (sizes.length > 1)
    fail(
      "usage",
      `port "${t.name}" of the ONNX file has sizes [${sizes.join(", ")}]`,
      "export a model whose time has one number per row",
    );
  const batch = x.sizes?.[0];
  if (sizes[0] === 1 && batch !== 1) return ["[1]"];
  return sizes[0] === batch || typeof sizes[0] === "number" ? ["[batch]"] : ["[batch]", "[1]"];
}

/** How rows are passed to a file. */
export interface Wiring {
  readonly ports: Ports;
  readonly form: TimeForm;
  /** The rows of every run, if the file takes a fixed number. */
  readonly rows?: number;
  readonly time: (t: number) => number;
  readonly constants: Readonly<Record<string, NdArray>>;
}

export interface Runner {
  run(feeds: Readonly<Record<string, NdArray>>): Promise<Record<string, NdArray>>;
}

/** The file in the form that a runtime takes. */
export const onnxModelOf = (bytes: Uint8Array, file: OnnxFile, { output }: Ports): OnnxModel => ({
  bytes,
  types: new Set([...file.types].filter(isArrayType)),
  inputs: file.inputs.map(({ name, type }) => ({ name, shape: [], dtype: type as DType })),
  outputs: [{ name: output.name, shape: [], dtype: output.type as DType }],
});

/**
 * The outputs for rows x [count, ...event] at times t, as float64. If the file has a fixed number
 * of rows, batches are split or padded.
 */
export async function answers(
  session: Runner,
  wiring: Wiring,
  x: NdArray,
  t: Float64Array,
): Promise<Float64Array> {
  const { rows = x.shape[0], form, ports } = wiring;
  const n = sizeOf(x.shape.slice(1));
  const out = new Float64Array(x.data.length);
  for (let from = 0; from < x.shape[0]; ) {
    let to = Math.min(from + rows, x.shape[0]);
    // With one time for all rows, only rows with the same time are in one run.
    if (ports.t && (form === "[1]" || form === "[]"))
      for (let k = from; k < to; k++) if (t[k] !== t[from]) to = k;
    const values = await oneRun(session, wiring, x, t, from, to);
    out.set(values.subarray(0, (to - from) * n), from * n);
    from = to;
  }
  return out;
}

async function oneRun(
  session: Runner,
  { ports, rows, form, time, constants }: Wiring,
  x: NdArray,
  t: Float64Array,
  from: number,
  to: number,
): Promise<Float64Array> {
  const count = rows ?? to - from;
  const event = x.shape.slice(1);
  const n = sizeOf(event);
  const points = new Float64Array(count * n);
  for (let i = 0; i < count; i++) {
    const row = Math.min(from + i, to - 1) * n;
    points.set((x.data as Float64Array).subarray(row, row + n), i * n);
  }
  const shape = [count, ...event];
  const feeds: Record<string, NdArray> = {
    ...constants,
    [ports.x.name]: encoded(points, shape, ports.x.type),
  };
  if (ports.t) {
    const each = form === "[batch]" || form === "[batch, 1]";
    const integers = ports.t.type.startsWith("int");
    const times = Float64Array.from({ length: each ? count : 1 }, (_, i) =>
      time(t[Math.min(from + i, to - 1)]),
    );
    const timeShape = form === "[]" ? [] : form === "[batch, 1]" ? [count, 1] : [times.length];
    feeds[ports.t.name] = encoded(
      integers ? times.map(Math.round) : times,
      timeShape,
      ports.t.type,
    );
  }
  const answer = (await session.run(feeds))[ports.output.name];
  if (!sameShape(answer.shape, shape))
    fail(
      "shape",
      `output "${ports.output.name}" of the ONNX file has shape ${showShape(answer.shape)} ` +
        `for x of shape ${showShape(shape)}`,
      answer.data.length === 2 * count * n
        ? "the output has two numbers per coordinate, perhaps also a variance: export only " +
            "the first half"
        : "export an output with one vector per event, or name another one with `output`",
    );
  return decoded(answer);
}
