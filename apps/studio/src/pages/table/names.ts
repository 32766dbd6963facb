/** Choices on the page of tables. */

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
