/**
 * The bins of a coordinate z, between quantiles of the rows of training, and the density within
 * each. The place u ∈ (0, 1) of z in an inner bin is linear in z. An outermost bin is cut into
 * pieces that have equal shares of its rows, and u is linear within each; the outermost pieces have
 * exponential tails, z = end ± scale · E, so that every z has a density.
 *
 * Bins are some 64: with 512, in two digits, trees separated synthetic rows from real ones better
 * (Magic: a score of .858 instead of .944), since rows are too few to learn neighbouring bins.
 * Pieces of inner bins changed nothing there.
 */

import { empirical, type ProductPart } from "diffeo/domain";
import { mapRows } from "./map-rows.ts";
import { plainSpec } from "./points.ts";

/**
 * The bins of one coordinate, as plain data. Models from before outermost bins had pieces lack
 * `outer` and `shares`.
 */
export interface Bins {
  /** What is between neighbouring bins, increasing: one less than there are bins. */
  readonly edges: readonly number[];
  /**
   * What is between the pieces of the first and of the last bin, increasing. Default: one piece.
   */
  readonly outer?: readonly [first: readonly number[], last: readonly number[]];
  /** The scale of z in the first and in the last piece. */
  readonly tails: readonly [below: number, above: number];
  /** The share of rows in each bin. Default: in proportion to its width. */
  readonly shares?: readonly number[];
}

/** Whether numbers in a file are bins. */
export function areBins({ edges, outer = [[], []], shares }: Bins): boolean {
  const ends = [...outer[0], ...edges, ...outer[1]];
  return (
    ends.every((v, i) => i === 0 || v > ends[i - 1]) &&
    (!shares || shares.length === edges.length + 1)
  );
}

/**
 * Which bins have a uniform place: those of one value or of no row, and the outermost where shares
 * are not known.
 */
export function evenBins({ edges, shares }: Bins, cells: ReturnType<typeof cellFinder>): boolean[] {
  const place = (share: number): Float64Array =>
    Float64Array.from(edges.slice(1), (to, k) => edges[k] + share * (to - edges[k]));
  const [first, last] =
    cells && edges.length > 1 ? [0.01, 0.99].map((v) => cells(place(v)).middle) : [];
  const inside = edges.slice(1).map((_, k) => first !== undefined && first[k] === last[k]);
  return [!shares, ...inside, !shares].map((isEven, k) => isEven || shares?.[k] === 0);
}

export const binCount = ({ edges }: Bins): number => edges.length + 1;

/** Bins of a coordinate without heavy values at most, and rows of training in each at least. */
const [MOST_BINS, LEAST_IN_BIN] = [64, 16];

/** Pieces of an outermost bin at most, and rows of training in each at least. */
const [MOST_PIECES, LEAST_IN_PIECE] = [8, 16];

/** How far edges are apart at least: nearer ones differ by rounding. */
const LEAST_WIDTH = 1e-6;

/** The mean of numbers, or a little where there is none above 0. */
function scaleOf(distances: Float64Array, range: number): number {
  const sum = distances.reduce((s, v) => s + v, 0);
  return sum > 0 ? sum / distances.length : 1e-3 * (range || 1);
}

/** The interval of z that stands for a value, and its middle. */
interface Cells {
  readonly low: Float64Array;
  readonly middle: Float64Array;
  readonly high: Float64Array;
}

/** Where in the interval of a value its least, its middle and its greatest z are. */
const [LOW, MIDDLE, HIGH] = [1e-9, 0.5, 1 - 1e-9];

/**
 * The intervals that z of a coordinate are in: those of integers, or of values that are
 * recorded in steps. Undefined where every z is a value of its own.
 */
export function cellFinder({ domain }: ProductPart): ((z: Float64Array) => Cells) | undefined {
  const spec = plainSpec(domain);
  const own = spec?.kind === "mixed" ? empirical(spec.other) : domain;
  if (own.noise !== 1 || own.size !== 1 || own.cells !== 1) return undefined;
  return (z) => {
    const values = Array.from(mapRows(z, 1, own.map.forward), (y) => own.decode([y]));
    const at = (u: number): Float64Array =>
      mapRows(
        Float64Array.from(values, (cells) => own.encode(cells, [u])[0]),
        1,
        own.map.inverse,
      );
    return { low: at(LOW), middle: at(MIDDLE), high: at(HIGH) };
  };
}

