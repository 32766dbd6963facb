/**
 * Elementwise expressions as one WebAssembly function: four numbers at a time, every operation in float32 and in the order
 * in which the graph has it, so that the results are those of a runtime bit for bit.
 *
 *   yₖ[i] = fₖ(a₁[i], …, aₘ[i], c₁, …, cₙ)        one load an array, one store a result
 *
 * Opcodes are those of the WebAssembly specification, 2.0.
 */
import type { Tensor } from "../graph/index.ts";
import { uniformValue } from "../graph/tensor.ts";

/** What the function can compute, by primitive: the number of the instruction on four float32. */
const instructions: Readonly<Record<string, number>> = {
  abs: 0xe0,
  neg: 0xe1,
  sqrt: 0xe3,
  add: 0xe4,
  sub: 0xe5,
  mul: 0xe6,
  div: 0xe7,
};

export const isInstruction = ({ op, dtype }: Tensor): boolean =>
  dtype === "float32" && Object.hasOwn(instructions, op.name);

/** An expression of arrays of one shape and of numbers. */
export interface Expression {
  readonly arrays: readonly Tensor[];
  readonly scalars: readonly Tensor[];
  /** What is computed, operands before results. Operands that are none of these are constants. */
  readonly nodes: readonly Tensor[];
  /** Which of the nodes are results. */
  readonly results: readonly Tensor[];
}

/** Numbers of an array that are worked on at a time: with a few arrays, what a second cache holds. */
const BLOCK = 16_384;
const BLOCK_BYTES = 4 * BLOCK;
const PAGE_BYTES = 65_536;
const [I32, F32, V128] = [0x7f, 0x7d, 0x7b];

function leb(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest & 127) | 128);
  }
}

const list = (items: readonly (readonly number[])[]): number[] => [...leb(items.length), ...items.flat()];
const section = (id: number, body: readonly number[]): number[] => [id, ...leb(body.length), ...body];
const text = (name: string): number[] => list([...name].map((c) => [c.charCodeAt(0)]));
const vector = (instruction: number, ...operands: number[]): number[] => [0xfd, ...leb(instruction), ...operands];
const get = (local: number): number[] => [0x20, ...leb(local)];
const set = (local: number): number[] => [0x21, ...leb(local)];
const splat = vector(0x13);

/** The function's code: parameters are the bytes of a block and the scalars; block k of memory holds array k, then result k. */
function code({ arrays, scalars, nodes, results }: Expression): number[] {
  const at = 1 + scalars.length;
  const locals = new Map<Tensor, number>();
  const local = (t: Tensor): number => {
    const known = locals.get(t) ?? at + 1 + locals.size;
    locals.set(t, known);
    return known;
  };
  const number = (t: Tensor): number[] => {
    const bytes = new Uint8Array(Float32Array.of(uniformValue(t) as number).buffer);
    return [0x43, ...bytes, ...splat, ...set(local(t))];
  };
  const place = (k: number): number[] => [...leb(4), ...leb(k * BLOCK_BYTES)];
  const inside = new Set([...arrays, ...scalars, ...nodes]);
  const constants = new Set(nodes.flatMap((node) => node.inputs).filter((t) => !inside.has(t)));
  const before = [
    ...scalars.flatMap((t, k) => [...get(1 + k), ...splat, ...set(local(t))]),
    ...[...constants].flatMap(number),
  ];
  const loop = [
    ...arrays.flatMap((t, k) => [...get(at), ...vector(0x00, ...place(k)), ...set(local(t))]),
    ...nodes.flatMap((node) => [
      ...node.inputs.flatMap((t) => get(local(t))),
      ...vector(instructions[node.op.name]),
      ...set(local(node)),
    ]),
    ...results.flatMap((t, k) => [...get(at), ...get(local(t)), ...vector(0x0b, ...place(arrays.length + k))]),
    // at += 16, and again while at < bytes
    ...get(at),
    0x41,
    16,
    0x6a,
    0x22,
    ...leb(at),
    ...get(0),
    0x49,
    0x0d,
    0,
  ];
  const kinds = list([
    [1, I32],
    [...leb(locals.size), V128],
  ]);
  return [...kinds, ...before, 0x03, 0x40, ...loop, 0x0b, 0x0b];
}

function moduleOf(expression: Expression): Uint8Array<ArrayBuffer> {
  const { arrays, scalars, results } = expression;
  const pages = ((arrays.length + results.length) * BLOCK_BYTES) / PAGE_BYTES;
  const body = code(expression);
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, list([[0x60, ...list([[I32], ...scalars.map(() => [F32])]), 0]])),
    ...section(3, list([[0]])),
    ...section(5, list([[0, ...leb(pages)]])),
    ...section(
      7,
      list([
        [...text("memory"), 2, 0],
        [...text("sweep"), 0, 0],
      ]),
    ),
    ...section(10, list([[...leb(body.length), ...body]])),
  ]);
}

/** Computes the results of an expression into `into`, block by block. An array may lie in several places, one part after another. */
export type Kernel = (
  arrays: readonly (readonly Float32Array[])[],
  scalars: readonly number[],
  into: readonly Float32Array[],
) => void;

/** Copies the next numbers of what lies in several places into a block. */
function reader(parts: readonly Float32Array[]): (block: Float32Array, count: number) => void {
  let [k, from] = [0, 0];
  return (block, count) => {
    for (let done = 0; done < count; ) {
      const n = Math.min(count - done, parts[k].length - from);
      block.set(parts[k].subarray(from, from + n), done);
      done += n;
      from += n;
      if (from === parts[k].length) [k, from] = [k + 1, 0];
    }
  };
}

export async function kernelOf(expression: Expression): Promise<Kernel> {
  const { instance } = await WebAssembly.instantiate(moduleOf(expression));
  const { memory, sweep } = instance.exports as {
    readonly memory: WebAssembly.Memory;
    readonly sweep: (bytes: number, ...scalars: number[]) => void;
  };
  const room = (k: number): Float32Array => new Float32Array(memory.buffer, k * BLOCK_BYTES, BLOCK);
  const given = expression.arrays.map((_, k) => room(k));
  const made = expression.results.map((_, k) => room(given.length + k));
  return (arrays, scalars, into) => {
    const readers = arrays.map(reader);
    const size = into[0].length;
    for (let at = 0; at < size; at += BLOCK) {
      const count = Math.min(BLOCK, size - at);
      for (const [k, block] of given.entries()) readers[k](block, count);
      sweep(4 * count, ...scalars);
      for (const [k, block] of made.entries()) into[k].set(block.subarray(0, count), at);
    }
  };
}
