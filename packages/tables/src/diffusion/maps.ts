/**
 * The maps of a table's domains, chosen by what they gain (the paper's adaptive selection of transformations). A domain may
 * be reached by several φ: parts of a whole by three, numbers above a bound by two, and any coordinates may be bent first
 * (diffeo/domain, `bent`). Densities in y can be compared whatever φ is, so short fits of each are, by rows that none of them
 * saw:
 *
 *   gain = mean over rows of log q(y | this φ) − log q(y | the φ so far)
 *
 * One question at a time is asked of all columns that it concerns, and another answer than the usual one is taken where its
 * gain is more than twice its standard error.
 */
import {
  type Bend,
  bent,
  type Domain,
  domainOf,
  LEAST_HEIGHT,
  product,
  SPLINE_BOUND,
  simplexMaps,
} from "diffeo/domain";
import { constant, erfc, mul, reference } from "diffeo/graph";
import { quantiles } from "diffeo/host";
import { fold, key as keyOf, permutation } from "diffeo/random";
import { type FitTableOptions, fitTable, pointsOf, type Row } from "./fit.ts";
import { scoreTable } from "./likelihood.ts";

type Columns = FitTableOptions["columns"];

/** One map that was tried in place of another. */
export interface TriedMap {
  /** What it was: "stickBreaking for sand, silt, clay". */
  readonly map: string;
  /** Nats a row, and their standard error. */
  readonly gain: number;
  readonly error: number;
  readonly kept: boolean;
}

export interface ChosenMaps {
  readonly columns: Columns;
  readonly tried: readonly TriedMap[];
}

/** A bend's distance from the middle, in standard deviations, up to which it is nearly linear. */
const TAIL = 3;
const BINS = 12;

/** Φ of the knots of a spline. */
const shares = (): number[] => {
  const knots = Array.from({ length: BINS + 1 }, (_, k) => SPLINE_BOUND * ((2 * k) / BINS - 1));
  const tails = constant(
    knots.map((x) => -x * Math.SQRT1_2),
    "float64",
  );
  return Array.from(reference([mul(erfc(tails), 0.5)], new Map())[0]);
};

function sinhBend(columns: readonly Float64Array[]): Bend {
  const moments = columns.map((values) => {
    const mean = values.reduce((sum, v) => sum + v, 0) / values.length;
    return [mean, Math.sqrt(values.reduce((sum, v) => sum + (v - mean) ** 2, 0) / values.length)] as const;
  });
  return { kind: "sinh", centre: moments.map(([mean]) => mean), scale: moments.map(([, sd]) => TAIL * sd) };
}

function splineBend(columns: readonly Float64Array[]): Bend {
  const at = shares();
  const fitted = columns.map((values) => {
    const knots = quantiles(values, at);
    const [low, high] = [knots[0], knots[BINS]];
    // Values that many rows share leave bins without height.
    const raw = knots.slice(1).map((knot, k) => Math.max((knot - knots[k]) / (high - low), 2 * LEAST_HEIGHT));
    const total = raw.reduce((sum, height) => sum + height, 0);
    const heights = raw.map((height) => height / total);
    // Between neighbours, the geometric mean of their slopes.
    return { low, high, heights, slopes: heights.slice(1).map((height, k) => BINS * Math.sqrt(height * heights[k])) };
  });
  return {
    kind: "spline",
    low: fitted.map(({ low }) => low),
    high: fitted.map(({ high }) => high),
    heights: fitted.map(({ heights }) => heights),
    slopes: fitted.map(({ slopes }) => slopes),
  };
}

const bends = { sinh: sinhBend, spline: splineBend } as const;

/** The bend of a kind for a domain's coordinates z [rows, n], NaN where they are missing. */
export function bendOf(kind: Bend["kind"], z: Float64Array, n: number): Bend {
  const columns = Array.from({ length: n }, (_, j) => z.filter((v, i) => i % n === j && !Number.isNaN(v)));
  return bends[kind](columns);
}

/** Whether a bend is worth asking about: a category has no tails, and exact zeros are known by their domain's own spec. */
const isBendable = ({ spec }: Domain): boolean =>
  spec !== undefined && spec.kind !== "category" && spec.kind !== "bent" && !(spec.kind === "simplex" && spec.zeros);

function bentColumns(kind: Bend["kind"], rows: readonly Row[], columns: Columns, seed: number): Columns {
  const whole = product(columns);
  const z = pointsOf(rows, whole, seed);
  const n = whole.dimension;
  return Object.fromEntries(
    whole.parts.map(({ name, domain, at }) => {
      if (!isBendable(domain)) return [name, domain];
      const own = z.filter((_, i) => i % n >= at.x && i % n < at.x + domain.dimension);
      return [name, bent(domain, bendOf(kind, own, domain.dimension))];
    }),
  );
}

