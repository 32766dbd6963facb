/**
 * A reader of protocol buffers with bounds checks: a length beyond the end, or a number of eleven
 * bytes, is an error.
 */
import { fail } from "../graph/index.ts";

/** One field of a message: its number, and its value as a number or as bytes. */
export interface WireField {
  readonly field: number;
  readonly number: number;
  /** Empty for a number. */
  readonly bytes: Uint8Array;
}

const broken = (why: string): never =>
  fail("data", `the ONNX file is broken: ${why}`, "export it again, or copy it whole");

const nothing = new Uint8Array(0);

/**
 * The fields of a message in order. A varint above 2⁵³ loses its low bits; negative numbers are
 * correct.
 */
export function* fields(bytes: Uint8Array): Generator<WireField> {
  let at = 0;
  const varint = (): number => {
    let [low, high] = [0, 0];
    for (let i = 0; i < 10; i++) {
      if (at >= bytes.length) broken("it ends inside a number");
      const byte = bytes[at++];
      if (i < 4) low += (byte & 0x7f) * 2 ** (7 * i);
      else high += (byte & 0x7f) * 2 ** (7 * (i - 4));
      // 64 bits of two's complement: 28 in `low`, 36 in `high`.
      if (byte < 0x80) return low + 2 ** 28 * (high >= 2 ** 35 ? (high % 2 ** 36) - 2 ** 36 : high);
    }
    return broken("a number has more than ten bytes");
  };
  const span = (length: number): Uint8Array => {
    if (!(length >= 0 && length <= bytes.length - at))
      broken(`a part of ${length} bytes extends beyond the end`);
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const tag = varint();
    const [field, kind] = [Math.floor(tag / 8), tag % 8];
    if (field < 1 || field >= 2 ** 29) broken(`${field} is not a valid field number`);
    if (kind === 0) yield { field, number: varint(), bytes: nothing };
    else if (kind === 1) yield { field, number: Number.NaN, bytes: span(8) };
    else if (kind === 2) yield { field, number: Number.NaN, bytes: span(varint()) };
    else if (kind === 5) yield { field, number: Number.NaN, bytes: span(4) };
    else broken(`unknown wire type ${kind}`);
  }
}

const decoder = new TextDecoder("utf-8", { fatal: false });

/** Names as text of at most 200 letters. */
export const textOf = (bytes: Uint8Array): string => decoder.decode(bytes);

/** The numbers of a field, which may be packed. */
export function* packedNumbers({ number, bytes }: WireField): Generator<number> {
  if (!Number.isNaN(number)) return yield number;
  let at = 0;
  while (at < bytes.length) {
    let end = at;
    while (end < bytes.length && bytes[end] >= 0x80) end++;
    if (end >= bytes.length || end - at > 9) broken("a list of numbers ends inside one");
    // A single varint is read as field 1 of a message.
    const one = new Uint8Array(end - at + 2);
    one[0] = 8;
    one.set(bytes.subarray(at, end + 1), 1);
    for (const inner of fields(one)) yield inner.number;
    at = end + 1;
  }
}
