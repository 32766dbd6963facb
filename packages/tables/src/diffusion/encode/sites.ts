/**
 * The coordinates z of a table as labels and bins, which a network gives chances of: a row is then
 * a word, and its distribution a product of conditionals. A label is its own place among the labels
 * of its column. Any other coordinate is the bin that it falls into, between two quantiles of the
 * rows of training, and its place u ∈ (0, 1) within the bin, which is uniform. The outermost bins
 * have exponential tails, z = edge ± scale · E, so that every z has a density.
 *
 * Bins are some 64: with 512, in two digits, trees separated synthetic rows from real ones better
 * (Magic: a score of .858 instead of .944), since what is learned of neighbouring bins is chance.
 */

import { empirical, type Product, type ProductPart } from "diffeo/domain";
import { type Atoms, codesOf } from "./atoms.ts";
import { mapRows } from "./map-rows.ts";
import { plainSpec } from "./points.ts";

/** The bins of one coordinate, as plain data. */
export interface Bins {
  /** What is between neighbouring bins, increasing: one less than there are bins. */
  readonly edges: readonly number[];
  /** The scale of z in the first and in the last bin. */
  readonly tails: readonly [below: number, above: number];
}

/** A label of a part, as the place of its code among all. */
export interface LabelSite {
  readonly kind: "label";
  readonly part: number;
  readonly from: number;
  readonly to: number;
  /** z of each label, [labels, to − from]. */
  readonly codes: Float64Array;
  readonly count: number;
}

/** A coordinate of a part, as the bin that it falls into. */
interface NumberSite {
  readonly kind: "number";
  readonly part: number;
  readonly at: number;
  readonly bins: Bins;
  /** Whether the density within a bin is even: it is one value, or without end. */
  readonly isEven: readonly boolean[];
  /** Finds the intervals of z that stand for one value each. */
  readonly cells?: ReturnType<typeof cellFinder>;
  /** The label without which it has no value: "other" of a number with point masses. */
  readonly only?: { readonly site: number; readonly label: number };
}

/** What a network gives chances of, in the order of the coordinates. */
export type Site = LabelSite | NumberSite;

/** z of the labels of a part. */
function codesInZ(domain: Product, part: number, points: readonly (readonly number[])[]) {
  const { at } = domain.parts[part];
  const [size, n, width] = [domain.size, domain.dimension, points[0].length];
  const y = new Float64Array(points.length * size);
  points.forEach((point, k) => {
    y.set(domain.start, k * size);
    y.set(point, k * size + at.y);
  });
  const z = mapRows(y, size, domain.map.inverse);
  const codes = new Float64Array(points.length * width);
  points.forEach((_, k) => {
    codes.set(z.subarray(k * n + at.x, k * n + at.x + width), k * width);
  });
  return { codes, width };
}

/** Which bins are even: the outermost, and those of one value. */
function evenBins({ edges }: Bins, cells: ReturnType<typeof cellFinder>): boolean[] {
  const place = (share: number): Float64Array =>
    Float64Array.from(edges.slice(1), (to, k) => edges[k] + share * (to - edges[k]));
  const [first, last] =
    cells && edges.length > 1 ? [0.01, 0.99].map((v) => cells(place(v)).middle) : [];
  const inside = edges.slice(1).map((_, k) => first !== undefined && first[k] === last[k]);
  return [true, ...inside, true];
}

/** The sites of a table; `binsOf` has the bins of each coordinate that is not a label's. */
export function sitesOf(
  domain: Product,
  atoms: Atoms,
  binsOf: (coordinate: number) => Bins,
): Site[] {
  const sites: Site[] = [];
  domain.parts.forEach((part, k) => {
    const { at, domain: own } = part;
    const points = codesOf(part, atoms);
    let [from, only] = [at.x, undefined as NumberSite["only"]];
    if (points) {
      const { codes, width } = codesInZ(domain, k, points);
      from += width;
      if (plainSpec(own)?.kind === "mixed") only = { site: sites.length, label: points.length - 1 };
      sites.push({
        ...{ kind: "label", part: k, from: at.x, to: from },
        ...{ codes, count: points.length },
      });
    }
    const cells = cellFinder(part);
    for (let i = from; i < at.x + own.dimension; i++)
      sites.push({
        ...{ kind: "number", part: k, at: i, bins: binsOf(i), isEven: evenBins(binsOf(i), cells) },
        ...(cells && { cells }),
        ...(only && { only }),
      });
  });
  return sites;
}

export const binCount = ({ edges }: Bins): number => edges.length + 1;

/** Bins of a coordinate without heavy values at most, and rows of training in each at least. */
const [MOST_BINS, LEAST_IN_BIN] = [64, 16];

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

/** Where in its interval a value is that stands for its least, its middle, its greatest z. */
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
  const range = z[z.length - 1] - z[0];
  const [low, high] = [edges[0], edges[edges.length - 1]];
  return {
    edges,
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
  };
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

/** The bin of z, its place there, and the log-density of z given the bin. */
export function placeIn(bins: Bins, z: number): { bin: number; u: number; logDensity: number } {
  const { edges, tails } = bins;
  const bin = binOf(edges, z);
  if (bin > 0 && bin < edges.length) {
    const width = edges[bin] - edges[bin - 1];
    return { bin, u: (z - edges[bin - 1]) / width, logDensity: -Math.log(width) };
  }
  const isLow = bin === 0;
  const scale = tails[isLow ? 0 : 1];
  const d = (isLow ? edges[0] - z : z - edges[bin - 1]) / scale;
  const beyond = Math.exp(-d);
  return { bin, u: isLow ? beyond : 1 - beyond, logDensity: -d - Math.log(scale) };
}

/** The z of a place u ∈ (0, 1) in a bin. */
export function pointIn({ edges, tails }: Bins, bin: number, u: number): number {
  if (bin > 0 && bin < edges.length) return edges[bin - 1] + u * (edges[bin] - edges[bin - 1]);
  return bin === 0 ? edges[0] + tails[0] * Math.log(u) : edges[bin - 1] - tails[1] * Math.log1p(-u);
}

/** Slopes at most: a density is nowhere 0. */
const MOST_SLOPE = 0.999;

/**
 * The slope s of the density 1 + s (2u − 1) within a bin, by its logit and those of its neighbours:
 * at an end it is half-way between the two bins, but for bins that are even.
 */
export function slopeIn(
  { bins: { edges }, isEven }: Pick<NumberSite, "bins" | "isEven">,
  bin: number,
  logits: ArrayLike<number>,
  from: number,
): number {
  if (isEven[bin]) return 0;
  const own = 1 / (edges[bin] - edges[bin - 1]);
  const half = (k: number): number => {
    if (isEven[k]) return own;
    const other = Math.exp(Math.min(logits[from + k] - logits[from + bin], 80));
    return (own + other / (edges[k] - edges[k - 1])) / 2;
  };
  const [left, right] = [half(bin - 1), half(bin + 1)];
  return Math.min(Math.max((right - left) / (right + left), -MOST_SLOPE), MOST_SLOPE);
}

/** The place below which a share of a bin of slope s is: u (1 − s) + s u² is that share. */
export const placeOfShare = (share: number, s: number): number =>
  Math.abs(s) < 1e-6 ? share : (2 * share) / (1 - s + Math.sqrt((1 - s) ** 2 + 4 * s * share));
