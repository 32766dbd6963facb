/**
 * The binary format of a WebAssembly module (WebAssembly Core Specification 2.0, chapter 5): magic,
 * version, then sections (id, size, content) of types, imports, functions, memory, exports, code
 * and data.
 */
import { fail } from "../../graph/index.ts";

export type ValueType = "i32" | "i64" | "f32" | "f64" | "v128";

const typeCode: Readonly<Record<ValueType, number>> = {
  i32: 0x7f,
  i64: 0x7e,
  f32: 0x7d,
  f64: 0x7c,
  v128: 0x7b,
};

/** Unsigned LEB128: seven bits per byte, the lowest first. */
export function unsigned(n: number): number[] {
  const bytes: number[] = [];
  let rest = n;
  do {
    const low = rest % 128;
    rest = Math.floor(rest / 128);
    bytes.push(rest > 0 ? low + 128 : low);
  } while (rest > 0);
  return bytes;
}

/** Signed LEB128. */
export function signed(n: number | bigint): number[] {
  const bytes: number[] = [];
  let rest = BigInt(n);
  for (;;) {
    const low = Number(rest & 127n);
    rest >>= 7n;
    const last = (rest === 0n && low < 64) || (rest === -1n && low >= 64);
    bytes.push(last ? low : low + 128);
    if (last) return bytes;
  }
}

/** The eight bytes of a float64, or the four of a float32. */
export function floatBytes(value: number, type: "f32" | "f64"): number[] {
  const view = new DataView(new ArrayBuffer(8));
  if (type === "f64") view.setFloat64(0, value, true);
  else view.setFloat32(0, value, true);
  return [...new Uint8Array(view.buffer, 0, type === "f64" ? 8 : 4)];
}

export interface Signature {
  readonly parameters: readonly ValueType[];
  readonly results: readonly ValueType[];
}

export interface FunctionBody extends Signature {
  /** Types of the locals that are not parameters. */
  readonly locals: readonly ValueType[];
  readonly code: readonly number[];
  /** The name under which it is exported, if it is. */
  readonly name?: string;
}

export interface Segment {
  readonly address: number;
  readonly bytes: Uint8Array;
}

/** The limit of WebAssembly memory: 4 GiB in pages of 64 KiB. */
const PAGE = 65536;
const MOST_PAGES = 65536;

/** Appends without spreading arguments, whose number is limited. */
function append(into: number[], bytes: ArrayLike<number>): void {
  for (let i = 0; i < bytes.length; i++) into.push(bytes[i]);
}

const vector = (items: readonly (readonly number[])[]): number[] => [
  ...unsigned(items.length),
  ...items.flat(),
];

const name = (text: string): number[] => {
  const bytes = new TextEncoder().encode(text);
  return [...unsigned(bytes.length), ...bytes];
};

const typesOf = (types: readonly ValueType[]): number[] => vector(types.map((t) => [typeCode[t]]));

/** Locals as runs of equal types. */
function runs(locals: readonly ValueType[]): number[][] {
  const out: [number, ValueType][] = [];
  for (const type of locals) {
    const last = out.at(-1);
    if (last?.[1] === type) last[0]++;
    else out.push([1, type]);
  }
  return out.map(([count, type]) => [...unsigned(count), typeCode[type]]);
}

/** The bytes of a module that exports its memory as `memory` and functions by their names. */
export function encodeModule(
  functions: readonly FunctionBody[],
  bytes: number,
  segments: readonly Segment[],
): Uint8Array<ArrayBuffer> {
  const pages = Math.max(1, Math.ceil(bytes / PAGE));
  if (pages > MOST_PAGES)
    fail(
      "usage",
      `the graph needs ${bytes} bytes`,
      "use smaller batches: the limit of WebAssembly is 4 GiB",
    );
  const out: number[] = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
  const section = (id: number, content: readonly number[]): void => {
    out.push(id, ...unsigned(content.length));
    append(out, content);
  };
  section(1, vector(functions.map((f) => [0x60, ...typesOf(f.parameters), ...typesOf(f.results)])));
  section(3, vector(functions.map((_, i) => unsigned(i))));
  section(5, vector([[0, ...unsigned(pages)]]));
  const exported = functions.flatMap((f, i) =>
    f.name ? [[...name(f.name), 0, ...unsigned(i)]] : [],
  );
  section(7, vector([[...name("memory"), 2, 0], ...exported]));
  const code: number[] = unsigned(functions.length);
  for (const f of functions) {
    const locals = vector(runs(f.locals));
    append(code, unsigned(locals.length + f.code.length + 1));
    append(code, locals);
    append(code, f.code);
    code.push(0x0b);
  }
  section(10, code);
  if (segments.length > 0) {
    const data: number[] = unsigned(segments.length);
    for (const { address, bytes: content } of segments) {
      data.push(0, 0x41, ...signed(address | 0), 0x0b, ...unsigned(content.length));
      append(data, content);
    }
    section(11, data);
  }
  return Uint8Array.from(out);
}

/** A section that engines skip, to be appended to a module. */
export function customSection(title: string, content: Uint8Array): number[] {
  const head = name(title);
  return [0, ...unsigned(head.length + content.length), ...head, ...content];
}
