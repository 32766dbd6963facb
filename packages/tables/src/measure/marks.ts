/**
 * Marks of cells for trees, in addition to their values: the number of decimals of a number, and
 * how often exactly the same cell occurs. These distinguish continuous numbers from rounded ones,
 * and reveal values between the multiples in the data, and point masses that a model spreads out.
 *
 *   decimals(15.57) = 2,  decimals(1200) = −2         times(c) = log #{cells of both sets that equal c}
 *
 * Both are functions of the union of the two sets, so they do not distinguish two sets of one
 * distribution.
 */
import type { Cell, Product } from "diffeo/domain";
import type { NdArray } from "diffeo/graph";
import type { Cells } from "./table-distribution.ts";

/** Maximum number of counted zeros at the end of an integer. */
const MOST_ZEROS = 6;

/** Decimals of a number, negative for an integer that ends with zeros. */
export function decimalsOf(value: number): number {
  if (!Number.isFinite(value) || value === 0) return 0;
  const [digits, exponent = "0"] = String(Math.abs(value)).split("e");
  const fraction = digits.split(".")[1] ?? "";
  const decimals = fraction.length - Number(exponent);
  if (decimals > 0 || !Number.isInteger(value)) return decimals;
  const zeros = /0*$/.exec(digits.replace(".", ""))?.[0].length ?? 0;
  return 0 - Math.min(MOST_ZEROS, zeros + Math.max(0, -decimals));
}

/** How often each cell of a column occurs. */
function timesOf(columns: readonly (readonly Cell[])[]): Map<Cell, number> {
  const times = new Map<Cell, number>();
  for (const cells of columns)
    for (const cell of cells) times.set(cell, (times.get(cell) ?? 0) + 1);
  return times;
}

/** The marks of the cells of two sets of rows, [rows, marks] each. */
export function cellMarks(
  { parts }: Product,
  sets: readonly [readonly Cells[], readonly Cells[]],
): readonly [NdArray, NdArray] {
  const places = parts.flatMap(({ domain, at }) =>
    domain.kind === "category" ? [] : Array.from({ length: domain.cells }, (_, j) => at.cells + j),
  );
  const size = 2 * places.length;
  const [a, b] = sets.map((rows) => new Float64Array(rows.length * size));
  places.forEach((place, k) => {
    const columns = sets.map((rows) => rows.map((row) => row[place]));
    const times = timesOf(columns);
    [a, b].forEach((out, set) => {
      columns[set].forEach((cell, i) => {
        out[i * size + 2 * k] = decimalsOf(Number(cell));
        out[i * size + 2 * k + 1] = Math.log(times.get(cell) ?? 1);
      });
    });
  });
  const array = (data: Float64Array, rows: number): NdArray => ({
    shape: [rows, size],
    dtype: "float64",
    data,
  });
  return [array(a, sets[0].length), array(b, sets[1].length)];
}
