/**
 * Integers without bias.
 *
 *   below(n):  the first word w of the element's blocks with w ≥ 2³² mod n, reduced mod n
 *
 * The accepted words are 2³² − (2³² mod n) consecutive numbers, a multiple of n, so every residue
 * is equally likely. Each element has its own blocks, (j, 0), (j, 1), …, so rejections do not
 * affect other elements.
 */
import { fail } from "../graph/error.ts";
import type { NdArray, Shape } from "../graph/ndarray.ts";
import { logValue } from "../graph/normal.ts";
import { planDraw, uniform } from "./draw.ts";
import { isIndex, type Key, type Keys, show } from "./key.ts";
import { threefry } from "./threefry.ts";

/** An `NdArray` of random 32-bit integers. */
export interface IntArray extends NdArray {
  readonly dtype: "int32";
  readonly data: Int32Array;
}

/** Options of `choice`. */
export interface ChoiceOptions {
  /** Whether an index may occur several times. Default true. */
  readonly replace?: boolean;
  /** The probability of each index, up to a common factor. Default: uniform. */
  readonly weights?: ArrayLike<number>;
}

/** Uniform integers of at least `low` and less than `high`; both are between −2³¹ and 2³¹. */
export function integers(
  source: Key | Keys,
  shape: number | Shape,
  low: number,
  high: number,
): IntArray {
  const bounded =
    Number.isInteger(low) && Number.isInteger(high) && low >= -0x80000000 && high <= 0x80000000;
  if (!bounded || low >= high)
    fail(
      "usage",
      `integers: low ${show(low)} and high ${show(high)} are not two integers from −2³¹ to ` +
        "2³¹, low below high",
      "give the least integer, and the greatest plus one",
    );
  const plan = planDraw(source, shape, "integers");
  const { keys, size } = plan;
  const data = new Int32Array(keys.count * size);
  const block = new Uint32Array(4);
  for (let row = 0; row < keys.count; row++)
    for (let j = 0; j < size; j++)
      data[row * size + j] = low + below(high - low, keys.words, 4 * row, j, block);
  return { shape: plan.shape, dtype: "int32", data };
}

/** A uniform random permutation of 0 … n − 1; with `Keys`, one per key. */
export const permutation = (source: Key | Keys, n: number): IntArray =>
  deal(source, n, n, "permutation");

/**
 * `count` random indices of 0 … n − 1; with `Keys`, one row per key. Without replacement and
 * weights they are the first of `permutation(source, n)`. Without replacement and with weights each
 * is chosen by the weights of the remaining ones.
 */
export function choice(
  source: Key | Keys,
  n: number,
  count: number,
  options: ChoiceOptions = {},
): IntArray {
  const { replace = true, weights } = options;
  if (!isIndex(n) || !isIndex(count) || n > 0x80000000 || (n === 0 && count > 0))
    fail(
      "usage",
      `choice: cannot choose ${show(count)} of ${show(n)} indices`,
      "give integers of at least 0, and n of at least 1",
    );
  if (weights === undefined)
    return replace ? integers(source, count, 0, Math.max(n, 1)) : deal(source, n, count, "choice");
  const total = checkedTotal(weights, n);
  return rows(source, count, "choice", (row) =>
    replace ? spin(row, weights, total, count) : race(row, weights, count),
  );
}

/** `count` integers per key; each row depends on its key alone. */
function rows(
  source: Key | Keys,
  count: number,
  operation: string,
  draw: (row: Keys) => Int32Array,
): IntArray {
  const { keys, shape } = planDraw(source, count, operation);
  const data = new Int32Array(keys.count * count);
  for (let row = 0; row < keys.count; row++)
    data.set(draw({ count: 1, words: keys.words.subarray(4 * row, 4 * row + 4) }), row * count);
  return { shape, dtype: "int32", data };
}

