/**
 * Named arrays in one file, in the safetensors layout: eight bytes of header length, a JSON header
 * with the type, shape and offsets of every array, then the numbers.
 *
 * The first entry of the metadata is a checksum of all bytes of the file, computed with its own
 * digits replaced by zeros. Files without a checksum, of other programs and of older versions, can
 * be read, too.
 */
import { DiffeoError, fail, type NdArray, type Shape, sizeOf } from "../graph/index.ts";
import { checksumBlank, checksumPattern, checksumText } from "../host/crc32.ts";
import { fromHalf, toHalf } from "../host/half.ts";

/** The element type of numbers in a file. */
export type StoredType = "F32" | "F16";

/** The contents of a safetensors file: arrays by name, and metadata. */
export interface Tensors {
  readonly arrays: Readonly<Record<string, NdArray>>;
  readonly metadata: Readonly<Record<string, string>>;
}

interface Entry {
  readonly dtype: StoredType;
  readonly shape: Shape;
  readonly data_offsets: readonly [number, number];
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

const areSizes = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every((n) => Number.isSafeInteger(n) && n >= 0);

/** The schema of an array's entry; its type is checked separately. */
const isEntry = (value: unknown): value is Omit<Entry, "dtype"> & { readonly dtype: string } =>
  isObject(value) &&
  typeof value.dtype === "string" &&
  areSizes(value.shape) &&
  areSizes(value.data_offsets) &&
  value.data_offsets.length === 2;

/** Bytes per number. */
const sizes: ReadonlyMap<string, number> = new Map([
  ["F32", 4],
  ["F16", 2],
] satisfies [StoredType, number][]);

const bytesOf = (data: ArrayBufferView): Uint8Array =>
  new Uint8Array(data.buffer, data.byteOffset, data.byteLength);

const CHECKSUM = "checksum";
/** The header before the checksum. */
const beforeChecksum = `{"__metadata__":{"${CHECKSUM}":"`;

/** JSON of an object, with its entries in the order of the list. */
const objectText = (entries: readonly (readonly [name: string, value: string])[]): string =>
  `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`;

const textEntries = (values: Readonly<Record<string, unknown>>): [name: string, value: string][] =>
  Object.entries(values).map(([name, value]) => [name, JSON.stringify(value)]);

/**
 * The bytes of a file in parts: length, header with its checksum, numbers.
 *
 * @param entries the type, shape and offsets of every array, by name
 */
export function assembleSafetensors(
  metadata: Readonly<Record<string, string>>,
  entries: readonly (readonly [name: string, entry: unknown])[],
  numbers: readonly Uint8Array[],
): Uint8Array[] {
  if (Object.hasOwn(metadata, CHECKSUM))
    fail("usage", `the metadata contain the reserved name "${CHECKSUM}"`, "use another name");
  const stated = textEntries({ [CHECKSUM]: checksumBlank, ...metadata });
  // JavaScript puts integer-like names first in an object.
  stated.sort(([a], [b]) => Number(b === CHECKSUM) - Number(a === CHECKSUM));
  const text = objectText([
    ["__metadata__", objectText(stated)],
    ...entries.map(([name, entry]) => [name, JSON.stringify(entry)] as const),
  ]);
  const encoder = new TextEncoder();
  const unpadded = encoder.encode(text);
  // The header is padded with spaces so that the numbers start at a multiple of eight.
  const json = new Uint8Array(8 * Math.ceil(unpadded.length / 8)).fill(0x20);
  json.set(unpadded);
  const length = new Uint8Array(8);
  new DataView(length.buffer).setBigUint64(0, BigInt(json.length), true);
  json.set(encoder.encode(checksumText([length, json, ...numbers])), beforeChecksum.length);
  return [length, json, ...numbers];
}

/** The checksum that a file should have. */
function checksumOf(bytes: Uint8Array): string {
  const at = 8 + beforeChecksum.length;
  const blank = new TextEncoder().encode(checksumBlank);
  return checksumText([bytes.subarray(0, at), blank, bytes.subarray(at + blank.length)]);
}

/**
 * Describes what is wrong with a file's checksum. A checksum under another name is one whose name
 * was damaged.
 */
function checksumProblem(
  metadata: Readonly<Record<string, unknown>>,
  bytes: Uint8Array,
): string | undefined {
  const stated = Object.hasOwn(metadata, CHECKSUM)
    ? metadata[CHECKSUM]
    : Object.values(metadata).find((value) => checksumPattern.test(String(value)));
  if (stated === undefined) return undefined;
  const found = checksumOf(bytes);
  return Object.hasOwn(metadata, CHECKSUM) && stated === found
    ? undefined
    : `its checksum is ${found}, it should be ${stated}`;
}

/**
 * The bytes of a file, in parts to be written in order. With `type` F16 numbers have half the size
 * and are rounded to 11 bits.
 */
export function serializeSafetensors(
  { arrays, metadata }: Tensors,
  type: StoredType = "F32",
): Uint8Array[] {
  const entries: [name: string, entry: unknown][] = [];
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const [name, { shape, data }] of Object.entries(arrays)) {
    if (name === "__metadata__")
      fail("usage", `an array has the reserved name "${name}"`, "use another name");
    if (!(data instanceof Float32Array))
      fail("type", `array "${name}" is not float32`, "store float32 arrays");
    const stored = type === "F32" ? data : toHalf(data);
    const lost = type === "F32" ? -1 : stored.findIndex((half) => (half & 0x7c00) === 0x7c00);
    if (lost >= 0)
      fail(
        "numerical",
        `array "${name}" has ${data[lost]}, which is beyond the range of half precision (65,504)`,
        "train with a smaller learning rate, or store float32",
      );
    const bytes = bytesOf(stored);
    entries.push([name, { dtype: type, shape, data_offsets: [at, at + bytes.length] }]);
    at += bytes.length;
    parts.push(bytes);
  }
  return assembleSafetensors(metadata, entries, parts);
}

