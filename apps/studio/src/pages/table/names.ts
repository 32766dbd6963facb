/** Choices on the page of tables, and settings in its address. */
import type { Given } from "./shapes.ts";

export const EXAMPLES = [
  { value: "soil", label: "Soil samples" },
  { value: "ferry", label: "Ferry crossings" },
  { value: "moons", label: "Two moons" },
] as const;

/** The length of a fit, in minutes or in steps. */
export const ENDS = [
  { value: "0.5", label: "½ min" },
  { value: "1", label: "1 min" },
  { value: "3", label: "3 min" },
  { value: "10", label: "10 min" },
  { value: "steps", label: "steps" },
] as const;

/** Kinds of one column, in the notation of the command's --column. */
export const KINDS = [
  "real",
  "positive",
  "above:0",
  "below:0",
  "between:0:1",
  "integer",
  "integer:1:6",
  "count",
  "mixed:0",
  "empirical",
  "date",
  "category",
  "angle",
  "angle:360",
  "drop",
] as const;

/** The rules in the address, one per line. */
export const linesOf = (text: string): string[] =>
  text.split("\n").filter((line) => line.trim() !== "");

/** The given cells in the address; undefined if they cannot be read. */
export function cellsIn(json: string): Given | undefined {
  try {
    const found: unknown = JSON.parse(json);
    const isCell = (cell: unknown): boolean => typeof cell === "string" || Number.isFinite(cell);
    return typeof found === "object" && found !== null && Object.values(found).every(isCell)
      ? (found as Given)
      : undefined;
  } catch {
    return undefined;
  }
}
