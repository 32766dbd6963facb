/// <reference lib="esnext.disposable" preserve="true" />

/**
 * From a function on tensors to a function on arrays. The function is traced once for every
 * combination of input shapes, differentiated and simplified as a graph, written as ONNX, and from
 * then on only run.
 */

import {
  allocate,
  type DType,
  type FloatType,
  fail,
  fitsShape,
  flattenNested,
  isFloat,
  isNdArray,
  isSpec,
  mapTree,
  type NdArray,
  type Nested,
  ndarray,
  type OnnxModel,
  type Place,
  type Shape,
  type Spec,
  showOpenShape,
  showShape,
  sizeOf,
  type Tensor,
  type Trace,
  type TypedArray,
  toFloat64,
  trace,
  withLeaves,
  writeOnnx,
} from "../graph/index.ts";
import { convertExact, describe } from "../graph/ndarray.ts";
import { DeviceArray } from "./device-array.ts";
import { blame, hasNonFinite, requireNoNaN } from "./finite.ts";
import { referenceSession } from "./reference.ts";
import { deviceNamed, hasRuntime, loadRuntime, ofRuntime } from "./runtime.ts";
import {
  type Create,
  type OpeningOptions,
  requireThreads,
  type Session,
  type SessionOptions,
} from "./session.ts";
import { callsOutside, splitSession } from "./split.ts";
import { sweepOf, sweepSession } from "./sweep.ts";

/** Sizes of an argument; `null` is open and may differ from call to call. */
export type OpenSpec =
  | readonly (number | null)[]
  | { readonly shape: readonly (number | null)[]; readonly dtype?: DType };

/** Where a graph runs, in which type, and what is checked. */
export interface CompileOptions extends SessionOptions {
  /**
   * `cpu` (default), where each graph runs on the faster of the compiler for small graphs and ONNX
   * Runtime, as predicted; `wasm`, the compiler, or `onnxruntime` to force one; `webgpu`, `cuda`;
   * or `reference`, the float64 oracle.
   */
  readonly device?: string;
  /** The float type of inputs that do not state their own. Default float32. */
  readonly type?: FloatType;
  /**
   * For debugging: refuse a NaN in an argument, and on a NaN or infinity in a result, also in one
   * that is kept on its device, find and name the operation that made the first one. Default false.
   */
  readonly checkFinite?: boolean;
}

/**
 * What a compiled function accepts for one tensor. Typed arrays must have the graph's type; plain
 * numbers are converted.
 */
export type ArrayInput = NdArray | TypedArray | Nested;

/** The tree of arrays a function returns for its tree of tensors. */
export type Arrays<T> = T extends Tensor ? NdArray : { readonly [K in keyof T]: Arrays<T[K]> };

/**
 * The tree of arrays a function takes for a tree of tensors. A leaf is whatever may be a tensor, as
 * an operand may.
 */
export type ArrayInputs<T> = [Tensor] extends [T]
  ? ArrayInput
  : { readonly [K in keyof T]: ArrayInputs<T[K]> };

/**
 * The tree of shapes a function is compiled for. `[]` is a scalar: a list without tensors has no
 * spec, leave it out.
 */
export type OpenSpecs<T> = [Tensor] extends [T]
  ? OpenSpec
  : { readonly [K in keyof T]: OpenSpecs<T[K]> };

/** A compiled function of arrays; `dispose` frees it. */
export interface Compiled<X extends readonly unknown[], Y> extends AsyncDisposable {
  /**
   * Runs it. Arrays are not copied, and are read while it runs: change none before the result is
   * there.
   */
  (...args: { [I in keyof X]: ArrayInputs<X[I]> }): Promise<Arrays<Y>>;
  /**
   * Frees every session. Calls under way finish first or, on a worker, are rejected: it ends as
   * soon as the runtime comes back. Calling the function afterwards is an error.
   */
  dispose(): Promise<void>;
}

interface Entry<Y> {
  readonly trace: Trace<Y>;
  readonly session: Session;
}

const typedArrayName: Readonly<Record<DType, string>> = {
  float32: "Float32Array",
  float64: "Float64Array",
  int32: "Int32Array",
  int64: "BigInt64Array",
  bool: "Uint8Array",
};

const dtypes = Object.keys(typedArrayName) as DType[];

