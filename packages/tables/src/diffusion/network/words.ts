/**
 * Rows as words of labels and bins (`sites.ts`), and the network that gives the chances of what
 * is masked in them:
 *
 *   p(word) = Πⱼ p(siteⱼ | sites before it)
 *
 * It is absorbing diffusion, or autoregression in any order (E. Hoogeboom et al., ICLR 2022): one
 * network sees rows of which any cells are masked and gives all conditionals. What is given or
 * missing needs no network of its own, and likelihoods are sums of logarithms.
 *
 * The input of a site is a flag that it is known and the indicators of its label or bin. A number
 * also has its place v ∈ (0, 1) among the rows of training, as v, Φ⁻¹(v), ramps and waves of v, so
 * that near numbers have near inputs.
 */
import type { Product } from "diffeo/domain";
import { constant, type Tensor } from "diffeo/graph";
import { normalPoint } from "diffeo/host";
import { asConstants, networkOf } from "diffeo/model";
import {
  type Atoms,
  type Bins,
  binCount,
  codesOf,
  labelFinder,
  placeIn,
  pointIn,
  type Site,
  sitesOf,
} from "../encode/index.ts";
import type { Weights } from "./network.ts";

/** How rows are read as words, and where sites are in the arrays of a network. */
export interface Words {
  readonly sites: readonly Site[];
  /** The sites of each part, in their order. */
  readonly sitesOf: readonly (readonly number[])[];
  /** How many values each site has, where its logits begin, and where its input does. */
  readonly sizes: readonly number[];
  readonly logitAt: readonly number[];
  readonly inputAt: readonly number[];
  /** Numbers that the network takes, and logits that it gives. */
  readonly inputs: number;
  readonly outputs: number;
  /** The label of a code, for each site of labels. */
  readonly find: readonly (((z: Float64Array) => number) | undefined)[];
}

/** The bins of a table's numbers, by their coordinates in z as text: plain data of a model. */
export type TableBins = Readonly<Record<string, Bins>>;

const [RAMPS, WAVES] = [16, 6];
const PLACE_FEATURES = 2 + RAMPS + 2 * WAVES;

/** The coordinates of z that do not belong to labels: those that have bins. */
export const numberCoordinates = (domain: Product, atoms: Atoms): number[] =>
  domain.parts.flatMap((part) => {
    const { at, domain: own } = part;
    const from = codesOf(part, atoms)?.[0].length ?? 0;
    return Array.from({ length: own.dimension - from }, (_, i) => at.x + from + i);
  });

/** Where each of some lengths begins, and their sum. */
function laidOut(lengths: readonly number[]): { at: number[]; total: number } {
  let total = 0;
  const at = lengths.map((length) => {
    total += length;
    return total - length;
  });
  return { at, total };
}

/** The words of a table. */
export function wordsOf(domain: Product, atoms: Atoms, bins: TableBins): Words {
  const sites = sitesOf(domain, atoms, (i) => bins[i]);
  const sizes = sites.map((site) => (site.kind === "label" ? site.count : binCount(site.bins)));
  const logits = laidOut(sizes);
  const input = laidOut(
    sites.map(({ kind }, s) => 1 + sizes[s] + (kind === "number" ? PLACE_FEATURES : 0)),
  );
  return {
    sites,
    sitesOf: domain.parts.map((_, k) => sites.flatMap(({ part }, s) => (part === k ? [s] : []))),
    sizes,
    logitAt: logits.at,
    inputAt: input.at,
    inputs: input.total,
    outputs: logits.total,
    find: sites.map((site) => (site.kind === "label" ? labelFinder(site) : undefined)),
  };
}

/** What is known of the sites of rows. */
export interface WordRows {
  /** The label or bin of each site, [rows, sites]; −1 where it has none. */
  readonly values: Int32Array;
  /** The place of each number within its bin, [rows, sites]. */
  readonly within: Float64Array;
  /**
   * Where in its bin the middle of the interval of its value is, [rows, sites]. The network sees
   * this place only, since where in its interval a value was put is random.
   */
  readonly middle: Float64Array;
  /** The log-density of each row's numbers within their bins, [rows]. */
  readonly logDensity: Float64Array;
}

