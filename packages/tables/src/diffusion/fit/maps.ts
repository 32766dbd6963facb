/**
 * The maps of a table's domains, chosen by what they gain (the paper's adaptive selection of
 * transformations). A domain may be reached by several φ: parts of a whole by three, numbers above
 * a bound by two, and any coordinates may be bent first (diffeo/domain, `bent`), or taken through a
 * flow that is learned (`flow.ts`). Densities in y can be compared whatever φ is, so short fits of
 * each are, by rows that none of them saw:
 *
 *   gain = mean over rows of log q(y | this φ) − log q(y | the φ so far)
 *
 * Other domains of the same columns, of which some give labels to single numbers and some do not,
 * have densities that cannot be compared. They are tried first, and compared by the energy
 * score of sampled rows on rows that no fit saw (`distance.ts`).
 *
 * Each comparison concerns all columns of one kind, and another map than the usual one is taken
 * where its gain is more than twice its standard error.
 */
import {
  type Bend,
  type Domain,
  domainOf,
  type Product,
  product,
  simplexMaps,
} from "diffeo/domain";
import { mean } from "diffeo/host";
import { fold, key as keyOf, permutation } from "diffeo/random";
import { bentParts, cellsOf, isBendable, plainSpec, pointsOf, type Row } from "../encode/index.ts";
import { type FlowKind, flowKinds } from "../network/index.ts";
import { energyScores, rangesOf } from "./distance.ts";
import { fitTable } from "./fit.ts";
import type { FitTableOptions } from "./fit-table-options.ts";

type Columns = FitTableOptions["columns"];

/** One map that was tried in place of another. */
export interface TriedMap {
  /** What it was: "stickBreaking for sand, silt, clay". */
  readonly map: string;
  /** Nats per row, and their standard error; or what the energy score falls by. */
  readonly gain: number;
  readonly error: number;
  readonly kept: boolean;
  /** What the gain is in, where it is not nats. */
  readonly unit?: "energy score";
}

/** What determines φ: the columns' maps and bends, and a flow where there is one. */
interface Maps {
  readonly columns: Columns;
  readonly flow?: FlowKind;
}

/** The columns with the maps that gained, and what was tried. */
export interface ChosenMaps extends Maps {
  readonly tried: readonly TriedMap[];
}

function bentColumns(
  kind: Bend["kind"],
  rows: readonly Row[],
  columns: Columns,
  seed: number,
): Columns {
  const whole = product(columns);
  return bentParts(kind, whole, pointsOf(rows, whole, seed), isBendable);
}

/** The columns with other maps, where a domain has them; undefined where none does. */
function mappedColumns(
  columns: Columns,
  isAsked: (domain: Domain) => boolean,
  map: string,
): Columns | undefined {
  const asked = Object.values(columns).filter((domain) => isAsked(domain) && mapOf(domain) !== map);
  if (asked.length === 0) return undefined;
  return Object.fromEntries(
    Object.entries(columns).map(([name, domain]) => [
      name,
      asked.includes(domain) ? domainOf({ ...domain.spec, map }) : domain,
    ]),
  );
}

/** The name of a domain's map, by default. */
const mapOf = ({ spec }: Domain): string | undefined =>
  spec && "map" in spec && spec.map !== undefined
    ? spec.map
    : spec?.kind === "positive"
      ? "exp"
      : spec && hasShares(spec)
        ? "additiveLogistic"
        : undefined;

const hasShares = (spec: NonNullable<Domain["spec"]>): boolean =>
  spec.kind === "simplex" ||
  (spec.kind === "ordered" && spec.above !== undefined && spec.below !== undefined);

interface Candidate extends Maps {
  readonly map: string;
}

type Question = (columns: Columns) => readonly Candidate[];

const isShares = ({ spec }: Domain): boolean => spec !== undefined && hasShares(spec);
const isPositive = ({ spec }: Domain): boolean => spec?.kind === "positive";

/** All comparisons for a table, in their order. */
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
  (columns) =>
    numbersIn(product(columns)) > 1
      ? flowKinds.map((flow) => ({ map: `${flow} flow`, columns, flow }))
      : [],
];

/** Coordinates that are neither a label's nor an integer's, of which a flow needs two. */
const numbersIn = ({ parts }: Product): number =>
  parts.reduce((sum, { domain }) => {
    const codes = domain.codes?.[0].length ?? 0;
    return sum + (plainSpec(domain)?.kind === "integer" ? 0 : domain.dimension - codes);
  }, 0);

