/**
 * Elementwise expressions as one WebAssembly function: four numbers at a time, with every operation
 * in float32 and in the order of the graph, so that results equal those of a runtime bit for bit.
 *
 *   yₖ[i] = fₖ(a₁[i], …, aₘ[i], c₁, …, cₙ)        one load per array, one store per result
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
  /** The operations, operands before results. Other operands are constants. */
  readonly nodes: readonly Tensor[];
  /** Which of the nodes are results. */
  readonly results: readonly Tensor[];
}

/** The numbers of an array per block; a few arrays fit into a second-level cache. */
const BLOCK = 16_384;
const BLOCK_BYTES = 4 * BLOCK;
const PAGE_BYTES = 65_536;
const MOST_BYTES = 2 ** 32 - PAGE_BYTES;
const [I32, F32, V128] = [0x7f, 0x7d, 0x7b];

function leb(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest & 127) | 128);
  }
}

const list = (items: readonly (readonly number[])[]): number[] => [
  ...leb(items.length),
  ...items.flat(),
];
const section = (id: number, body: readonly number[]): number[] => [
  id,
  ...leb(body.length),
  ...body,
];
const text = (name: string): number[] => list([...name].map((c) => [c.charCodeAt(0)]));
const vector = (instruction: number, ...operands: number[]): number[] => [
  0xfd,
  ...leb(instruction),
  ...operands,
];
const get = (local: number): number[] => [0x20, ...leb(local)];
const set = (local: number): number[] => [0x21, ...leb(local)];
const splat = vector(0x13);

/**
 * The code of the function. Its parameters are the number of bytes per array, the addresses of
 * arrays and results, and the scalars.
 */
function code({ arrays, scalars, nodes, results }: Expression): number[] {
  const places = arrays.length + results.length;
  const at = 1 + places + scalars.length;
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
  const address = (k: number): number[] => [...get(1 + k), ...get(at), 0x6a];
  const [load, store] = [vector(0x00, 2, 0), vector(0x0b, 2, 0)];
  const inside = new Set([...arrays, ...scalars, ...nodes]);
  const constants = new Set(nodes.flatMap((node) => node.inputs).filter((t) => !inside.has(t)));
  const before = [
    ...scalars.flatMap((t, k) => [...get(1 + places + k), ...splat, ...set(local(t))]),
    ...[...constants].flatMap(number),
  ];
  const loop = [
    ...arrays.flatMap((t, k) => [...address(k), ...load, ...set(local(t))]),
    ...nodes.flatMap((node) => [
      ...node.inputs.flatMap((t) => get(local(t))),
      ...vector(instructions[node.op.name]),
      ...set(local(node)),
    ]),
    ...results.flatMap((t, k) => [...address(arrays.length + k), ...get(local(t)), ...store]),
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
  const body = code(expression);
  const parameters = [
    [I32],
    ...[...arrays, ...results].map(() => [I32]),
    ...scalars.map(() => [F32]),
  ];
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, list([[0x60, ...list(parameters), 0]])),
    ...section(2, list([[...text("host"), ...text("memory"), 2, 0, 0]])),
    ...section(3, list([[0]])),
    ...section(7, list([[...text("sweep"), 0, 0]])),
    ...section(10, list([[...leb(body.length), ...body]])),
  ]);
}

export interface Kernel {
  /** Computes the results. An array may consist of several parts in memory. */
  run(
    arrays: readonly (readonly Float32Array[])[],
    scalars: readonly number[],
    into: readonly Float32Array[],
  ): void;
  /** Some result arrays in the function's own memory, which are not copied. */
  readonly rooms: readonly Float32Array[];
}

/** Copies the next numbers of an array of several parts into a block. */
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

/** The function for arrays of `size` numbers. */
export async function kernelOf(expression: Expression, size: number): Promise<Kernel> {
  const { arrays: given, results } = expression;
  const blocks = given.length + results.length;
  // Four numbers at a time may extend beyond the last one.
  const room = 16 * Math.ceil(size / 4);
  // Every result has two arrays, for input and output.
  const rooms = Math.min(
    2 * results.length,
    Math.floor((MOST_BYTES - blocks * BLOCK_BYTES) / room),
  );
  const bytes = blocks * BLOCK_BYTES + rooms * room;
  const memory = new WebAssembly.Memory({ initial: Math.ceil(bytes / PAGE_BYTES) });
  const { instance } = await WebAssembly.instantiate(moduleOf(expression), { host: { memory } });
  const sweep = instance.exports.sweep as (bytes: number, ...operands: number[]) => void;
  const block = (k: number): Float32Array =>
    new Float32Array(memory.buffer, k * BLOCK_BYTES, BLOCK);
  const inside = (a: Float32Array): boolean => a.buffer === memory.buffer;
  return {
    rooms: Array.from(
      { length: rooms },
      (_, k) => new Float32Array(memory.buffer, blocks * BLOCK_BYTES + k * room, size),
    ),
    run: (arrays, scalars, into) => {
      const sources = arrays.map((parts, k) =>
        parts.length === 1 && inside(parts[0])
          ? { from: parts[0].byteOffset }
          : { read: reader(parts), block: block(k) },
      );
      const targets = into.map((a, k) =>
        inside(a) ? { from: a.byteOffset } : { block: block(given.length + k) },
      );
      for (let at = 0; at < size; at += BLOCK) {
        const count = Math.min(BLOCK, size - at);
        for (const { read, block: own } of sources) read?.(own, count);
        const places = [...sources, ...targets].map(
          ({ from, block: own }) => own?.byteOffset ?? (from as number) + 4 * at,
        );
        sweep(4 * count, ...places, ...scalars);
        for (const [k, { block: own }] of targets.entries())
          if (own) into[k].set(own.subarray(0, count), at);
      }
    },
  };
}
