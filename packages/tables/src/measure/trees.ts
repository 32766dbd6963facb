/**
 * Boosted trees for two classes (J. Friedman, 2001): scores F = F₀ + η Σ trees, each tree a Newton
 * step on the logistic loss,
 *
 *   gain of a split = ½(G_L²/(H_L + λ) + G_R²/(H_R + λ) − G²/(H + λ))
 *   leaf = G/(H + λ)      G = Σ(y − p), H = Σp(1 − p)
 *
 * Features are divided into bins: between all values if there are few, otherwise at quantiles, so
 * that a level of a tree costs one pass over the rows. A fifth of the rows is not used for the
 * trees; it determines how many trees are kept.
 */

export interface TreeOptions {
  /** Default at most 150 trees of depth 4, rate η = 0.1. */
  readonly trees?: number;
  readonly depth?: number;
  readonly rate?: number;
}

type Tree = Branch | number;

interface Branch {
  readonly feature: number;
  readonly threshold: number;
  readonly below: Tree;
  readonly above: Tree;
}

const BINS = 64;
const LAMBDA = 1;
/** The minimum weight of a leaf, in values of p(1 − p). */
const LEAST = 3;

/** Rows of `size` features, row-major. */
interface Rows {
  readonly data: Float64Array;
  readonly size: number;
}

/** Distinct thresholds between the bins of each feature, at quantiles of its values. */
function thresholdsOf({ data, size }: Rows): Float64Array[] {
  const count = data.length / size;
  return Array.from({ length: size }, (_, j) => {
    const sorted = Float64Array.from({ length: count }, (_, i) => data[i * size + j]).sort();
    const distinct = sorted.filter((v, i) => i === 0 || v !== sorted[i - 1]);
    if (distinct.length <= BINS) return distinct.slice(1);
    const cuts = Array.from(
      { length: BINS - 1 },
      (_, b) => sorted[Math.floor(((b + 1) * count) / BINS)],
    );
    return Float64Array.from(new Set(cuts));
  });
}

/** The bin of each value: the number of thresholds that are not above it. */
function binned({ data, size }: Rows, thresholds: readonly Float64Array[]): Uint8Array {
  return Uint8Array.from(data, (v, at) => {
    const cuts = thresholds[at % size];
    let [low, high] = [0, cuts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (cuts[middle] <= v) low = middle + 1;
      else high = middle;
    }
    return low;
  });
}

interface Split {
  readonly feature: number;
  readonly bin: number;
  readonly gain: number;
}

interface Growing {
  readonly bins: Uint8Array;
  readonly size: number;
  readonly thresholds: readonly Float64Array[];
  readonly gradient: Float64Array;
  readonly hessian: Float64Array;
}

/** The split of rows with the largest gain. */
function bestSplit(
  { bins, size, thresholds, gradient, hessian }: Growing,
  rows: Int32Array,
): Split | undefined {
  const [g, h] = [new Float64Array(size * BINS), new Float64Array(size * BINS)];
  for (const row of rows)
    for (let j = 0; j < size; j++) {
      const at = j * BINS + bins[row * size + j];
      g[at] += gradient[row];
      h[at] += hessian[row];
    }
  let best: Split | undefined;
  for (let j = 0; j < size; j++) {
    let [total, weight] = [0, 0];
    for (let b = 0; b < BINS; b++)
      [total, weight] = [total + g[j * BINS + b], weight + h[j * BINS + b]];
    let [left, leftWeight] = [0, 0];
    for (let b = 0; b < thresholds[j].length; b++) {
      [left, leftWeight] = [left + g[j * BINS + b], leftWeight + h[j * BINS + b]];
      const [right, rightWeight] = [total - left, weight - leftWeight];
      if (Math.min(leftWeight, rightWeight) < LEAST) continue;
      const gain =
        left ** 2 / (leftWeight + LAMBDA) +
        right ** 2 / (rightWeight + LAMBDA) -
        total ** 2 / (weight + LAMBDA);
      if (gain > (best?.gain ?? 1e-9)) best = { feature: j, bin: b, gain };
    }
  }
  return best;
}

function grown(growing: Growing, rows: Int32Array, depth: number): Tree {
  const { bins, size, thresholds, gradient, hessian } = growing;
  const split = depth > 0 ? bestSplit(growing, rows) : undefined;
  if (!split) {
    let [g, h] = [0, 0];
    for (const row of rows) [g, h] = [g + gradient[row], h + hessian[row]];
    return g / (h + LAMBDA);
  }
  const { feature, bin } = split;
  const isBelow = (row: number): boolean => bins[row * size + feature] <= bin;
  return {
    feature,
    threshold: thresholds[feature][bin],
    below: grown(growing, rows.filter(isBelow), depth - 1),
    above: grown(
      growing,
      rows.filter((row) => !isBelow(row)),
      depth - 1,
    ),
  };
}

function leafOf(tree: Tree, data: Float64Array, from: number): number {
  let node = tree;
  while (typeof node !== "number")
    node = data[from + node.feature] < node.threshold ? node.below : node.above;
  return node;
}

/** One of this many rows is not used for the trees. */
const HELD = 5;
/** Number of consecutive trees without improvement before training stops. */
const PATIENCE = 12;

/** The mean logistic loss of scores of some rows. */
function lossOf(score: Float64Array, labels: Uint8Array, rows: Int32Array): number {
  let total = 0;
  for (const row of rows) {
    const s = labels[row] === 1 ? -score[row] : score[row];
    total += Math.max(s, 0) + Math.log1p(Math.exp(-Math.abs(s)));
  }
  return total / Math.max(1, rows.length);
}

/**
 * Learns to distinguish rows with label 1 from those with label 0.
 * @param start F₀ of the rows
 * @returns a function that gives the sum of the trees for other rows
 */
export function boostedTrees(
  rows: Rows,
  labels: Uint8Array,
  start: Float64Array,
  options: TreeOptions = {},
): (others: Float64Array) => Float64Array {
  const { trees = 150, depth = 4, rate = 0.1 } = options;
  const { size } = rows;
  const thresholds = thresholdsOf(rows);
  const bins = binned(rows, thresholds);
  const score = start.slice();
  const isHeld = (row: number): boolean => row % HELD === HELD - 1;
  const all = Int32Array.from(labels.keys());
  const [seen, held] = [all.filter((row) => !isHeld(row)), all.filter(isHeld)];
  const made: Tree[] = [];
  let [least, kept] = [lossOf(score, labels, held), 0];
  while (made.length < trees && made.length < kept + PATIENCE) {
    const p = score.map((s) => 1 / (1 + Math.exp(-s)));
    const gradient = p.map((v, i) => labels[i] - v);
    const hessian = p.map((v) => v * (1 - v));
    const tree = grown({ bins, size, thresholds, gradient, hessian }, seen, depth);
    made.push(tree);
    for (let i = 0; i < score.length; i++) score[i] += rate * leafOf(tree, rows.data, i * size);
    const loss = lossOf(score, labels, held);
    if (loss < least) [least, kept] = [loss, made.length];
  }
  made.length = kept;
  return (others) =>
    Float64Array.from({ length: others.length / size }, (_, i) =>
      made.reduce<number>((s, tree) => s + rate * leafOf(tree, others, i * size), 0),
    );
}
