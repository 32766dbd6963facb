/// <reference lib="esnext.disposable" preserve="true" />

/**
 * Compiles functions of tensors to functions of arrays. A function is traced once per combination
 * of input shapes, and its graph is simplified, written as ONNX and opened. Later calls only run
 * it.
 */

import {
  type FloatType,
  fail,
  isFloat,
  isNdArray,
  isSpec,
  mapTree,
  type NdArray,
  type Spec,
  type Tensor,
  type Trace,
  trace,
  withLeaves,
} from "../graph/index.ts";
import {
  type ArrayInput,
  bindArguments,
  isArrayInput,
  type OpenSpec,
  widened,
} from "./arguments.ts";
import { blame, hasNonFinite, requireNoNaN } from "./finite.ts";
import { opener } from "./opener.ts";
import {
  type OpeningOptions,
  requireThreads,
  type Session,
  type SessionOptions,
} from "./session.ts";

/** Options of `compile`: the device, the float type, and checks. */
export interface CompileOptions extends SessionOptions {
  /**
   * `cpu` (default), where each graph runs on the faster of the compiler for small graphs and ONNX
   * Runtime, as predicted; `wasm`, the compiler, or `onnxruntime` to force one; `webgpu`, `cuda`;
   * or `reference`, the float64 oracle.
   */
  readonly device?: string;
  /**
   * The float type of inputs that do not state their own. Default float32, or float64 on the device
   * `reference`.
   */
  readonly type?: FloatType;
  /**
   * For debugging: throws for NaN in an argument, and for NaN or infinity in a result, also in one
   * that is kept on its device; the error names the operation that made the first one. Default
   * false.
   */
  readonly checkFinite?: boolean;
}

/** The type of a compiled function's result: its tree of tensors as a tree of arrays. */
export type Arrays<T> = T extends Tensor ? NdArray : { readonly [K in keyof T]: Arrays<T[K]> };

/**
 * The type of a compiled function's arguments: the tree of tensors as a tree of arrays or numbers.
 */
export type ArrayInputs<T> = [Tensor] extends [T]
  ? ArrayInput
  : { readonly [K in keyof T]: ArrayInputs<T[K]> };

/**
 * The tree of shapes for which a function is compiled. `[]` is a scalar, so a list without tensors
 * has no spec and must be left out.
 */
export type OpenSpecs<T> = [Tensor] extends [T]
  ? OpenSpec
  : { readonly [K in keyof T]: OpenSpecs<T[K]> };

/** A compiled function of arrays; `dispose` frees it. */
export interface Compiled<X extends readonly unknown[], Y> extends AsyncDisposable {
  /**
   * Runs the function. Arrays are not copied, so do not change them before the result is available.
   */
  (...args: { [I in keyof X]: ArrayInputs<X[I]> }): Promise<Arrays<Y>>;
  /**
   * Frees all sessions. Pending calls finish first; on a worker they are rejected. Calling the
   * function afterwards is an error.
   */
  dispose(): Promise<void>;
}

interface Entry<Y> {
  readonly trace: Trace<Y>;
  readonly session: Session;
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
    fail("type", `unknown float type "${type}"`, 'compile with type "float32" or "float64"');
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
    if (disposed) fail("disposed", "this compiled function is disposed", "compile it again");
    const arrays = bindArguments(args, specs, type, options.worker ? undefined : device);
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

const specOf = ({ shape, dtype }: NdArray): Spec => ({ shape, dtype });

/**
 * Runs `f` once on arrays or trees of arrays, in float64 on the CPU, for experiments, notebooks and
 * tests. Floats become float64; integers and booleans keep their types. Nested lists of numbers are
 * one array; in a list of arrays, write each as `ndarray([…])`.
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
