/**
 * Rows filled by a network of masked cells where columns follow from others. The network knows the
 * columns that are learned. What is given of the others counts as follows:
 *
 *   label    country is given, town is not: town is drawn among the towns of the country,
 *            p(town | cells) restricted and normalised, which is exact.
 *   sum      end = start + duration is given and neither of the two: candidates of start are drawn,
 *            duration is end − start, and one candidate is chosen with the weight
 *            p(duration | start, cells). That is importance resampling, exact for many candidates.
 *
 * Both are filled before the other missing cells, which are then sampled given them.
 */
import type { Cell, Product } from "diffeo/domain";
import { fold, key as keyOf, sampleKeys, uniform } from "diffeo/random";
import {
  allowedLabels,
  encodeRows,
  mapRows,
  type OpenCell,
  openSums,
  type Related,
} from "../encode/index.ts";
import type { OpenedTable } from "../network/index.ts";
import type { DrawRows } from "./draw.ts";
import { masses } from "./masked-likelihood.ts";
import { type FillWordsOptions, filledWords } from "./words.ts";

type Options = Omit<DrawRows, "count">;

/** Candidates of each row whose sum is given. */
const CANDIDATES = 32;

/** The cells of each part of points of all columns, null where they are missing. */
function cellsByPart(
  { domain: { parts, size, dimension, map, decode } }: Related,
  z: Float64Array,
) {
  const y = mapRows(
    z.map((v) => (Number.isNaN(v) ? 0 : v)),
    dimension,
    map.forward,
  );
  return Array.from({ length: z.length / dimension }, (_, i) => {
    const cells = decode(y.subarray(i * size, (i + 1) * size));
    return parts.map(
      ({ at }): OpenCell => (Number.isNaN(z[i * dimension + at.x]) ? null : cells[at.cells]),
    );
  });
}

/** The numbers of the labels that each row may have, by part. */
function labelRules(related: Related, rows: readonly (readonly OpenCell[])[]) {
  const { parts } = related.domain;
  return rows.map((cells) => {
    const found = new Map<number, ReadonlySet<number>>();
    parts.forEach(({ domain: { spec } }, k) => {
      if (spec?.kind !== "category" || cells[k] !== null) return;
      const allowed = allowedLabels(related, k, cells);
      if (allowed && allowed.length > 0)
        found.set(k, new Set(allowed.map((label) => spec.labels.indexOf(label as never))));
    });
    return found;
  });
}

/** A row whose sum is given, and its parts that are not. */
interface OpenSum {
  readonly row: number;
  readonly total: number;
  readonly open: readonly number[];
  /** The sum of the parts that are known. */
  readonly known: number;
}

const rounded = (value: number): number => Number(value.toPrecision(12));

/** The place of a share u of weights; undefined where all are 0. */
function chosenPlace(logWeights: Float64Array, u: number): number | undefined {
  const most = logWeights.reduce((a, b) => Math.max(a, b), -Infinity);
  if (most === -Infinity) return undefined;
  const weights = logWeights.map((v) => Math.exp(v - most));
  let left = u * weights.reduce((a, b) => a + b, 0);
  const place = weights.findIndex((w) => {
    left -= w;
    return left < 0;
  });
  return place < 0 ? weights.lastIndexOf(1) : place;
}

/** Cells of a point of columns that are learned. */
const decodedCells = ({ map, size, decode, dimension }: Product, z: Float64Array): Cell[][] => {
  const y = mapRows(
    z.map((v) => (Number.isNaN(v) ? 0 : v)),
    dimension,
    map.forward,
  );
  return Array.from({ length: z.length / dimension }, (_, i) =>
    decode(y.subarray(i * size, (i + 1) * size)),
  );
};

/**
 * Candidates of the open parts of sums, all of which have the given total: their points, and the
 * logarithms of their weights.
 */