/** The shape of a flat array under a spec with at most one open size. */
function inferShape(length: number, open: readonly (number | null)[], where: string): Shape {
  const known = open.reduce<number>((n, d) => n * (d ?? 1), 1);
  const missing = open.filter((d) => d === null).length;
  const size = length / known;
  if (missing > 1)
    fail(
      "shape",
      `${where}: a flat array cannot tell the ${missing} open sizes of ${showOpenShape(open)}`,
      "pass { shape, dtype, data }",
    );
  if (missing === 0 ? length !== known : !Number.isInteger(size))
    fail(
      "shape",
      `${where}: ${length} numbers do not fill shape ${showOpenShape(open)}`,
      "check the length, or pass { shape, dtype, data }",
    );
  return open.map((d) => d ?? size);
}

/**
 * An argument as an array of the spec's type, or an error that says which argument and what it
 * should have been.
 */
function asArray(value: unknown, spec: OpenSpec, type: FloatType, where: string): NdArray {
  const { shape: open, dtype = type } = "shape" in spec ? spec : { shape: spec };
  if (value instanceof DeviceArray) {
    if (value.dtype !== dtype)
      fail(
        "type",
        `${where}: a ${value.dtype} array given to a ${dtype} graph`,
        "compile for its type",
      );
    return checkShape(value, open, where);
  }
  if (isNested(value)) {
    const { shape, data } = flattenNested(value);
    return checkShape({ shape, dtype, data: convertExact(data, dtype, where) }, open, where);
  }
  if (ArrayBuffer.isView(value)) {
    const data = value as TypedArray;
    requireType(data, dtype, where);
    return { shape: inferShape(data.length, open, where), dtype, data };
  }
  if (!isNdArray(value)) return noArray(value, where);
  requireType(value.data, dtype, where);
  if (value.data.length !== sizeOf(value.shape))
    fail(
      "shape",
      `${where}: ${value.data.length} numbers do not fill the shape ${showShape(value.shape)} given with them`,
      "make data and shape agree",
    );
  return checkShape({ ...value, dtype }, open, where);
}

const isNested = (value: unknown): value is Nested =>
  typeof value === "number" || Array.isArray(value);

const noArray = (value: unknown, where: string): never =>
  fail(
    "type",
    `${where}: ${describe(value)} given where an array belongs`,
    "pass a number, nested numbers, a typed array or { shape, dtype, data }",
  );

function requireType(data: TypedArray, dtype: DType, where: string): void {
  if (data?.constructor !== allocate(dtype, 0).constructor)
    fail(
      "type",
      `${where}: ${describe(data)} given to a ${dtype} graph`,
      `pass a ${typedArrayName[dtype]}, or compile with another type`,
    );
}

function checkShape(array: NdArray, open: readonly (number | null)[], where: string): NdArray {
  if (!fitsShape(array.shape, open))
    fail(
      "shape",
      `${where}: shape ${showShape(array.shape)} given, ${showOpenShape(open)} expected`,
      open.length === 0 && sizeOf(array.shape) === 0
        ? "give a number; if a list of no arrays was meant, leave it out: in the shapes to compile for, [] is a scalar"
        : "reshape the argument, or compile for its shape",
    );
  return array;
}

/** Walks an argument beside its spec, so that a leaf of the spec may be any kind of array. */
function bindArgument(
  value: unknown,
  spec: unknown,
  type: FloatType,
  where: string,
  into: NdArray[],
): void {
  if (isSpec(spec)) return void into.push(asArray(value, spec as OpenSpec, type, where));
  const [wanted, given] = [spec, value] as Record<string, unknown>[];
  const remedy = "pass the same structure the function was compiled for";
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value) || isNdArray(value))
    fail(
      "type",
      `${where}: ${describe(value)} given where a ${Array.isArray(spec) ? "list" : "group"} of arrays belongs`,
      remedy,
    );
  for (const key of Object.keys(given))
    if (!Object.hasOwn(wanted, key) && given[key] !== undefined)
      fail("type", `${where}.${key}: ${describe(given[key])} given where nothing belongs`, remedy);
  for (const [key, child] of Object.entries(wanted))
    bindArgument(given[key], child, type, `${where}.${key}`, into);
}

