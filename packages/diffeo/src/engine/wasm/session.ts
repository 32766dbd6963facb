/**
 * Sessions of the compiler: a trace as one WebAssembly module, which is given its inputs in its
 * memory and leaves its outputs there.
 */
import {
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
import { type Buffer, isSupported, planOf } from "./plan.ts";

interface Compiled {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Addresses of the inputs, in the order of the trace, and of the outputs. */
  readonly inputs: readonly (number | undefined)[];
  readonly outputs: readonly number[];
}

const bytesOf = ({ data }: NdArray): Uint8Array =>
  new Uint8Array(data.buffer, data.byteOffset, data.byteLength);

/** What functions written around a graph's own need to know. */
export interface Around {
  readonly module: Module;
  /** The index of the graph's function, which takes and returns nothing. */
  readonly call: number;
  readonly inputs: readonly (number | undefined)[];
  readonly outputs: readonly number[];
  /** The first address that is free. */
  readonly end: number;
}

/**
 * The module of a trace; undefined where the graph has an operation that the compiler lacks.
 *
 * @param extend writes more functions and returns the end of the memory they need; undefined where
 *   they cannot be written
 */
export function compileTrace(
  { inputs, outputs }: Trace<unknown>,
  extend: (around: Around) => number | undefined = ({ end }) => end,
): Compiled | undefined {
  const tensors = lowerBy(
    outputs.map((o) => o.tensor),
    lowering,
  );
  if (!topological(tensors).every(isSupported)) return undefined;
  const plan = planOf(tensors);
  // First for the times at which buffers are used, then with the addresses that follow from these.
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
    if (total !== undefined) result = { ...places, bytes: module.encode(total) };
  }
  return result;
}

const viewOf = (memory: WebAssembly.Memory, like: TypedArray, address: number, length: number) =>
  new (like.constructor as Float64ArrayConstructor)(memory.buffer, address, length);

/** Opens a trace; undefined where it has an operation that the compiler lacks. */
export async function wasmSession(traced: Trace<unknown>): Promise<Session | undefined> {
  const compiled = compileTrace(traced);
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
      const out: Record<string, NdArray> = {};
      for (const { name, shape, dtype, view } of results)
        out[name] = { shape, dtype, data: view.slice() };
      return out;
    },
    dispose: async () => undefined,
  };
}