/** A uniform integer from 0 to `span` − 1, span ≤ 2³²: element j of the key at `keyAt`. */
function below(
  span: number,
  keys: Uint32Array,
  keyAt: number,
  j: number,
  block: Uint32Array,
): number {
  // In 32 bits a span of 2³² is 0, and nothing is rejected; −n is 2³² − n, which is congruent to
  // 2³² mod n.
  const n = span >>> 0;
  const reject = n === 0 ? 0 : (-n >>> 0) % n;
  for (let attempt = 0; ; attempt++) {
    threefry(block, 0, keys, keyAt, j, attempt, 0, 0, 1);
    for (let lane = 0; lane < 4; lane++)
      if (block[lane] >= reject) return n === 0 ? block[lane] : block[lane] % n;
  }
}

/** The first `count` cards of a shuffled deck of n: Fisher and Yates' shuffle, stopped early. */
function deal(source: Key | Keys, n: number, count: number, operation: string): IntArray {
  if (!isIndex(n) || n > 0x80000000 || count > n)
    fail(
      "usage",
      `${operation}: cannot take ${show(count)} of ${show(n)} indices without replacement`,
      "give a number of indices, and take at most that many",
    );
  const block = new Uint32Array(4);
  return rows(source, count, operation, ({ words }) => {
    const deck = Int32Array.from({ length: n }, (_, i) => i);
    for (let i = 0; i < count; i++) {
      const j = i + below(n - i, words, 0, i, block);
      const card = deck[j];
      deck[j] = deck[i];
      deck[i] = card;
    }
    return deck.subarray(0, count);
  });
}

/**
 * With replacement: the first index whose cumulative weight exceeds u times the total. An index of
 * weight 0 is never chosen, because its cumulative weight is that of its predecessor. If u·total
 * rounds up to the total, it is the last index of positive weight.
 */
function spin(source: Keys, weights: ArrayLike<number>, total: number, count: number): Int32Array {
  const cumulative = new Float64Array(weights.length);
  let last = 0;
  for (let i = 0, sum = 0; i < weights.length; i++) {
    cumulative[i] = sum += weights[i];
    if (weights[i] > 0) last = i;
  }
  const { data } = uniform(source, count, { dtype: "float64" });
  return Int32Array.from(data, (u) => {
    let first = 0;
    for (let end = last; first < end; ) {
      const middle = (first + end) >>> 1;
      if (cumulative[middle] > u * total) end = middle;
      else first = middle + 1;
    }
    return first;
  });
}

/**
 * Without replacement: the first `count` of a race in which runner i needs the time −ln(uᵢ)/wᵢ,
 * exponential of rate wᵢ. Runner i is first with probability wᵢ / Σw, and, because exponentials
 * have no memory, the same holds for the next among the rest.
 */
function race(source: Keys, weights: ArrayLike<number>, count: number): Int32Array {
  const { data } = uniform(source, weights.length, { dtype: "float64" });
  const time = data.map((u, i) => -logValue(u) / weights[i]);
  const runners = Array.from(data.keys()).filter((i) => weights[i] > 0);
  if (count > runners.length)
    fail(
      "usage",
      `choice: ${count} indices are requested without replacement, but ${runners.length} ` +
        "weights are above 0",
      "request fewer, give more indices a positive weight, or set replace to true",
    );
  return Int32Array.from(runners.sort((a, b) => time[a] - time[b] || a - b).slice(0, count));
}

function checkedTotal(weights: ArrayLike<number>, n: number): number {
  const remedy = "give one finite weight of at least 0 per index, and at least one above 0";
  if (weights.length !== n)
    fail("shape", `choice: ${weights.length} weights are given for ${n} indices`, remedy);
  let total = 0;
  for (let i = 0; i < n; i++) {
    if (!(weights[i] >= 0 && weights[i] < Infinity))
      fail("usage", `choice: weights[${i}] is ${weights[i]}`, remedy);
    total += weights[i];
  }
  if (!(total > 0 && total < Infinity))
    fail("usage", `choice: the weights sum to ${total}`, remedy);
  return total;
}