/** Points z [rows, n] as words; a part with NaN has no values. */
export function readWords({ sites, find }: Words, z: Float64Array, n: number): WordRows {
  const rows = z.length / n;
  const values = new Int32Array(rows * sites.length).fill(-1);
  const within = new Float64Array(rows * sites.length);
  const middle = new Float64Array(rows * sites.length);
  const logDensity = new Float64Array(rows);
  for (let i = 0; i < rows; i++) {
    const own = z.subarray(i * n, (i + 1) * n);
    const at = i * sites.length;
    sites.forEach((site, s) => {
      if (site.kind === "label") {
        const label = find[s];
        if (label && !Number.isNaN(own[site.from]))
          values[at + s] = label(own.subarray(site.from, site.to));
        return;
      }
      const { only } = site;
      if (Number.isNaN(own[site.at]) || (only && values[at + only.site] !== only.label)) return;
      const place = placeIn(site.bins, own[site.at]);
      values[at + s] = place.bin;
      within[at + s] = place.u;
      logDensity[i] += place.logDensity;
    });
  }
  const read = { values, within, middle, logDensity };
  sites.forEach((_, s) => {
    settleSite(sites, read, s);
  });
  return read;
}

/**
 * The site that is hidden while this one is sampled: the label of its number. That there is a
 * number implies the label, so both are learned wherever the part is masked.
 */
export const hiddenFrom = (site: Site): number | undefined =>
  site.kind === "number" ? site.only?.site : undefined;

/** Finds the middles of a site of rows. */
export function settleSite(
  sites: readonly Site[],
  { values, within, middle }: Omit<WordRows, "logDensity">,
  s: number,
): void {
  const site = sites[s];
  if (site.kind === "label") return;
  const places = Array.from(
    { length: values.length / sites.length },
    (_, i) => i * sites.length + s,
  );
  const there = places.filter((at) => values[at] >= 0);
  const z = Float64Array.from(there, (at) => pointIn(site.bins, values[at], within[at]));
  const settled = site.cells && z.length > 0 ? site.cells(z).middle : z;
  there.forEach((at, k) => {
    const { bin, u } = placeIn(site.bins, settled[k]);
    middle[at] = bin === values[at] ? u : within[at];
  });
}

/** Writes the z of a part of row i, all sites of which are known. */
export function writePoint(
  { sites, sitesOf: own }: Words,
  { values, within }: WordRows,
  i: number,
  part: number,
  z: Float64Array,
): void {
  for (const s of own[part]) {
    const [site, value] = [sites[s], values[i * sites.length + s]];
    if (site.kind === "label") {
      const width = site.to - site.from;
      z.set(site.codes.subarray(value * width, (value + 1) * width), site.from);
      continue;
    }
    // A number without a value may be anything: its label determines the cell.
    z[site.at] = value < 0 ? 0 : pointIn(site.bins, value, within[i * sites.length + s]);
  }
}

/** Writes the features of a place v among the rows of training. */
function writePlace(out: Float32Array, at: number, v: number): void {
  const inside = Math.min(Math.max(v, 1e-6), 1 - 1e-6);
  out[at] = 2 * v - 1;
  out[at + 1] = normalPoint(inside, 1 - inside);
  for (let k = 0; k < RAMPS; k++) out[at + 2 + k] = Math.min(Math.max(v * RAMPS - k, 0), 1);
  for (let k = 0; k < WAVES; k++) {
    const angle = Math.PI * v * 2 ** k;
    out[at + 2 + RAMPS + 2 * k] = Math.sin(angle);
    out[at + 3 + RAMPS + 2 * k] = Math.cos(angle);
  }
}

/**
 * Writes the input of the network for a row, of which the sites that `isKnown` says are shown;
 * `out` is all 0 before.
 */
export function writeInput(
  { sites, sizes, inputAt }: Words,
  { values, middle }: WordRows,
  i: number,
  isKnown: (site: number) => boolean,
  out: Float32Array,
): void {
  for (let s = 0; s < sites.length; s++) {
    const value = values[i * sites.length + s];
    if (value < 0 || !isKnown(s)) continue;
    const [at, size] = [inputAt[s], sizes[s]];
    out[at] = 1;
    out[at + 1 + value] = 1;
    if (sites[s].kind === "number")
      writePlace(out, at + 1 + size, (value + middle[i * sites.length + s]) / size);
  }
}

/** The network has no level of noise: what is known is part of its input. */
export const NO_LEVEL = constant(0);

/** Logits [rows, outputs] of inputs [rows, inputs]. */
export function logitsOf({ network, parameters }: Weights): (x: Tensor) => Tensor {
  const { apply } = networkOf(network);
  const p = asConstants(parameters);
  return (x) => apply(p, x, NO_LEVEL);
}
