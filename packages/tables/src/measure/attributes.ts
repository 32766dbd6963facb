/**
 * Attribute inference by nearest neighbours: an attacker who knows all columns of a row except one
 * finds the nearest sample in these columns, and guesses the cell of that sample. The distribution
 * of the table makes guesses right equally often for training rows and for new rows. If guesses are
 * right more often for training rows, the samples reveal them:
 *
 *   advantage = P(right | training row) − P(right | new row)
 *
 * A guess of a label is right if it is the same label. A guess of a number is right if at most
 * `NEAR` of the training rows lie between it and the true value.
 */
import type { Product, ProductPart } from "diffeo/domain";
import type { Features } from "./features.ts";
import { type Mean, meanOf } from "./mean.ts";
import type { Cells } from "./table-distribution.ts";

/** How often the cells of one column or group of columns are guessed right. */
interface AttributeGuesses {
  readonly columns: readonly string[];
  /** For training rows, and for new rows. */
  readonly training: number;
  readonly fresh: number;
}

/** How often cells are guessed right from the other cells of their row and the nearest sample. */
export interface Attributes {
  /** The mean over columns, for training rows and for new rows. */
  readonly training: number;
  readonly fresh: number;
  /** The mean of the differences, with its standard error. */
  readonly advantage: Mean;
  /** All columns, those with the largest difference first. */
  readonly columns: readonly AttributeGuesses[];
}

/** Maximum number of guessed rows of each kind, and of samples. */
const MOST_ROWS = 300;
const MOST_SAMPLES = 2000;
/** The share of training rows that may lie between a right guess and the true number. */
const NEAR = 0.05;

type Right = (cells: Cells, guess: Cells) => boolean;

/** How many of the ascending numbers are below a value. */
function below(sorted: Float64Array, value: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Whether a guess of the cells of a part is right. */
function rightOf({ at, domain }: ProductPart, training: readonly Cells[]): Right {
  const places = Array.from({ length: domain.cells }, (_, j) => at.cells + j);
  const tests = places.map((j): Right => {
    if (typeof training[0][j] !== "number" || domain.spec?.kind === "category")
      return (cells, guess) => cells[j] === guess[j];
    const sorted = Float64Array.from(training, (row) => Number(row[j])).sort();
    const most = NEAR * sorted.length;
    return (cells, guess) => {
      const [a, b] = [Number(cells[j]), Number(guess[j])];
      return a === b || below(sorted, Math.max(a, b)) - below(sorted, Math.min(a, b)) <= most;
    };
  });
  return (cells, guess) => tests.every((isRight) => isRight(cells, guess));
}

/** For each row and part, the nearest sample in all other parts, [rows, parts]. */
function nearestWithout(
  rows: Float64Array,
  samples: Float64Array,
  widths: readonly number[],
): Int32Array {
  const n = widths.reduce((sum, width) => sum + width, 0);
  const count = rows.length / n;
  const found = new Int32Array(count * widths.length);
  const own = new Float64Array(widths.length);
  const best = new Float64Array(widths.length);
  for (let i = 0; i < count; i++) {
    best.fill(Number.POSITIVE_INFINITY);
    for (let s = 0; s < samples.length / n; s++) {
      let [total, at] = [0, 0];
      for (let k = 0; k < widths.length; k++) {
        let distance = 0;
        for (const end = at + widths[k]; at < end; at++)
          distance += (rows[i * n + at] - samples[s * n + at]) ** 2;
        own[k] = distance;
        total += distance;
      }
      for (let k = 0; k < widths.length; k++) {
        const others = total - own[k];
        if (others < best[k]) {
          best[k] = others;
          found[i * widths.length + k] = s;
        }
      }
    }
  }
  return found;
}

/**
 * Measures how often cells are guessed right from samples.
 *
 * @param domain - the domains of the columns
 * @param samples - rows of the model
 * @param fresh - rows that were not used in training
 * @param training - rows that were used in training
 * @param features - rows as vectors
 * @returns the rates; undefined if there is only one part, so that no other cells are known
 */
export function attributesOf(
  { parts }: Product,
  samples: readonly Cells[],
  fresh: readonly Cells[],
  training: readonly Cells[],
  { of, widths }: Features,
): Attributes | undefined {
  if (parts.length < 2) return undefined;
  const from = samples.slice(0, MOST_SAMPLES);
  const drawn = of(from).data as Float64Array;
  const tests = parts.map((part) => rightOf(part, training));
  /** Whether each part of each row is guessed right, as 1 or 0. */
  const guessed = (rows: readonly Cells[]): number[][] => {
    const nearest = nearestWithout(of(rows).data as Float64Array, drawn, widths);
    return rows.map((row, i) =>
      tests.map((isRight, k) => (isRight(row, from[nearest[i * parts.length + k]]) ? 1 : 0)),
    );
  };
  const [own, others] = [training, fresh].map((rows) => guessed(rows.slice(0, MOST_ROWS)));
  const shareOf = (all: readonly number[][], k: number): number =>
    all.reduce((sum, row) => sum + row[k], 0) / all.length;
  const rowMean = (row: readonly number[]): number =>
    row.reduce((sum, v) => sum + v, 0) / row.length;
  const [a, b] = [own, others].map((all) => meanOf(all.map(rowMean)));
  const columns = parts.map(
    (part, k): AttributeGuesses => ({
      columns: part.columns,
      training: shareOf(own, k),
      fresh: shareOf(others, k),
    }),
  );
  return {
    training: a.mean,
    fresh: b.mean,
    advantage: { mean: a.mean - b.mean, error: Math.hypot(a.error, b.error) },
    columns: columns.sort((p, q) => q.training - q.fresh - (p.training - p.fresh)),
  };
}