async function candidatesOf(
  model: OpenedTable,
  own: Float64Array,
  sums: readonly OpenSum[],
  options: FillWordsOptions,
) {
  const { domain, atoms = {} } = model;
  const n = domain.dimension;
  const rowOf = (j: number): OpenSum => sums[Math.floor(j / CANDIDATES)];
  const points = new Float64Array(sums.length * CANDIDATES * n);
  for (let j = 0; j < sums.length * CANDIDATES; j++)
    points.set(own.subarray(rowOf(j).row * n, (rowOf(j).row + 1) * n), j * n);
  const drawn = await filledWords(model, points, {
    ...options,
    stream: "candidates",
    numbers: Array.from(
      { length: sums.length * CANDIDATES },
      (_, j) => CANDIDATES * ((options.first ?? 0) + rowOf(j).row) + (j % CANDIDATES),
    ),
    isFilled: (j, part) => rowOf(j).open.slice(0, -1).includes(part),
    labelsOf: undefined,
  });
  const weights = new Float64Array(sums.length * CANDIDATES).fill(-Infinity);
  const byLast = new Map<number, number[]>();
  const cells = decodedCells(domain, drawn).map((row, j): OpenCell[] => {
    const { total, open, known } = rowOf(j);
    const last = open[open.length - 1];
    const value = rounded(
      open
        .slice(0, -1)
        .reduce((rest, k) => rest - Number(row[domain.parts[k].at.cells]), total - known),
    );
    const out: OpenCell[] = Array<OpenCell>(domain.cells).fill(null);
    if (domain.parts[last].domain.fault([value]) !== undefined) return out;
    out[domain.parts[last].at.cells] = value;
    byLast.set(last, [...(byLast.get(last) ?? []), j]);
    return out;
  });
  const middle = new Float64Array(cells.length * domain.noise).fill(0.5);
  const lasts = encodeRows(cells, domain, middle, atoms);
  for (const [part, some] of byLast) {
    const { at, domain: one } = domain.parts[part];
    const z = new Float64Array(some.length * n);
    some.forEach((j, k) => {
      drawn.set(lasts.subarray(j * n + at.x, j * n + at.x + one.dimension), j * n + at.x);
      z.set(drawn.subarray(j * n, (j + 1) * n), k * n);
    });
    const found = await masses(
      model,
      z,
      some.map((j) => cells[j]),
      { signal: options.signal, part },
    );
    some.forEach((j, k) => {
      weights[j] = found[k];
    });
  }
  return { drawn, weights };
}

/** Writes the open parts of given sums. */
async function fillSums(
  model: OpenedTable,
  own: Float64Array,
  sums: readonly OpenSum[],
  options: FillWordsOptions,
): Promise<void> {
  if (sums.length === 0) return;
  const n = model.domain.dimension;
  const { drawn, weights } = await candidatesOf(model, own, sums, options);
  const { seed = 0, first = 0 } = options;
  const keys = sampleKeys(fold(keyOf(seed), "chosen candidates"), own.length / n, first);
  const u = uniform(keys, 1, { dtype: "float64" }).data;
  sums.forEach(({ row, open }, i) => {
    const from = i * CANDIDATES;
    const place = chosenPlace(weights.subarray(from, from + CANDIDATES), u[row]);
    // No candidate fits: the parts are sampled as if the sum were unknown, and made to fit later.
    if (place === undefined) return;
    for (const k of open) {
      const { at, domain: one } = model.domain.parts[k];
      const source = (from + place) * n + at.x;
      own.set(drawn.subarray(source, source + one.dimension), row * n + at.x);
    }
  });
}

/** Fills the missing parts, NaN, of points z of all columns. */
export async function filledByRules(
  model: OpenedTable,
  z: Float64Array,
  options: Options,
): Promise<Float64Array> {
  const { related } = model;
  if (!related) return filledWords(model, z, options);
  const [n, wide] = [model.domain.dimension, related.domain.dimension];
  const count = z.length / wide;
  let own: Float64Array = new Float64Array(count * n);
  for (let i = 0; i < count; i++) own.set(z.subarray(i * wide, i * wide + n), i * n);
  const cells = cellsByPart(related, z);
  const labels = labelRules(related, cells);
  if (labels.some(({ size }) => size > 0))
    own = await filledWords(model, own, {
      ...options,
      isFilled: (i, part) => labels[i].has(part),
      labelsOf: (i, part) => labels[i].get(part),
      stream: "labels of rules",
    });
  const sums = cells.flatMap((row, i) => openSums(related, row).map((one) => ({ row: i, ...one })));
  await fillSums(model, own, sums, options);
  const filled = await filledWords(model, own, options);
  const out = z.map((v) => (Number.isNaN(v) ? 0 : v));
  for (let i = 0; i < count; i++) out.set(filled.subarray(i * n, (i + 1) * n), i * wide);
  return out;
}
