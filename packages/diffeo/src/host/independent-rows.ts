/**
 * Whether the rows of a batch are independent: the result of f for row c must depend on row c
 * alone. A sum over all axes, including that of the rows, added to one number per row has the right
 * shape and mixes the rows, so shapes do not reveal it. Therefore some rows are moved, and the
 * results of the others must not change:
 *
 *   f(x)_c = f(x′)_c   wherever x_c = x′_c
 *
 * With the same operations, number of rows and position of row c, all its numbers are equal bit for
 * bit. SLACK allows for runtimes that add in the order of threads; a mixture changes f by far more.
 *
 * The caller computes f: chains by their graph of any size; likelihoods and scores of events by the
 * evaluator, before graphs are compiled (`sde/independent-events.ts`).
 */
import { fail } from "../graph/index.ts";

const SLACK = 1e-10;

/**
 * Every second row is moved; the last row is never treated like the first, so that both ends of a
 * batch are compared.
 */
const turnOf = (c: number, count: number): number => (c > 0 && c === count - 1 ? 1 : c % 2);

/**
 * Two copies of rows of n numbers: one with every second row moved, by steps that no shift or scale
 * removes, and one with the other rows moved.
 */
export const moveOtherRows = (
  rows: Float64Array,
  n: number,
): readonly [Float64Array, Float64Array] => {
  const keeping = (turn: number): Float64Array =>
    rows.map((v, i) =>
      turnOf(Math.floor(i / n), rows.length / n) === turn ? v : v + 0.25 * Math.cos(1 + i),
    );
  return [keeping(0), keeping(1)];
};

const same = (a: number, b: number): boolean =>
  a === b ||
  (Number.isNaN(a) && Number.isNaN(b)) ||
  Math.abs(a - b) <= SLACK * Math.max(1, Math.abs(a));

/** Numbers by name, equally many per row. */
type Said = Readonly<Record<string, ArrayLike<number>>>;

/**
 * Throws if a function mixes rows.
 * @param before its values for the original rows
 * @param after its values with other rows moved
 * @param row the name of a row in errors
 */
export function requireIndependentRows(
  before: Said,
  after: readonly [Said, Said],
  count: number,
  row: "chain" | "draw" | "event",
): void {
  for (const [name, numbers] of Object.entries(before))
    for (let i = 0; i < numbers.length; i++) {
      const at = Math.floor(i / (numbers.length / count));
      const then = after[turnOf(at, count)][name][i];
      if (!same(numbers[i], then))
        fail(
          "shape",
          `${name} mixes ${row}s: for ${row} ${at} it changes from ${numbers[i]} to ${then} ` +
            `if only other ${row}s change`,
          `reduce over the axes after the first, which is that of ${row}s: sum(x, -1), or ` +
            `sum(x, [1, 2]) for two axes; sum(x) and mean(x) reduce over all ${row}s`,
        );
    }
}
