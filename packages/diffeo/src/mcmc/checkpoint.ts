/** Chains as text, every bit of them: a typed array is the base64 of its bytes, in the order of a little-endian machine. */
import { fail } from "../graph/index.ts";
import type { ChainState } from "./walker.ts";

const kinds = { float64: Float64Array, uint32: Uint32Array, uint8: Uint8Array } as const;
type Kind = keyof typeof kinds;

/** Bytes turned into characters at once; more are too many arguments of one call. */
const CHUNK = 0x8000;

function toBase64(data: ArrayBufferView): string {
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  let text = "";
  for (let at = 0; at < bytes.length; at += CHUNK) text += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return btoa(text);
}

const kindOf = (value: unknown): Kind | undefined =>
  (Object.keys(kinds) as Kind[]).find((kind) => value instanceof kinds[kind]);

/** Numbers that JSON does not have, or not with their sign, by name. */
const odd: Readonly<Record<string, number>> = {
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  "-Infinity": Number.NEGATIVE_INFINITY,
  "-0": -0,
};

export const chainsText = (chains: readonly ChainState[]): string =>
  `${JSON.stringify({ diffeoChains: 1, chains }, (_, value: unknown) => {
    const kind = kindOf(value);
    if (kind) return { [kind]: toBase64(value as ArrayBufferView) };
    if (typeof value !== "number") return value;
    const name = Object.keys(odd).find((each) => Object.is(odd[each], value));
    return name === undefined ? value : { number: name };
  })}\n`;

/** @param where names the text in an error */
export function parseChains(text: string, where: string): ChainState[] {
  const revive = (_: string, value: unknown): unknown => {
    if (typeof value !== "object" || value === null || Object.keys(value).length !== 1) return value;
    const [[kind, content]] = Object.entries(value);
    if (typeof content !== "string") return value;
    if (kind === "number") return odd[content];
    if (!Object.hasOwn(kinds, kind)) return value;
    const bytes = Uint8Array.from(atob(content), (c) => c.charCodeAt(0));
    return new kinds[kind as Kind](bytes.buffer);
  };
  try {
    const { diffeoChains, chains } = JSON.parse(text, revive) as { diffeoChains: number; chains: ChainState[] };
    if (diffeoChains === 1 && Array.isArray(chains) && chains.every(({ at }) => at.x instanceof Float64Array))
      return chains;
  } catch {
    // Not ours, whatever it is: said below.
  }
  return fail("data", `${where} holds no chains that can be continued`, "begin a new run");
}
