/**
 * Whether the rows of a batch are independent: the result of f for row c must depend on row c
 * alone. A sum over all axes, including that of the rows, added to one number per row has the right
 * shape and mixes the rows, so shapes cannot show it. So some rows are moved, and the results of
 * the others must not change:
 *
 *   f(x)_c = f(x′)_c   wherever x_c = x′_c
 *
 * The same operations on the same number of rows and row c in its place: every number of it is the
 * same, and so are its bits. SLACK leaves room for a runtime that adds in the order in which
 * threads come; a mixture moves f by far more.
 *
 * Who asks computes f: chains by the graph that moves them, whatever its size; a likelihood or a
 * score of events by the evaluator, before there is a graph (`sde/independent-events.ts`).
 */
import { fail } from "../graph/index.ts";

const SLACK = 1e-10;

/**
 * Rows stay or move in turn; the last one never stays with the first, so that the two ends of a
 * batch are compared too.
 */
const turnOf = (c: number, count: number): number => (c > 0 && c === count - 1 ? 1 : c % 2);

/**
 * Rows of n numbers twice: those of the first turn as they are and the others elsewhere, by steps
 * that no shift or scale undoes; and the other way about.
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

/** Numbers by name, as many of each row. */
type Said = Readonly<Record<string, ArrayLike<number>>>;

/**
 * Refuses a function that mixes rows.
 * @param before what it says of the rows as they are
 * @param after what it says where others moved
 * @param row what a row is, of `count`
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
          `${name} mixes ${row}s: of ${row} ${at} it goes from ${numbers[i]} to ${then} ` +
            `where only other ${row}s move`,
          `reduce over the axes after the first, which is that of ${row}s: sum(x, -1), or ` +
            `sum(x, [1, 2]) of two axes; sum(x) and mean(x) run over all ${row}s`,
        );
    }
}