/**
 * Compiles `f` for arguments of the given shapes.
 *
 *     const f = compile((x) => softmax(x), [[null, 3]]);
 *     const { data } = await f([[1, 2, 3], [3, 2, 1]]);
 */
export function compile<X extends readonly unknown[], Y>(
  f: (...args: X) => Y,
  specs: { readonly [I in keyof X]: OpenSpecs<X[I]> },
  options: CompileOptions & OpeningOptions = {},
): Compiled<X, Y> {
  const {
    device = "cpu",
    type = device === "reference" ? "float64" : "float32",
    checkFinite = false,
  } = options;
  if (!isFloat(type))
    fail("type", `there is no float type "${type}"`, 'compile with type "float32" or "float64"');
  requireThreads(options);
  const entries = new Map<string, Promise<Entry<Y>>>();
  const open = opener(device, options);
  let disposed = false;

  const build = async (arrays: readonly NdArray[]): Promise<Entry<Y>> => {
    let next = 0;
    const concrete = specs.map((spec: unknown) =>
      mapTree<OpenSpec, Spec>(spec, () => specOf(arrays[next++]), isSpec),
    );
    const traced = trace(f as unknown as (...args: never[]) => Y, concrete, type);
    return { trace: traced, session: await open(traced) };
  };

  const run = async (...args: readonly unknown[]): Promise<unknown> => {
    if (disposed) fail("disposed", "this compiled function was disposed", "compile it again");
    if (args.length !== specs.length)
      fail(
        "usage",
        `${args.length} arguments given, ${specs.length} expected`,
        "call it as it was compiled",
      );
    const arrays: NdArray[] = [];
    args.forEach((arg, i) => {
      bindArgument(arg, specs[i], type, `argument ${i}`, arrays);
    });
    for (const a of arrays)
      if (a instanceof DeviceArray && (a.device !== device || options.worker))
        fail(
          "usage",
          `an array that ${a.device} keeps was given to a function elsewhere`,
          "read it with toHost first",
        );
    const key = arrays.map((a) => a.shape.join("×")).join(" ");
    let entry = entries.get(key);
    if (!entry) {
      entry = build(arrays);
      entries.set(key, entry);
      entry.catch(() => entries.delete(key));
    }
    const { trace: traced, session } = await entry;
    const names = traced.inputs.map((t) => t.attributes.name as string);
    const feeds = Object.fromEntries(arrays.map((a, i) => [names[i], a]));
    if (checkFinite) await requireNoNaN(feeds);
    const results = await session.run(feeds);
    if (checkFinite && (await hasNonFinite(results))) await blame(traced, feeds, results, open);
    return withLeaves(
      traced.result,
      traced.outputs.map(({ name }) => results[name]),
    );
  };

  const dispose = async (): Promise<void> => {
    if (disposed) return;
    disposed = true;
    const sessions = await Promise.allSettled(entries.values());
    entries.clear();
    await Promise.all(sessions.map((s) => s.status === "fulfilled" && s.value.session.dispose()));
  };
  return Object.assign(run, { dispose, [Symbol.asyncDispose]: dispose }) as Compiled<X, Y>;
}

/**
 * What opens the sessions of one compiled function: on this thread, or all of them on one worker.
 */
function opener(
  name: string,
  options: OpeningOptions,
): (traced: Trace<unknown>) => Promise<Session> {
  let create: Promise<Create> | undefined;
  const start = async (model: OnnxModel, own: OpeningOptions): Promise<Session> => {
    create ??= loadRuntime().then((runtime) =>
      options.worker ? runtime.thread() : runtime.create,
    );
    return (await create)(model, ofRuntime(name), own);
  };
  const { keep: _, ...unkept } = options;
  const place: Place = {
    name: JSON.stringify([name, options.threads ?? null, options.worker ?? false]),
    start: (model) => start(model, unkept),
  };
  const open = async (traced: Trace<unknown>): Promise<Session> => {
    if (callsOutside(traced)) return splitSession(traced, open, place);
    const device = await deviceNamed(name);
    if (options.worker && isOwn(name))
      fail(
        "usage",
        `worker: device "${name}" runs where it is called`,
        'leave "worker" out, or use device "cpu"',
      );
    if (name === "reference") return referenceSession(traced);
    const compiled = await ownSession(traced, name, options);
    if (compiled) return compiled;
    const swept = name === "cpu" || name === "onnxruntime";
    const sweep = swept && !options.worker ? sweepOf(traced, options.keep ?? []) : undefined;
    if (sweep) return sweepSession(sweep, open);
    const model = writeOnnx(traced.outputs, device.target);
    if (model.types.has("float64") && !device.types.includes("float64"))
      fail(
        "type",
        `device "${name}" does not compute in float64`,
        'compile with type "float32", or use device "cpu"',
      );
    if (options.worker && options.keep)
      fail("usage", "results of a worker cannot be kept on the device", "leave out worker or keep");
    return start(model, options);
  };
  return open;
}

