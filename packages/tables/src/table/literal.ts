/**
 * Numbers and booleans as written in a file. A number with more digits than a float64 passes from
 * file to file unchanged.
 */
import { numberOf } from "./table.ts";

/** A number, true or false, as text of a file. */
export interface Literal {
  readonly text: string;
}

/** A cell to write: a text, a number, or a literal of a file. */
export type WrittenCell = string | number | Literal;

/** Whether a cell is a literal. */
export const isLiteral = (cell: WrittenCell | undefined): cell is Literal =>
  typeof cell === "object";

const NUMBER = /^([+-]?)0*(\d*)(?:\.(\d*))?(e[+-]?\d+)?$/i;

/** Whether a text is true or false. */
export const isTruth = (text: string): boolean => text === "true" || text === "false";

/** A literal in JSON syntax, which does not allow +5, .5, 5. and 007, with all its digits. */
export function jsonLiteral({ text }: Literal): string {
  if (isTruth(text)) return text;
  const [, sign, whole, fraction, exponent = ""] = NUMBER.exec(text) ?? [];
  if (whole === undefined) return JSON.stringify(text);
  return `${sign === "-" ? "-" : ""}${whole || "0"}${fraction ? `.${fraction}` : ""}${exponent}`;
}

/**
 * The value of a decimal number: its digits from the first to the last nonzero one, and the power
 * of ten.
 */
function decimal(text: string): string {
  const [, sign, whole = "", fraction = "", exponent = "e0"] = NUMBER.exec(text) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  const kept = digits.replace(/0+$/, "");
  if (kept === "") return "0";
  const power = Number(exponent.slice(1)) - fraction.length + digits.length - kept.length;
  return `${sign === "-" ? "-" : ""}${kept}e${power}`;
}

/**
 * Whether a float64 represents a number without loss: its shortest decimal form equals the number
 * of the text.
 */
export const isKeptByFloat64 = (text: string): boolean =>
  numberOf(text) !== undefined && decimal(String(Number(text))) === decimal(text);

/** A cell of a column of literals: a text becomes the literal that it represents. */
export const literalOf = (cell: WrittenCell): WrittenCell =>
  typeof cell === "string" && (isTruth(cell) || numberOf(cell) !== undefined)
    ? { text: cell }
    : cell;

/** A 64-bit integer, or undefined. */
export function integer64(text: string): bigint | undefined {
  if (!/^[+-]?\d{1,40}$/.test(text)) return undefined;
  const value = BigInt(text.replace("+", ""));
  return BigInt.asIntN(64, value) === value ? value : undefined;
}