/** The columns with other maps, where a domain has them; undefined where none does. */
function mappedColumns(columns: Columns, isAsked: (domain: Domain) => boolean, map: string): Columns | undefined {
  const asked = Object.values(columns).filter((domain) => isAsked(domain) && mapOf(domain) !== map);
  if (asked.length === 0) return undefined;
  return Object.fromEntries(
    Object.entries(columns).map(([name, domain]) => [
      name,
      asked.includes(domain) ? domainOf({ ...domain.spec, map }) : domain,
    ]),
  );
}

/** The name of a domain's map, as it is where nothing is said. */
const mapOf = ({ spec }: Domain): string | undefined =>
  spec && "map" in spec && spec.map !== undefined
    ? spec.map
    : spec?.kind === "positive"
      ? "exp"
      : spec && hasShares(spec)
        ? "additiveLogistic"
        : undefined;

const hasShares = (spec: NonNullable<Domain["spec"]>): boolean =>
  spec.kind === "simplex" || (spec.kind === "ordered" && spec.above !== undefined && spec.below !== undefined);

interface Candidate {
  readonly map: string;
  readonly columns: Columns;
}

type Question = (columns: Columns) => readonly Candidate[];

const isShares = ({ spec }: Domain): boolean => spec !== undefined && hasShares(spec);
const isPositive = ({ spec }: Domain): boolean => spec?.kind === "positive";

/** All questions about a table, in the order in which they are asked. */
const questionsOf = (rows: readonly Row[], seed: number): readonly Question[] => [
  (columns) =>
    simplexMaps.flatMap((map) => {
      const other = mappedColumns(columns, isShares, map);
      return other ? [{ map, columns: other }] : [];
    }),
  (columns) =>
    (["softplus", "exp"] as const).flatMap((map) => {
      const other = mappedColumns(columns, isPositive, map);
      return other ? [{ map, columns: other }] : [];
    }),
  (columns) =>
    Object.values(columns).some(isBendable)
      ? (["sinh", "spline"] as const).map((kind) => ({
          map: kind,
          columns: bentColumns(kind, rows, columns, seed),
        }))
      : [],
];

export interface ChooseMapsOptions extends Omit<FitTableOptions, "onProgress" | "store" | "minutes"> {
  /** Steps of each short fit. Default 1,500. */
  readonly steps?: number;
  /** Called as each map was tried. */
  readonly onTried?: (tried: TriedMap) => void;
}

const MOST_ROWS = 50_000;
const MOST_TEST = 1000;

/** The maps of a table's columns, by short fits. */
export async function chooseMaps(rows: readonly Row[], options: ChooseMapsOptions): Promise<ChosenMaps> {
  const { columns: usual, onTried, seed = 0, steps = 1500, ...rest } = options;
  const order = permutation(fold(keyOf("maps"), rows.length), rows.length).data.subarray(0, MOST_ROWS);
  const unseen = Math.min(MOST_TEST, Math.ceil(order.length / 5));
  const pick = (indices: ArrayLike<number>): Row[] => Array.from(indices, (i) => rows[i]);
  const [test, seen] = [pick(order.subarray(0, unseen)), pick(order.subarray(unseen))];
  const { threads, signal } = rest;
  const engine = { ...(threads !== undefined && { threads }), ...(signal && { signal }) };
  const logsOf = async (columns: Columns): Promise<Float64Array> =>
    scoreTable(await fitTable(seen, { ...rest, columns, seed, steps }), test, engine);
  const tried: TriedMap[] = [];
  let [best, logs] = [usual, undefined as Float64Array | undefined];
  for (const question of questionsOf(seen, seed)) {
    const candidates = question(best);
    if (candidates.length === 0) continue;
    logs ??= await logsOf(best);
    const before = logs;
    for (const { map, columns } of candidates) {
      const found = await logsOf(columns);
      const { gain, error } = gainOf(found, before);
      const kept = gain > 2 * error && mean(found) > mean(logs);
      if (kept) [best, logs] = [columns, found];
      tried.push({ map, gain, error, kept });
      onTried?.({ map, gain, error, kept });
    }
  }
  // Of several answers to one question that were better, the last that was kept is the best.
  return { columns: best, tried };
}

const mean = (values: ArrayLike<number>): number => Array.from(values).reduce((sum, v) => sum + v, 0) / values.length;

/** The mean of differences, and its standard error. */
function gainOf(logs: Float64Array, others: Float64Array): { readonly gain: number; readonly error: number } {
  const gaps = logs.map((v, i) => v - others[i]);
  const gain = mean(gaps);
  const variance = mean(gaps.map((g) => (g - gain) ** 2)) * (gaps.length / Math.max(1, gaps.length - 1));
  return { gain, error: Math.sqrt(variance / gaps.length) };
}
