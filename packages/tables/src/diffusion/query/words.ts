/**
 * Rows sampled, completed and scored by the network of words (`network/words.ts`): site after
 * site in the order of the columns, all rows at once. What is given stays as it is, and every
 * site sees it, whether it comes before or after. A value is drawn by the uniform number of its
 * row, so that rows do not depend on those next to them.
 */
import { compile } from "diffeo/engine";
import type { NdArray } from "diffeo/graph";
import { batches } from "diffeo/host";
import { fold, type Keys, key as keyOf, sampleKeys, uniform } from "diffeo/random";
import { placeOfShare, slopeIn } from "../encode/index.ts";
import {
  hiddenFrom,
  logitsOf,
  type OpenedTable,
  readWords,
  settleSite,
  type WordRows,
  type Words,
  writeInput,
  writePoint,
} from "../network/index.ts";

/** Rows that the network sees at once. */
const BATCH = 2000;

/** log Σ eˣ of some numbers. */
function logSum(x: ArrayLike<number>, from: number, to: number): number {
  let most = -Infinity;
  for (let i = from; i < to; i++) most = Math.max(most, x[i]);
  let total = 0;
  for (let i = from; i < to; i++) total += Math.exp(x[i] - most);
  return most + Math.log(total);
}

/** The value whose share of the distribution of logits contains u. */
function drawnValue(x: ArrayLike<number>, from: number, to: number, u: number): number {
  const all = logSum(x, from, to);
  let below = 0;
  for (let i = from; i < to - 1; i++) {
    below += Math.exp(x[i] - all);
    if (u < below) return i - from;
  }
  return to - 1 - from;
}

type Logits = (x: NdArray) => Promise<NdArray>;

/** Uses the logits of so many rows. */
const withLogits = <R>(
  model: OpenedTable,
  words: Words,
  rows: number,
  use: (logits: Logits) => Promise<R>,
): Promise<R> =>
  model.graphs.take(
    "words",
    rows,
    (engine) => compile(logitsOf(model), [[rows, words.inputs]], engine),
    (run) => use(async (x) => run(x)),
  );

/** What is done on a walk through the sites of rows. */
interface Walk {
  /** Whether a site of a row is known before the walk comes to it. */
  readonly isKnown: (row: number, site: number) => boolean;
  /** Whether its logits are wanted. */
  readonly isWanted: (row: number, site: number) => boolean;
  /** Receives them: where those of the site begin. */
  readonly visit: (row: number, site: number, logits: Float32Array, from: number) => void;
  /** Is called when all rows have been visited at a site. */
  readonly leave?: (site: number) => void;
}

/** Walks through the sites of rows, in order. */
async function walk(
  words: Words,
  rows: WordRows,
  logits: Logits,
  { isKnown, isWanted, visit, leave }: Walk,
  signal?: AbortSignal,
): Promise<void> {
  const { sites, logitAt, inputs, outputs } = words;
  const count = rows.logDensity.length;
  for (let s = 0; s < sites.length; s++) {
    signal?.throwIfAborted();
    const some = Array.from({ length: count }, (_, i) => i).filter((i) => isWanted(i, s));
    if (some.length === 0) continue;
    const hidden = hiddenFrom(sites[s]);
    const data = new Float32Array(count * inputs);
    for (const i of some)
      writeInput(
        words,
        rows,
        i,
        (other) => (other < s && other !== hidden) || isKnown(i, other),
        data.subarray(i * inputs, (i + 1) * inputs),
      );
    const found = await logits({ shape: [count, inputs], dtype: "float32", data });
    for (const i of some) visit(i, s, found.data as Float32Array, i * outputs + logitAt[s]);
    leave?.(s);
  }
}

/** How points are filled. */
export interface FillWordsOptions {
  readonly seed?: number;
  /** The number of the first point. */
  readonly first?: number;
  readonly signal?: AbortSignal;
  readonly onStep?: () => void;
  /** The missing parts of a row that are filled. Default: all. */
  readonly isFilled?: (row: number, part: number) => boolean;
  /** Which labels a row may have in a part, where rules allow only some. Default: all. */
  readonly labelsOf?: (row: number, part: number) => ReadonlySet<number> | undefined;
  /** The name of the stream of random numbers. */
  readonly stream?: string;
  /** The numbers of the points in it. Default: from `first` on. */
  readonly numbers?: ArrayLike<number>;
}

/** A key for each point, by its number: what is drawn does not depend on the points next to it. */
function keysOf(
  { seed = 0, stream = "words", first = 0, numbers }: FillWordsOptions,
  from: number,
  count: number,
): Keys {
  const parent = fold(keyOf(seed), stream);
  if (!numbers) return sampleKeys(parent, count, first + from);
  const words = new Uint32Array(4 * count);
  for (let i = 0; i < count; i++) words.set(sampleKeys(parent, 1, numbers[from + i]).words, 4 * i);
  return { count, words };
}