/** Devices of this library that run on the calling thread alone. */
const isOwn = (name: string): boolean => name === "reference" || name === "wasm";

/**
 * A session of the compiler, where that is the device or predicted to be faster; undefined where
 * ONNX Runtime is to run the graph. Training keeps its state and stays there. A run of the compiler
 * is too short to need a worker, so that `worker` does not change the choice, and no bit.
 */
async function ownSession(
  traced: Trace<unknown>,
  name: string,
  { keep, threads, once }: OpeningOptions,
): Promise<Session | undefined> {
  if (name !== "wasm" && (name !== "cpu" || keep)) return undefined;
  const { wasmSession, lowered, predict } = await import("./wasm/index.ts");
  if (name === "cpu") {
    const outputs = lowered(traced, once ? MOST_NODES_ONCE : MOST_NODES);
    const times = outputs && predict(outputs, threads);
    if (times && times.wasm <= times.onnxruntime && times.wasm < LONG)
      return wasmSession(traced, outputs);
    if (await hasRuntime()) return undefined;
  }
  return wasmSession(traced);
}

/** Graphs of more nodes take long to compile, and are seldom small. */
const MOST_NODES = 20_000;

/** To compile a graph takes longer than to open a session: 0.1 ms per node against 0.03. */
const MOST_NODES_ONCE = 150;

/** Microseconds of a run that a thread can wait for. */
const LONG = 10_000;

const specOf = ({ shape, dtype }: NdArray): Spec => ({ shape, dtype });

/**
 * Whether a value is no tree of arrays; a list is one if the first thing in it, however deep, is an
 * object.
 */
const isArrayInput = (value: unknown): boolean => {
  let first = value;
  while (Array.isArray(first) && first.length > 0) first = first[0];
  if (Array.isArray(value)) return typeof first !== "object" || Array.isArray(first);
  return (
    typeof value !== "object" || value === null || ArrayBuffer.isView(value) || isNdArray(value)
  );
};

/** An array of its own shape and type, float64 for every float. */
function widened(value: unknown, where: string): NdArray {
  if (isNested(value)) return ndarray(value, "float64");
  const dtype = dtypes.find(
    (d) => ArrayBuffer.isView(value) && allocate(d, 0).constructor === value.constructor,
  );
  const array = dtype
    ? { shape: [(value as TypedArray).length], dtype, data: value as TypedArray }
    : value;
  if (!isNdArray(array)) return noArray(value, where);
  requireType(array.data, array.dtype, where);
  return isFloat(array.dtype) ? { ...array, dtype: "float64", data: toFloat64(array.data) } : array;
}

/**
 * Runs `f` once on arrays or trees of arrays, in float64 on the CPU: for a first try, a notebook, a
 * test. Floats become float64, integers and booleans stay. Numbers in lists, however deep, are one
 * array: in a list of arrays, write them as `ndarray([…])`.
 */
export async function evaluate<X extends readonly unknown[], Y>(
  f: (...args: X) => Y,
  ...args: { [I in keyof X]: ArrayInputs<X[I]> }
): Promise<Arrays<Y>> {
  const arrays = args.map((arg, i) =>
    mapTree(arg, (leaf, path) => widened(leaf, `argument ${i}${path && `.${path}`}`), isArrayInput),
  );
  const specs = arrays.map((tree) => mapTree(tree, specOf, isNdArray));
  const compiled = compile(f, specs as { [I in keyof X]: OpenSpecs<X[I]> }, {
    type: "float64",
    threads: 1,
    once: true,
  });
  return compiled(...(arrays as { [I in keyof X]: ArrayInputs<X[I]> })).finally(() =>
    compiled.dispose(),
  );
}