interface Counted {
  readonly low: number;
  readonly high: number;
  count: number;
}

/** The different intervals of z in order, and how many z each has. */
function countedCells({ low, middle, high }: Cells): Counted[] {
  const found = new Map<number, Counted>();
  middle.forEach((key, i) => {
    const one = found.get(key);
    if (one) one.count++;
    else found.set(key, { low: low[i], high: high[i], count: 1 });
  });
  return [...found].sort(([a], [b]) => a - b).map(([, one]) => one);
}

/**
 * Between bins of about so many z: intervals of half as many or more are bins of their own, and
 * none is cut in two.
 */
function edgesOf(cells: readonly Counted[], size: number): number[] {
  const isHeavy = ({ low, high, count }: Counted): boolean => high > low && count >= size / 2;
  const edges: number[] = [];
  let inside = 0;
  cells.forEach((cell, k) => {
    const before = cells[k - 1];
    const [alone, wasAlone] = [isHeavy(cell), before !== undefined && isHeavy(before)];
    const isFull = inside >= size || inside + cell.count > 1.5 * size;
    if (!before) {
      // What is below it is not a bin of this value.
      if (alone) edges.push(cell.low);
    } else if (alone && wasAlone) edges.push(before.high, cell.low);
    else if (wasAlone) edges.push(before.high);
    else if (alone) edges.push(cell.low);
    else if (isFull) edges.push((before.high + cell.low) / 2);
    inside = alone || wasAlone || isFull ? 0 : inside;
    inside += cell.count;
    if (k === cells.length - 1 && alone) edges.push(cell.high);
  });
  return edges.filter((edge, i) => i === 0 || edge - edges[i - 1] > LEAST_WIDTH);
}

/**
 * The bins of the values that a coordinate has in training, some of which may be NaN; `cellsOf`
 * are the intervals that stand for one value each.
 */
export function binsOfValues(
  values: Float64Array,
  cellsOf: ReturnType<typeof cellFinder> = undefined,
): Bins {
  const z = values.filter((v) => !Number.isNaN(v)).sort();
  const wanted = Math.max(2, Math.min(MOST_BINS, Math.floor(z.length / LEAST_IN_BIN)));
  const cells = cellsOf?.(z) ?? { low: z, middle: z, high: z };
  const edges = edgesOf(countedCells(cells), z.length / wanted);
  if (edges.length === 0) edges.push((z[0] + z[z.length - 1]) / 2);
  const bins = Array.from(z, (v) => binOf(edges, v));
  const counts = new Float64Array(edges.length + 1);
  for (const bin of bins) counts[bin]++;
  const inBin = (bin: number): [Float64Array, Float64Array] => {
    const [from, to] = [bins.indexOf(bin), bins.lastIndexOf(bin) + 1];
    return [z.subarray(from, to), cells.middle.subarray(from, to)];
  };
  const outer = [piecesOf(...inBin(0)), piecesOf(...inBin(edges.length))] as const;
  const ends = [...outer[0], ...edges, ...outer[1]];
  const [low, high] = [ends[0], ends[ends.length - 1]];
  const range = z[z.length - 1] - z[0];
  return {
    edges,
    outer,
    tails: [
      scaleOf(
        z.filter((v) => v < low).map((v) => low - v),
        range,
      ),
      scaleOf(
        z.filter((v) => v >= high).map((v) => v - high),
        range,
      ),
    ],
    shares: Array.from(counts, (count) => count / z.length),
  };
}

/**
 * What is between the pieces of a bin, of its z in rising order; `values` are what they stand for.
 * A bin of one value is one piece, and so is one whose pieces would be too narrow.
 */
