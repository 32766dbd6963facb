/**
 * The coordinates z of a table as labels and bins, which a network gives chances of: a row is then a
 * word, and its law a product of conditionals. A label is its own place among the labels of its
 * column. Any other coordinate is the bin that it falls into, between two quantiles of the rows of
 * training, and its place u ∈ (0, 1) within the bin, which is uniform. The outermost bins have
 * exponential tails, z = edge ± scale · E, so that every z has a density.
 *
 * Bins are some 64: with 512, in two digits, trees told synthetic rows from real ones better
 * (Magic: a score of .858 instead of .944), since what is learned of neighbouring bins is chance.
 */
import type { Product, ProductPart } from "diffeo/domain";
import { normalPoint } from "diffeo/host";
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

/** The sites of a table; `binsOf` has the bins of each coordinate that is no label's. */
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
    for (let i = from; i < at.x + own.dimension; i++)
      sites.push({ kind: "number", part: k, at: i, bins: binsOf(i), ...(only && { only }) });
  });
  return sites;
}

export const binCount = ({ edges }: Bins): number => edges.length + 1;

/** Bins of a coordinate without heavy cells at most, and rows of training in each at least. */
const [MOST_BINS, LEAST_IN_BIN] = [64, 16];

/** The mean of numbers, or a little where there is none above 0. */
function scaleOf(distances: Float64Array, range: number): number {
  const sum = distances.reduce((s, v) => s + v, 0);
  return sum > 0 ? sum / distances.length : 1e-3 * (range || 1);
}

/**
 * Intervals of z that stand for one value each, which half a bin of rows or more have: those of a
 * distribution function that is steep there.
 */
export function heavyCells({ domain }: ProductPart): readonly (readonly [number, number])[] {
  const spec = plainSpec(domain);
  const known = spec?.kind === "mixed" ? spec.other : spec;
  if (known?.kind !== "empirical" || known.step === undefined) return [];
  const { knots, shares, step } = known;
  const scoreOf = (share: number): number => normalPoint(share, 1 - share);
  return shares.slice(1).flatMap((share, k) => {
    const isOne = knots[k + 1] - knots[k] < 1.5 * step;
    const isHeavy = share - shares[k] >= 0.5 / MOST_BINS;
    return isOne && isHeavy ? [[scoreOf(shares[k]), scoreOf(share)] as const] : [];
  });
}

/**
 * Between quantiles of so many bins, but around heavy cells: these are bins of their own, and what
 * is left between two of them is no bin if it has less than half of the rows of one.
 */
function edgesOf(z: Float64Array, wanted: number, heavy: ReturnType<typeof heavyCells>): number[] {
  const quantiles = Array.from({ length: wanted - 1 }, (_, i) => {
    const at = Math.round(((i + 1) * z.length) / wanted);
    return (z[Math.max(0, at - 1)] + z[Math.min(z.length - 1, at)]) / 2;
  });
  const below = (edge: number): number => binOf(z, edge);
  const least = z.length / wanted / 2;
  const ends = [...new Set(heavy.flat())].sort((a, b) => a - b);
  const isFree = (edge: number): boolean =>
    !heavy.some(([from, to]) => edge > from && edge < to) &&
    !ends.some((end) => Math.abs(below(end) - below(edge)) < least);
  const inside = [...ends, ...quantiles.filter(isFree)].filter(
    (edge) => edge > z[0] && edge < z[z.length - 1],
  );
  return [...new Set(inside)].sort((a, b) => a - b);
}

/**
 * The bins of the values that a coordinate has in training, some of which may be NaN; values of
 * heavy cells have bins of their own.
 */
export function binsOfValues(
  values: Float64Array,
  heavy: ReturnType<typeof heavyCells> = [],
): Bins {
  const z = values.filter((v) => !Number.isNaN(v)).sort();
  const wanted = Math.max(2, Math.min(MOST_BINS, Math.floor(z.length / LEAST_IN_BIN)));
  const edges = edgesOf(z, wanted, heavy);
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

/** From z of a label to its place. */
export function labelFinder({ codes, count, from, to }: LabelSite) {
  const width = to - from;
  const nameOf = (z: Float64Array): string => Array.from(z, (v) => v.toPrecision(9)).join();
  const known = new Map(
    Array.from({ length: count }, (_, k) => [
      nameOf(codes.subarray(k * width, (k + 1) * width)),
      k,
    ]),
  );
  const nearest = (z: Float64Array): number => {
    let [best, least] = [0, Infinity];
    for (let k = 0; k < count; k++) {
      let d = 0;
      for (let i = 0; i < width; i++) d += (codes[k * width + i] - z[i]) ** 2;
      if (d < least) [best, least] = [k, d];
    }
    return best;
  };
  return (z: Float64Array): number => known.get(nameOf(z)) ?? nearest(z);
}
