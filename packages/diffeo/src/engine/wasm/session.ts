/**
 * Sessions of the compiler: a trace as one WebAssembly module, which reads its inputs from its
 * memory and writes its outputs there.
 */
import {
  fail,
  type NdArray,
  type Tensor,
  type Trace,
  type TypedArray,
  topological,
} from "../../graph/index.ts";
import { allocate, sizeOf } from "../../graph/ndarray.ts";
import { lowerBy } from "../../graph/simplify.ts";
import { constantValue } from "../../graph/tensor.ts";
import type { Session } from "../session.ts";
import { unreshaped } from "./affine.ts";
import { Code } from "./code.ts";
import { Emitter } from "./kernel.ts";
import { lowering } from "./lowering.ts";
import { layOut } from "./memory.ts";
import { Module } from "./module.ts";
import { type Buffer, isSupported } from "./plan.ts";
import { planOf } from "./planner.ts";

interface Compiled {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Addresses of the inputs, in the order of the trace, and of the outputs. */
  readonly inputs: readonly (number | undefined)[];
  readonly outputs: readonly number[];
  readonly faults: Module["faults"];
}

const bytesOf = ({ data }: NdArray): Uint8Array =>
  new Uint8Array(data.buffer, data.byteOffset, data.byteLength);

/** Information for functions that are added around the function of a graph. */
export interface Around {
  readonly module: Module;
  /** The index of the graph's function, which takes and returns nothing. */
  readonly call: number;
  readonly inputs: readonly (number | undefined)[];
  readonly outputs: readonly number[];
  /** The first free address. */
  readonly end: number;
}

/** The number of multiplications in matrix products above which ONNX Runtime is always faster. */
const MOST_PRODUCTS = 2 ** 26;

const productsOf = (t: Tensor): number =>
  t.op.name === "matmul" ? sizeOf(t.shape) * (t.inputs[0].shape.at(-1) as number) : 0;

/**
 * The outputs of a trace in the primitives of the compiler; undefined if it lacks an operation.
 *
 * @param mostNodes the result is also undefined if the graph has more nodes, or is large in other
 * ways
 */
export function lowered(
  { outputs }: Pick<Trace<unknown>, "outputs">,
  mostNodes?: number,
): Tensor[] | undefined {
  const given = outputs.map((o) => o.tensor);
  if (mostNodes !== undefined) {
    const order = topological(given);
    const products = order.reduce((sum, t) => sum + productsOf(t), 0);
    if (order.length > mostNodes || products > MOST_PRODUCTS) return undefined;
    if (order.some((t) => !isSupported(t) && !lowering(t))) return undefined;
  }
  const tensors = lowerBy(given, lowering);
  return topological(tensors).every(isSupported) ? tensors : undefined;
}

/**
 * The module of a trace; undefined if the compiler lacks an operation of the graph.
 *
 * @param extend writes more functions and returns the end of the memory they need; undefined if
 * they cannot be written
 */
export function compileTrace(
  traced: Trace<unknown>,
  extend: (around: Around) => number | undefined = ({ end }) => end,
  tensors: readonly Tensor[] | undefined = lowered(traced),
): Compiled | undefined {
  if (!tensors) return undefined;
  const { inputs } = traced;
  const plan = planOf(tensors);
  // The first pass finds the steps in which buffers are used, the second writes with the resulting
  // addresses.
  let result: Compiled | undefined;
  for (const last of [false, true]) {
    const module = new Module();
    const run = module.reserve();
    for (const [t, { buffer }] of plan.stored) {
      const value = constantValue(t);
      if (value) buffer.address = module.constant(value.data, () => bytesOf(value));
    }
    const code = new Code();
    new Emitter(module, code, plan).write();
    module.define(run, code.finish([], "run"));
    const isConstant = new Set<Buffer>();
    for (const [t, { buffer }] of plan.stored) if (constantValue(t)) isConstant.add(buffer);
    const end = layOut(
      plan.buffers.filter((b) => !isConstant.has(b)),
      module.end,
    );
    if (!last) continue;
    const addressOf = (t: Tensor): number | undefined =>
      plan.stored.get(unreshaped(t))?.buffer.address;
    const places = {
      inputs: inputs.map(addressOf),
      outputs: tensors.map((t) => addressOf(t) as number),
    };
    const total = extend({ ...places, module, call: run, end });
    const { faults } = module;
    if (total !== undefined) result = { ...places, faults, bytes: module.encode(total) };
  }
  return result;
}

const viewOf = (memory: WebAssembly.Memory, like: TypedArray, address: number, length: number) =>
  new (like.constructor as Float64ArrayConstructor)(memory.buffer, address, length);

/** Raises the error of a run that depends on the numbers of a call. */
export function refuseFault(faults: Module["faults"], memory: WebAssembly.Memory): void {
  if (!faults) return;
  const fault = new Int32Array(memory.buffer, faults.address, 1);
  const [met] = fault;
  if (met === 0) return;
  fault[0] = 0;
  fail(
    "numerical",
    faults.what[met - 1],
    'look at the integers that are given: device "reference" with checkFinite names an ' +
      "operation that makes NaN of them",
  );
}

/** Opens a session of a trace; undefined if the compiler lacks an operation of it. */
export async function wasmSession(
  traced: Trace<unknown>,
  outputs: readonly Tensor[] | undefined = lowered(traced),
): Promise<Session | undefined> {
  const compiled = compileTrace(traced, undefined, outputs);
  if (!compiled) return undefined;
  const { instance } = await WebAssembly.instantiate(compiled.bytes);
  const { memory, run } = instance.exports as unknown as {
    readonly memory: WebAssembly.Memory;
    readonly run: () => void;
  };
  const places = traced.inputs.flatMap((t, i) => {
    const address = compiled.inputs[i];
    const name = t.attributes.name as string;
    const size = sizeOf(t.shape);
    return address === undefined || size === 0
      ? []
      : [{ name, view: viewOf(memory, allocate(t.dtype, 0), address, size) }];
  });
  const results = traced.outputs.map(({ name, tensor: { shape, dtype } }, i) => ({
    name,
    shape,
    dtype,
    view: viewOf(memory, allocate(dtype, 0), compiled.outputs[i], sizeOf(shape)),
  }));
  return {
    run: async (feeds) => {
      for (const { name, view } of places) view.set(feeds[name].data as Float64Array);
      run();
      refuseFault(compiled.faults, memory);
      const out: Record<string, NdArray> = {};
      for (const { name, shape, dtype, view } of results)
        out[name] = { shape, dtype, data: view.slice() };
      return out;
    },
    dispose: async () => undefined,
  };
}