/** How maps of columns are tried by short fits. */
export interface ChooseMapsOptions
  extends Omit<FitTableOptions, "onProgress" | "store" | "minutes" | "flow"> {
  /** Steps of each short fit. Default 1,500. */
  readonly steps?: number;
  /** Other domains of the columns, by the name of what they are (`otherDomains`). Default none. */
  readonly others?: Readonly<Record<string, Columns>>;
  /** Called after each map was tried. */
  readonly onTried?: (tried: TriedMap) => void;
}

const MOST_ROWS = 50_000;
const MOST_TEST = 1000;

/** The rows that short fits see, and other rows that they are measured on. */
export function splitRows(rows: number): {
  readonly test: ArrayLike<number>;
  readonly seen: ArrayLike<number>;
} {
  const order = permutation(fold(keyOf("maps"), rows), rows).data.subarray(0, MOST_ROWS);
  const unseen = Math.min(MOST_TEST, Math.ceil(order.length / 5));
  return { test: order.subarray(0, unseen), seen: order.subarray(unseen) };
}

/** Rows that domains are compared by. */
const COMPARED = 1024;

/** The domains of columns that gained most by the energy score, and what was tried. */
async function chosenDomains(
  seen: readonly Row[],
  test: readonly Row[],
  { columns: usual, others = {}, onTried, ...fitting }: ChooseMapsOptions,
): Promise<{ readonly columns: Columns; readonly tried: readonly TriedMap[] }> {
  const names = Object.entries(others);
  if (names.length === 0) return { columns: usual, tried: [] };
  const { columns: all } = product(usual);
  const cellsIn = (rows: readonly Row[]) => rows.map((row, i) => cellsOf(row, all, i, "refused"));
  const [held, ranges] = [cellsIn(test), rangesOf(cellsIn(seen))];
  const nearnessOf = async (columns: Columns): Promise<Float64Array> => {
    const model = await fitTable(seen, { ...fitting, columns, given: false });
    const { seed, signal } = fitting;
    const { rows } = await model
      .sample({ count: COMPARED, seed, signal })
      .finally(() => model.dispose());
    return Float64Array.from(energyScores(held, rows, ranges), (score) => -score);
  };
  const first = await nearnessOf(usual);
  const tried: TriedMap[] = [];
  let [best, scores] = [usual, first];
  for (const [map, columns] of names) {
    const found = await nearnessOf(columns);
    const { gain, error } = gainOf(found, first);
    const kept = gain > 2 * error && mean(found) > mean(scores);
    if (kept) [best, scores] = [columns, found];
    const one: TriedMap = { map, gain, error, kept, unit: "energy score" };
    tried.push(one);
    onTried?.(one);
  }
  return { columns: best, tried };
}

/** The maps of a table's columns, by short fits. */
export async function chooseMaps(
  rows: readonly Row[],
  options: ChooseMapsOptions,
): Promise<ChosenMaps> {
  const { onTried, seed = 0, steps = 1500, columns: _, others: __, ...rest } = options;
  const apart = splitRows(rows.length);
  const pick = (indices: ArrayLike<number>): Row[] => Array.from(indices, (i) => rows[i]);
  const [test, seen] = [pick(apart.test), pick(apart.seen)];
  const { signal } = rest;
  const logsOf = async (maps: Maps): Promise<Float64Array> => {
    const model = await fitTable(seen, { ...rest, ...maps, given: false, seed, steps });
    return model.logLikelihood(test, signal && { signal }).finally(() => model.dispose());
  };
  const domains = await chosenDomains(seen, test, { ...options, seed, steps });
  const tried: TriedMap[] = [...domains.tried];
  let [best, logs]: [Maps, Float64Array | undefined] = [{ columns: domains.columns }, undefined];
  for (const question of questionsOf(seen, seed)) {
    const candidates = question(best.columns);
    if (candidates.length === 0) continue;
    logs ??= await logsOf(best);
    const before = logs;
    for (const { map, ...maps } of candidates) {
      const found = await logsOf(maps);
      const { gain, error } = gainOf(found, before);
      const kept = gain > 2 * error && mean(found) > mean(logs);
      if (kept) [best, logs] = [maps, found];
      tried.push({ map, gain, error, kept });
      onTried?.({ map, gain, error, kept });
    }
  }
  // Where several maps were better in one comparison, the last that was kept is the best.
  return { ...best, tried };
}

/** The mean of differences, and its standard error. */
export function gainOf(
  logs: Float64Array,
  others: Float64Array,
): { readonly gain: number; readonly error: number } {
  const gaps = logs.map((v, i) => v - others[i]);
  const gain = mean(gaps);
  const variance =
    mean(gaps.map((g) => (g - gain) ** 2)) * (gaps.length / Math.max(1, gaps.length - 1));
  return { gain, error: Math.sqrt(variance / gaps.length) };
}