/**
 * The index of the first NaN or infinity, or −1. The difference of every other number with itself
 * is 0.
 */
function firstNotFinite(data: Float32Array): number {
  for (let i = 0; i < data.length; i++) if (data[i] - data[i] !== 0) return i;
  return -1;
}

const DAMAGED = "the file is damaged or not a safetensors file; use another checkpoint";

/** Throws an error about the file. */
type Refuse = (what: string) => never;

/** The position of an array in the bytes after the header. */
interface Place {
  readonly name: string;
  readonly dtype: StoredType;
  readonly shape: readonly number[];
  readonly from: number;
  readonly to: number;
}

/** The header's JSON object, and the number of its bytes. */
function readHeader(bytes: Uint8Array, where: string, refuse: Refuse) {
  if (bytes.length < 8) refuse(`it has only ${bytes.length} bytes`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = Number(view.getBigUint64(0, true));
  if (length > bytes.length - 8)
    refuse(`its header should have ${length} bytes, but only ${bytes.length - 8} remain`);
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)));
  } catch (error) {
    throw new DiffeoError("data", `${where}: its header is not JSON`, DAMAGED, { cause: error });
  }
  if (!isObject(header)) return refuse("its header is not an object");
  return { header, length };
}

/** The position of one array, from its entry in the header. */
function placeOf(name: string, entry: unknown, room: number, refuse: Refuse): Place {
  if (!isEntry(entry)) return refuse(`array "${name}" has no valid type, shape and offsets`);
  const {
    dtype,
    shape,
    data_offsets: [from, to],
  } = entry;
  const size =
    sizes.get(dtype) ??
    refuse(`array "${name}" has the type ${dtype}; only F32 and F16 are supported`);
  if (to - from !== size * sizeOf(shape) || to > room)
    refuse(`array "${name}" of shape [${shape.join(", ")}] does not fit bytes ${from} to ${to}`);
  return { name, dtype: dtype as StoredType, shape, from, to };
}

/**
 * Checks that every byte belongs to exactly one array, so that all arrays together are not larger
 * than the file.
 */
function requireTiling(places: readonly Place[], room: number, refuse: Refuse): void {
  let end = 0;
  for (const { name, from, to } of places.toSorted((a, b) => a.from - b.from || a.to - b.to)) {
    if (from !== end)
      refuse(`array "${name}" starts at byte ${from}, but the one before it ends at ${end}`);
    end = to;
  }
  if (room > end) refuse(`${room - end} bytes follow the last array`);
}

function readArray(data: Uint8Array, { name, dtype, shape, from, to }: Place, refuse: Refuse) {
  // A copy, because Node's Buffer.slice would be a view at any offset.
  const own = new Uint8Array(data.subarray(from, to));
  const values =
    dtype === "F32" ? new Float32Array(own.buffer) : fromHalf(new Uint16Array(own.buffer));
  const bad = firstNotFinite(values);
  if (bad >= 0) refuse(`array "${name}" has ${values[bad]} at the flat index ${bad}`);
  return { shape, dtype: "float32", data: values } as const;
}

/**
 * Reads the arrays and metadata of a file; half precision is converted to float32.
 *
 * @param where the name of the file, for errors
 * @throws DiffeoError of kind `data` if the file is damaged or has a number that is not finite
 */
export function parseSafetensors(bytes: Uint8Array, where: string): Tensors {
  const refuse: Refuse = (what) => fail("data", `${where}: ${what}`, DAMAGED);
  const { header, length } = readHeader(bytes, where, refuse);
  const { __metadata__: metadata = {}, ...entries } = header;
  if (!isObject(metadata)) return refuse("its metadata are not an object");
  if (!Object.values(metadata).every((value) => typeof value === "string"))
    refuse("its metadata are not all strings");
  const data = bytes.subarray(8 + length);
  const places = Object.entries(entries).map(([name, entry]) =>
    placeOf(name, entry, data.length, refuse),
  );
  requireTiling(places, data.length, refuse);
  const wrong = checksumProblem(metadata, bytes);
  if (wrong !== undefined) refuse(wrong);
  const { [CHECKSUM]: _, ...own } = metadata;
  const arrays = places.map((place): [string, NdArray] => [
    place.name,
    readArray(data, place, refuse),
  ]);
  return { arrays: Object.fromEntries(arrays), metadata: own as Record<string, string> };
}
