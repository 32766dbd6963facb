/**
 * From a function on tensors to a function on arrays. The function is traced once for every combination of input
 * shapes, differentiated and simplified as a graph, written as ONNX, and from then on only run.
 */
import {
  allocate,
  convert,
  type DType,
  type FloatType,
  fail,
  fitsShape,
  flattenNested,
  isSpec,
  mapTree,
  type NdArray,
  type Nested,
  type Shape,
  type Spec,
  showOpenShape,
  showShape,
  sizeOf,
  type Tensor,
  type Trace,
  type TypedArray,
  trace,
  withLeaves,
  writeOnnx,
} from "../graph/index.ts";
import { firstBadOperation, nonFinite } from "./finite.ts";
import { KeptArray } from "./kept.ts";
import { referenceSession } from "./reference.ts";
import { deviceNamed, loadRuntime } from "./runtime.ts";
import type { Create, Session, SessionOptions } from "./session.ts";

/** Sizes of an argument; `null` is open and may differ from call to call. */
export type OpenSpec =
  | readonly (number | null)[]
  | { readonly shape: readonly (number | null)[]; readonly dtype?: DType };

export interface CompileOptions extends SessionOptions {
  /** `cpu` (default), `webgpu`, `cuda`, or `reference`, the float64 oracle. */
  readonly device?: string;
  /** The float type of inputs that do not state their own. Default float32. */
  readonly type?: FloatType;
  /** On a NaN or infinity in a result, find and name the operation that made the first one. Default false. */
  readonly checkFinite?: boolean;
}

/** What a compiled function accepts for one tensor. Typed arrays must have the graph's type; plain numbers are converted. */
export type ArrayInput = NdArray | TypedArray | Nested;

/** The tree of arrays a function returns for its tree of tensors. */
export type Arrays<T> = T extends Tensor ? NdArray : { readonly [K in keyof T]: Arrays<T[K]> };

/** The tree of arrays a function takes for a tree of tensors. A leaf is whatever may be a tensor, as an operand may. */
export type ArrayInputs<T> = [Tensor] extends [T] ? ArrayInput : { readonly [K in keyof T]: ArrayInputs<T[K]> };

/** The tree of shapes a function is compiled for. */
export type OpenSpecs<T> = [Tensor] extends [T] ? OpenSpec : { readonly [K in keyof T]: OpenSpecs<T[K]> };