/** Logits of which only some values may be drawn. */
function restricted(
  logits: Float32Array,
  from: number,
  size: number,
  allowed: ReadonlySet<number>,
): Float32Array {
  const own = logits.slice(from, from + size);
  return own.map((v, k) => (allowed.has(k) ? v : -Infinity));
}

/** Fills the missing parts, NaN, of points z. */
export async function filledWords(
  model: OpenedTable,
  z: Float64Array,
  options: FillWordsOptions,
): Promise<Float64Array> {
  const { signal, onStep, isFilled = () => true, labelsOf = () => undefined } = options;
  const { domain } = model;
  const words = model.words();
  const { sites, sizes } = words;
  const n = domain.dimension;
  const out = z.slice();
  for (const [from, count] of batches(z.length / n, Math.min(z.length / n, BATCH))) {
    const points = out.subarray(from * n, (from + count) * n);
    const rows = readWords(words, points, n);
    const u = uniform(keysOf(options, from, count), 2 * sites.length, { dtype: "float64" }).data;
    const isOpen = domain.parts.map(({ at }) =>
      Uint8Array.from({ length: count }, (_, i) => (Number.isNaN(points[i * n + at.x]) ? 1 : 0)),
    );
    /** Whether a site has a value: a number has none where the label before it is a point mass. */
    const hasValue = (i: number, s: number): boolean => {
      const site = sites[s];
      const only = site.kind === "number" ? site.only : undefined;
      return !only || rows.values[i * sites.length + only.site] === only.label;
    };
    await withLogits(model, words, count, (logits) =>
      walk(
        words,
        rows,
        logits,
        {
          isKnown: (i, s) => !isOpen[sites[s].part][i],
          isWanted: (i, s) =>
            isOpen[sites[s].part][i] === 1 && isFilled(from + i, sites[s].part) && hasValue(i, s),
          visit: (i, s, found, begin) => {
            const at = i * sites.length + s;
            const site = sites[s];
            const allowed = site.kind === "label" ? labelsOf(from + i, site.part) : undefined;
            rows.values[at] = allowed
              ? drawnValue(restricted(found, begin, sizes[s], allowed), 0, sizes[s], u[2 * at])
              : drawnValue(found, begin, begin + sizes[s], u[2 * at]);
            const slope = site.kind === "number" ? slopeIn(site, rows.values[at], found, begin) : 0;
            rows.within[at] = placeOfShare(u[2 * at + 1], slope);
          },
          leave: (s) => {
            settleSite(sites, rows, s);
          },
        },
        signal,
      ),
    );
    onStep?.();
    for (let i = 0; i < count; i++)
      domain.parts.forEach((_, k) => {
        if (isOpen[k][i] && isFilled(from + i, k))
          writePoint(words, rows, i, k, points.subarray(i * n, (i + 1) * n));
      });
  }
  return out;
}

/** Points in which only one part has values. */
function onlyPart({ domain }: OpenedTable, z: Float64Array, part: number): Float64Array {
  const { at, domain: own } = domain.parts[part];
  const isOwn = (i: number): boolean => i >= at.x && i < at.x + own.dimension;
  return z.map((v, i) => (isOwn(i % domain.dimension) ? v : Number.NaN));
}

/**
 * log of the probability of all labels and bins of points z times the density of their numbers in
 * z; parts with NaN are left out. With `part`, of this part alone, given all the others.
 */
export async function wordLikelihood(
  model: OpenedTable,
  z: Float64Array,
  { signal, part }: { readonly signal?: AbortSignal; readonly part?: number } = {},
): Promise<Float64Array> {
  const n = model.domain.dimension;
  const words = model.words();
  const { sites, sizes } = words;
  const out = new Float64Array(z.length / n);
  for (const [from, count] of batches(out.length, Math.min(out.length, BATCH))) {
    const points = z.subarray(from * n, (from + count) * n);
    const rows = readWords(words, points, n);
    const measured = part === undefined ? rows : readWords(words, onlyPart(model, points, part), n);
    out.set(measured.logDensity, from);
    await withLogits(model, words, count, (logits) =>
      walk(
        words,
        rows,
        logits,
        {
          isKnown: (_, s) => part !== undefined && sites[s].part !== part,
          isWanted: (i, s) => measured.values[i * sites.length + s] >= 0,
          visit: (i, s, found, begin) => {
            const [site, at] = [sites[s], i * sites.length + s];
            const value = rows.values[at];
            if (site.kind === "number")
              out[from + i] += Math.log1p(
                slopeIn(site, value, found, begin) * (2 * rows.within[at] - 1),
              );
            out[from + i] += found[begin + value] - logSum(found, begin, begin + sizes[s]);
          },
        },
        signal,
      ),
    );
  }
  return out;
}
