/**
 * Chains as text, without loss: a typed array is the base64 of its bytes in little-endian order.
 * The text contains a checksum of itself, computed with the digits of the checksum replaced by
 * zeros.
 */
import * as v from "valibot";
import { DiffeoError } from "../graph/index.ts";
import { checksumBlank, checksumPattern, checksumText } from "../host/crc32.ts";
import type { ChainState } from "./chain-state.ts";
import { inverseLength } from "./metric.ts";

const kinds = { float64: Float64Array, uint32: Uint32Array, uint8: Uint8Array } as const;
type Kind = keyof typeof kinds;

/** Bytes converted per call; more would exceed the number of arguments of a call. */
const CHUNK = 0x8000;

function toBase64(data: ArrayBufferView): string {
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  let text = "";
  for (let at = 0; at < bytes.length; at += CHUNK)
    text += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return btoa(text);
}

const kindOf = (value: unknown): Kind | undefined =>
  (Object.keys(kinds) as Kind[]).find((kind) => value instanceof kinds[kind]);

/** Numbers that JSON cannot represent, or not with their sign, by name. */
const odd: Readonly<Record<string, number>> = {
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  "-Infinity": Number.NEGATIVE_INFINITY,
  "-0": -0,
};

const checksumOf = (text: string): string => checksumText([new TextEncoder().encode(text)]);

/** Writes chains as text, without loss and with a checksum. */
export function serializeChains(chains: readonly ChainState[]): string {
  const whole = { diffeoChains: 1, checksum: checksumBlank, chains };
  const text = `${JSON.stringify(whole, (_, value: unknown) => {
    const kind = kindOf(value);
    if (kind) return { [kind]: toBase64(value as ArrayBufferView) };
    if (typeof value !== "number") return value;
    const name = Object.keys(odd).find((each) => Object.is(odd[each], value));
    return name === undefined ? value : { number: name };
  })}\n`;
  return text.replace(checksumBlank, checksumOf(text));
}

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
// Any number, because a chain may have met NaN.
const number = v.custom<number>((value) => typeof value === "number");
const float64 = v.instance(Float64Array);

const stateSchema = v.pipe(
  v.strictObject({
    x: float64,
    value: float64,
    energy: float64,
    acceptance: float64,
    depth: v.instance(Uint8Array),
    leaves: v.instance(Uint32Array),
    diverged: v.instance(Uint8Array),
    size: number,
    inverseMass: float64,
    divergedInWarmup: count,
    undefinedCount: count,
    undefinedAt: v.nullable(float64),
    restart: v.nullable(
      v.strictObject({ done: count, from: count, logDensity: number, logDensityThere: number }),
    ),
    compared: v.boolean(),
    region: v.strictObject({
      total: number,
      diverged: count,
      points: v.strictObject({ count, mean: float64, squares: float64 }),
    }),
    done: count,
    at: v.strictObject({ x: float64, slope: float64, value: number }),
    looks: v.boolean(),
    average: v.strictObject({
      centre: number,
      count,
      error: number,
      logSize: number,
      logMean: number,
    }),
    covariance: v.union([
      v.strictObject({ count, mean: float64, squares: float64 }),
      v.strictObject({ points: float64, slopes: float64 }),
    ]),
  }),
  // Arrays of a point have n numbers, arrays of draws one per draw.
  v.check(({ at, value, inverseMass, covariance, undefinedAt, region, ...state }) => {
    const [n, draws] = [at.x.length, value.length];
    const { x, energy, acceptance, depth, leaves, diverged } = state;
    return (
      n > 0 &&
      x.length === draws * n &&
      [energy, acceptance, depth, leaves, diverged].every(({ length }) => length === draws) &&
      [at.slope, undefinedAt ?? at.x, region.points.mean, region.points.squares].every(
        ({ length }) => length === n,
      ) &&
      ("mean" in covariance
        ? covariance.mean.length === n &&
          [n, n * n].includes(inverseMass.length) &&
          covariance.squares.length === inverseMass.length
        : inverseMass.length === inverseLength("low-rank", n) &&
          covariance.points.length % n === 0 &&
          covariance.slopes.length === covariance.points.length)
    );
  }),
);

const chainsSchema: v.GenericSchema<
  unknown,
  { readonly checksum?: string | undefined; readonly chains: ChainState[] }
> = v.strictObject({
  diffeoChains: v.literal(1),
  // Older texts have no checksum.
  checksum: v.optional(v.pipe(v.string(), v.regex(checksumPattern))),
  chains: v.pipe(v.array(stateSchema), v.minLength(1)),
});

/**
 * Reads chains from the text of `serializeChains`.
 *
 * @throws DiffeoError of kind `data` if the text is damaged or does not contain chains
 *
 * @param where the name of the text in errors
 */
export function parseChains(text: string, where: string): ChainState[] {
  const revive = (_: string, value: unknown): unknown => {
    if (typeof value !== "object" || value === null || Object.keys(value).length !== 1)
      return value;
    const [[kind, content]] = Object.entries(value);
    if (typeof content !== "string") return value;
    if (kind === "number") return Object.hasOwn(odd, content) ? odd[content] : value;
    if (!Object.hasOwn(kinds, kind)) return value;
    const bytes = Uint8Array.from(atob(content), (c) => c.charCodeAt(0));
    return new kinds[kind as Kind](bytes.buffer);
  };
  try {
    const { checksum, chains } = v.parse(chainsSchema, JSON.parse(text, revive));
    if (checksum !== undefined) {
      const found = checksumOf(text.replace(checksum, checksumBlank));
      if (found !== checksum) throw new Error(`its checksum is ${found}, it should be ${checksum}`);
    }
    return chains;
  } catch (cause) {
    // Any error means that the text is not one of `serializeChains`.
    throw new DiffeoError(
      "data",
      `${where} does not contain chains that can be continued`,
      "begin a new run",
      { cause },
    );
  }
}