export interface Compiled<X extends readonly unknown[], Y> {
  (...args: { [I in keyof X]: ArrayInputs<X[I]> }): Promise<Arrays<Y>>;
  /**
   * Frees every session. Calls under way finish first or, on a worker, are rejected: it ends as soon as the runtime
   * comes back. Calling the function afterwards is an error.
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

/** An argument as an array of the spec's type, or an error that says which argument and what it should have been. */
function asArray(value: unknown, spec: OpenSpec, type: FloatType, where: string): NdArray {
  const { shape: open, dtype = type } = "shape" in spec ? spec : { shape: spec };
  if (value instanceof KeptArray) {
    if (value.dtype !== dtype)
      fail("type", `${where}: a ${value.dtype} array given to a ${dtype} graph`, "compile for its type");
    return checkShape(value, open, where);
  }
  if (typeof value === "number" || Array.isArray(value)) {
    const { shape, data } = flattenNested(value as Nested);
    return checkShape({ shape, dtype, data: convert(data, dtype) }, open, where);
  }
  if (ArrayBuffer.isView(value)) {
    const data = value as TypedArray;
    requireType(data, dtype, where);
    return { shape: inferShape(data.length, open, where), dtype, data };
  }
  if (typeof value !== "object" || value === null || !("data" in value) || !("shape" in value))
    fail(
      "type",
      `${where}: ${value === undefined ? "nothing" : typeof value} given where an array belongs`,
      "pass a number, nested numbers, a typed array or { shape, dtype, data }",
    );
  const array = value as NdArray;
  requireType(array.data, dtype, where);
  if (array.data.length !== sizeOf(array.shape))
    fail(
      "shape",
      `${where}: ${array.data.length} numbers do not fill the shape ${showShape(array.shape)} given with them`,
      "make data and shape agree",
    );
  return checkShape({ ...array, dtype }, open, where);
}

function requireType(data: TypedArray, dtype: DType, where: string): void {
  if (data.constructor !== allocate(dtype, 0).constructor)
    fail(
      "type",
      `${where}: a ${data.constructor.name} given to a ${dtype} graph`,
      `pass a ${typedArrayName[dtype]}, or compile with another type`,
    );
}

function checkShape(array: NdArray, open: readonly (number | null)[], where: string): NdArray {
  if (!fitsShape(array.shape, open))
    fail(
      "shape",
      `${where}: shape ${showShape(array.shape)} given, ${showOpenShape(open)} expected`,
      "reshape the argument, or compile for its shape",
    );
  return array;
}

/** Walks an argument beside its spec, so that a leaf of the spec may be any kind of array. */
function bindArgument(value: unknown, spec: unknown, type: FloatType, where: string, into: NdArray[]): void {
  if (isSpec(spec)) return void into.push(asArray(value, spec as OpenSpec, type, where));
  if (typeof value !== "object" || value === null)
    fail(
      "type",
      `${where}: ${typeof value} given where a ${Array.isArray(spec) ? "list" : "group"} of arrays belongs`,
      "pass the same structure the function was compiled for",
    );
  for (const [key, child] of Object.entries(spec as object))
    bindArgument((value as Record<string, unknown>)[key], child, type, `${where}.${key}`, into);
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
  options: CompileOptions = {},
): Compiled<X, Y> {
  const { device = "cpu", type = device === "reference" ? "float64" : "float32", checkFinite = false } = options;
  const entries = new Map<string, Promise<Entry<Y>>>();
  const open = opener(device, options);
  let disposed = false;

  const build = async (arrays: readonly NdArray[]): Promise<Entry<Y>> => {
    let next = 0;
    const concrete = specs.map((spec: unknown) => mapTree<OpenSpec, Spec>(spec, () => arrays[next++], isSpec));
    const traced = trace(f as unknown as (...args: never[]) => Y, concrete, type);
    return { trace: traced, session: await open(traced) };
  };

  const run = async (...args: readonly unknown[]): Promise<unknown> => {
    if (disposed) fail("disposed", "this compiled function was disposed", "compile it again");
    if (args.length !== specs.length)
      fail("usage", `${args.length} arguments given, ${specs.length} expected`, "call it as it was compiled");
    const arrays: NdArray[] = [];
    args.forEach((arg, i) => {
      bindArgument(arg, specs[i], type, `argument ${i}`, arrays);
    });
    for (const a of arrays)
      if (a instanceof KeptArray && (a.device !== device || options.worker))
        fail("usage", `an array that ${a.device} keeps was given to a function elsewhere`, "read it with toHost first");
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
    const results = await session.run(feeds);
    if (checkFinite && Object.values(results).some((r) => nonFinite(r) !== undefined))
      throw await firstBadOperation(traced, feeds, open);
    return withLeaves(
      traced.result,
      traced.outputs.map(({ name }) => results[name]),
    );
  };

  return Object.assign(run, {
    dispose: async () => {
      if (disposed) return;
      disposed = true;
      const sessions = await Promise.allSettled(entries.values());
      entries.clear();
      await Promise.all(sessions.map((s) => s.status === "fulfilled" && s.value.session.dispose()));
    },
  }) as Compiled<X, Y>;
}

/** What opens the sessions of one compiled function: on this thread, or all of them on one worker. */
function opener(name: string, options: SessionOptions): (traced: Trace<unknown>) => Promise<Session> {
  let create: Promise<Create> | undefined;
  return async (traced) => {
    const device = await deviceNamed(name);
    if (name === "reference") {
      if (options.worker)
        fail("usage", 'worker: device "reference" runs where it is called', 'leave "worker" out, or use device "cpu"');
      return referenceSession(traced);
    }
    const model = writeOnnx(traced.outputs, device.target);
    if (model.types.has("float64") && !device.types.includes("float64"))
      fail("type", `device "${name}" does not compute in float64`, 'compile with type "float32", or use device "cpu"');
    if (options.worker && options.keep)
      fail("usage", "results of a worker cannot be kept on the device", "leave out worker or keep");
    create ??= loadRuntime().then((runtime) => (options.worker ? runtime.thread() : runtime.create));
    return (await create)(model, name, options);
  };
}

/** Runs `f` once on arrays, in float64 on the CPU: for a first try, a notebook, a test. */
export async function evaluate<X extends readonly Tensor[], Y>(
  f: (...args: X) => Y,
  ...args: { [I in keyof X]: ArrayInput }
): Promise<Arrays<Y>> {
  const specs = args.map((a): OpenSpec => {
    if (typeof a === "number" || Array.isArray(a)) return flattenNested(a as Nested).shape;
    return ArrayBuffer.isView(a)
      ? [(a as TypedArray).length]
      : { shape: (a as NdArray).shape, dtype: (a as NdArray).dtype };
  });
  const widened = args.map((a) => (a instanceof Float32Array ? Float64Array.from(a) : a));
  const compiled = compile<Tensor[], Y>(f as unknown as (...args: Tensor[]) => Y, specs, {
    type: "float64",
    threads: 1,
  });
  return compiled(...(widened as NdArray[])).finally(() => compiled.dispose());
}