function piecesOf(z: Float64Array, values: Float64Array): readonly number[] {
  const isOne = z.length === 0 || values[0] === values[z.length - 1];
  const most = isOne ? 1 : Math.min(MOST_PIECES, Math.floor(z.length / LEAST_IN_PIECE));
  for (let pieces = most; pieces > 1; pieces >>= 1) {
    const ends = Array.from({ length: pieces - 1 }, (_, k) => {
      const at = Math.round(((k + 1) * z.length) / pieces);
      return (z[at - 1] + z[at]) / 2;
    });
    const all = [z[0], ...ends, z[z.length - 1]];
    if (all.slice(1).every((v, k) => v - all[k] > LEAST_WIDTH)) return ends;
  }
  return [];
}

/** How many edges are at most z. */
function binOf(edges: ArrayLike<number>, z: number): number {
  let [low, high] = [0, edges.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (edges[middle] <= z) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A piece of a bin: its ends, its place among the pieces, and the scale of an outermost one. */
function pieceOf(
  { edges, tails, outer }: Bins,
  bin: number,
  place: (ends: readonly number[]) => number,
) {
  const own = (bin === 0 ? outer?.[0] : bin === edges.length ? outer?.[1] : undefined) ?? [];
  const k = place(own);
  const [from, to] = [own[k - 1] ?? edges[bin - 1], own[k] ?? edges[bin]];
  return { from, to, k, pieces: own.length + 1, scale: tails[from === undefined ? 0 : 1] };
}

/** The bin of z, its place there, and the log-density of z given the bin. */
export function placeIn(bins: Bins, z: number): { bin: number; u: number; logDensity: number } {
  const bin = binOf(bins.edges, z);
  const { from, to, k, pieces, scale } = pieceOf(bins, bin, (ends) => binOf(ends, z));
  const placed = (share: number, logDensity: number) => ({
    bin,
    u: (k + share) / pieces,
    logDensity: logDensity - Math.log(pieces),
  });
  if (from !== undefined && to !== undefined)
    return placed((z - from) / (to - from), -Math.log(to - from));
  const d = (from === undefined ? to - z : z - from) / scale;
  const beyond = Math.exp(-d);
  return placed(from === undefined ? beyond : 1 - beyond, -d - Math.log(scale));
}

/** The z of a place u ∈ (0, 1) in a bin. */
export function pointIn(bins: Bins, bin: number, u: number): number {
  const { from, to, k, pieces, scale } = pieceOf(bins, bin, (ends) =>
    Math.min(Math.floor(u * (ends.length + 1)), ends.length),
  );
  const share = u * pieces - k;
  if (from === undefined) return to + scale * Math.log(share);
  return to === undefined ? from - scale * Math.log1p(-share) : from + share * (to - from);
}

/** Slopes at most: a density is nowhere 0. */
const MOST_SLOPE = 0.999;

/**
 * The slope s of the density 1 + s (2u − 1) of the place within a bin, by its logit and those of
 * its neighbours. At an end the density is half-way between those of the two bins, each relative to
 * its share of the rows; bins that are even are not joined.
 */
export function slopeIn(
  { bins: { edges, shares }, isEven }: { readonly bins: Bins; readonly isEven: readonly boolean[] },
  bin: number,
  logits: ArrayLike<number>,
  from: number,
): number {
  if (isEven[bin]) return 0;
  const size = (k: number): number => shares?.[k] ?? edges[k] - edges[k - 1];
  const own = 1 / size(bin);
  const half = (k: number): number => {
    if (isEven[k] ?? true) return own;
    const other = Math.exp(Math.min(logits[from + k] - logits[from + bin], 80));
    return (own + other / size(k)) / 2;
  };
  const [left, right] = [half(bin - 1), half(bin + 1)];
  return Math.min(Math.max((right - left) / (right + left), -MOST_SLOPE), MOST_SLOPE);
}

/** The place below which a share of a bin of slope s is: u (1 − s) + s u² is that share. */
export const placeOfShare = (share: number, s: number): number =>
  Math.abs(s) < 1e-6 ? share : (2 * share) / (1 - s + Math.sqrt((1 - s) ** 2 + 4 * s * share));
