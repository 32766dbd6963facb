/**
 * Rules that rows are evidence for. A rule is evident if it holds in all rows and would not by
 * chance, if columns were independent.
 */

import { quantiles } from "diffeo/host";
import { type CellTable, isEmpty } from "../../table/cells.ts";
import { columnAt } from "../kinds/index.ts";
import {
  combinationsOf,
  countsOf,
  FORBIDDEN,
  isSame,
  isThere,
  placesOf,
  presence,
  presenceByLabel,
  rounded,
  valuesByLabel,
} from "./relation-cells.ts";
import { columnsOfRelation, type Recognised, type Relation } from "./relations.ts";

/** Rows that a rule is found in, at least. */
const LEAST_ROWS = 20;

/** The chance at which rows break a rule if columns are independent, at least, and how often. */
const LEAST_BROKEN = 0.1;

const LEAST_EXPECTED = 20;

/**
 * Differences come near to 0: the smallest fiftieth is below this share of the median. Else the two
 * columns are only of different size.
 */
const NEAR_ZERO = 0.25;

/** Log of how unlikely a rule is by chance, and of all rules that were looked at. */
const UNLIKELY = Math.log(1e6);

const FORBIDDEN_SHARE = 0.05;

/** Combinations of a pair of labels, at most. */
const MOST_PAIRS = 200;

/** How often a value of a would be above one of b if they were independent. */
function brokenShare(a: Float64Array, b: Float64Array): number {
  const [low, high] = [a.filter(isThere).sort(), b.filter(isThere).sort()];
  let [sum, below] = [0, 0];
  for (const v of low) {
    while (below < high.length && high[below] < v) below++;
    sum += below;
  }
  return sum / low.length / high.length;
}

/** How evident it is that a ≤ b: the share of rows that would break it; 0 where it is not. */
function orderEvidence(a: Float64Array, b: Float64Array): number {
  const differences: number[] = [];
  for (let i = 0; i < a.length; i++) {
    const d = b[i] - a[i];
    if (d < 0) return 0;
    if (isThere(d)) differences.push(d);
  }
  const rows = differences.length;
  if (rows < LEAST_ROWS) return 0;
  const [least, median] = quantiles(differences, [0.02, 0.5]);
  if (!(median > 0) || least > NEAR_ZERO * median) return 0;
  const share = brokenShare(a, b);
  return share >= LEAST_BROKEN && share * rows >= LEAST_EXPECTED ? share : 0;
}

interface Found {
  readonly relation: Relation;
  /** The more evident come first. */
  readonly weight: number;
}

function orders(places: ReadonlyMap<string, Float64Array>, recognised: Recognised): Found[] {
  const isDate = (name: string): boolean => recognised.get(name)?.domain?.kind === "date";
  const all = [...places];
  return all.flatMap(([low, a]) =>
    all.flatMap(([high, b]) => {
      if (low === high || isDate(low) !== isDate(high)) return [];
      const weight = orderEvidence(a, b);
      const relation = { kind: "order", low, high } as const;
      return weight > 0 ? [{ relation, weight }] : [];
    }),
  );
}

/** Whether a total is the sum of parts in all rows that have them, where these say something. */
function isSum(total: Float64Array, parts: readonly Float64Array[]): boolean {
  const counts = parts.map(() => 0);
  const values = parts.map(() => new Set<number>());
  for (let i = 0; i < total.length; i++) {
    let sum = 0;
    for (const part of parts) sum += part[i];
    if (!isThere(sum) || !isThere(total[i])) continue;
    if (!isSame(sum, total[i])) return false;
    parts.forEach((part, k) => {
      if (part[i] === 0 && parts.length > 1) return;
      counts[k]++;
      values[k].add(part[i]);
    });
  }
  return counts.every((count) => count >= LEAST_ROWS) && values.every(({ size }) => size > 2);
}

/** Runs of neighbours that may be the parts of a sum, at most so long. */
const LONGEST_RUN = 12;

function sums(places: ReadonlyMap<string, Float64Array>): Found[] {
  const all = [...places];
  const rows = all[0]?.[1].length ?? 0;
  // A row in which no number is 0 or missing, as far as there is one: totals are looked up by it.
  const filled = (i: number): number => all.filter(([, v]) => isThere(v[i]) && v[i] !== 0).length;
  let row = 0;
  for (let i = 1; i < Math.min(rows, 200); i++) if (filled(i) > filled(row)) row = i;
  const byValue = new Map<number, number[]>();
  all.forEach(([, values], k) => {
    const key = rounded(values[row]);
    byValue.set(key, [...(byValue.get(key) ?? []), k]);
  });
  const found: Found[] = [];
  const tried = (parts: readonly number[]): void => {
    const sum = parts.reduce((s, k) => s + all[k][1][row], 0);
    for (const total of byValue.get(rounded(sum)) ?? []) {
      if (parts.includes(total) || (parts.length === 1 && total < parts[0])) continue;
      const own = parts.map((k) => all[k][1]);
      if (!isSum(all[total][1], own)) continue;
      const names = parts.map((k) => all[k][0]);
      found.push({
        relation: { kind: "sum", total: all[total][0], parts: names },
        weight: 2 + parts.length,
      });
    }
  };
  for (let a = 0; a < all.length; a++) {
    tried([a]);
    for (let b = a + 1; b < all.length; b++) tried([a, b]);
    for (let size = 3; size <= LONGEST_RUN && a + size <= all.length; size++)
      tried(Array.from({ length: size }, (_, i) => a + i));
  }
  return found;
}

/** Columns that go with a column of labels. */
function dependents(table: CellTable, recognised: Recognised, names: readonly string[]): Found[] {
  const cells = new Map(names.map((name) => [name, columnAt(table, name)]));
  const counts = new Map(names.map((name) => [name, countsOf(cells.get(name) ?? [])]));
  const looked = UNLIKELY + 2 * Math.log(names.length + 1);
  return names.flatMap((of) => {
    if (recognised.get(of)?.domain?.kind !== "category") return [];
    const labels = cells.get(of) ?? [];
    const found = names.flatMap((column): Found[] => {
      const own = counts.get(column) ?? new Map<string, number>();
      const isKnown = recognised.get(column)?.domain !== undefined;
      if (column === of || !isKnown || own.size > (counts.get(of)?.size ?? 0)) return [];
      const values = valuesByLabel(labels, cells.get(column) ?? []);
      if (!values || values.size < (counts.get(of)?.size ?? 0)) return [];
      const rows = [...own.values()].reduce((sum, v) => sum + v, 0);
      const agree = [...own.values()].reduce((sum, v) => sum + (v / rows) ** 2, 0);
      const repeats = rows - values.size;
      const isEvident = repeats >= rows / 2 && -repeats * Math.log(agree) >= looked;
      return isEvident ? [{ relation: { kind: "label", of, column }, weight: 10 }] : [];
    });
    // A column that many others go with comes first.
    return found.map((one) => ({ ...one, weight: one.weight + found.length }));
  });
}

function pairs(table: CellTable, recognised: Recognised, names: readonly string[]): Found[] {
  const labels = names.filter((name) => recognised.get(name)?.domain?.kind === "category");
  return labels.flatMap((a, i) =>
    labels.slice(i + 1).flatMap((b): Found[] => {
      const size = countsOf(columnAt(table, a)).size * countsOf(columnAt(table, b)).size;
      if (size > 4 * MOST_PAIRS) return [];
      const { all, rows } = combinationsOf(table, [a, b]);
      const forbidden = all.filter(({ isSeen, expected }) => !isSeen && expected >= FORBIDDEN);
      const share = forbidden.reduce((sum, { expected }) => sum + expected, 0) / Math.max(1, rows);
      return share >= FORBIDDEN_SHARE && all.length - forbidden.length <= MOST_PAIRS
        ? [{ relation: { kind: "pair", columns: [a, b] }, weight: share }]
        : [];
    }),
  );
}

/** Columns that rules of numbers are looked for among, at most: their pairs are all tried. */
const MOST_COLUMNS = 200;

/** Columns that are empty exactly where another has some labels. */
function conditions(table: CellTable, recognised: Recognised, names: readonly string[]): Found[] {
  const rows = table.rows.length;
  const looked = UNLIKELY + 2 * Math.log(names.length + 1);
  return names.flatMap((column) => {
    if (!recognised.get(column)?.domain) return [];
    const present = presence(table, column);
    const share = present.filter(Boolean).length / rows;
    if (share === 0 || share === 1) return [];
    return names.flatMap((by): Found[] => {
      if (by === column || recognised.get(by)?.domain?.kind !== "category") return [];
      const labels = columnAt(table, by);
      if (labels.some(isEmpty)) return [];
      const counts = presenceByLabel(labels, present);
      if ([...counts.values()].some((own) => own.there > 0 && own.missing > 0)) return [];
      const agree = -(rows - counts.size) * Math.log(share ** 2 + (1 - share) ** 2);
      // Of several columns that tell it, that with the fewest labels.
      return agree >= looked
        ? [{ relation: { kind: "only", column, by }, weight: 1 / counts.size }]
        : [];
    });
  });
}

/**
 * The rules that rows are evidence for; a column is in one of them, but labels that many go with.
 */
export function foundRelations(
  table: CellTable,
  names: readonly string[],
  recognised: Recognised,
): Relation[] {
  if (table.rows.length < LEAST_ROWS) return [];
  const places = new Map<string, Float64Array>();
  for (const name of names) {
    const own = recognised.get(name);
    if (!own?.domain || places.size >= MOST_COLUMNS) continue;
    const found = placesOf(table, own);
    if (found) places.set(name, found);
  }
  const some = names.slice(0, MOST_COLUMNS);
  const all = [
    ...dependents(table, recognised, some),
    ...sums(places),
    ...orders(places, recognised),
    ...pairs(table, recognised, some),
    ...conditions(table, recognised, some),
  ].sort((p, q) => q.weight - p.weight);
  const taken = new Set<string>();
  const stars = new Set<string>();
  const reasons = new Set<string>();
  return all.flatMap(({ relation }): Relation[] => {
    const columns = columnsOfRelation(relation);
    if (relation.kind === "only") {
      // A column may be empty for a reason and in an order too, but its reason must be learned.
      const isLearned =
        !taken.has(relation.by) || stars.has(relation.by) || reasons.has(relation.by);
      if (!isLearned || taken.has(relation.column)) return [];
      reasons.add(relation.by);
      for (const name of columns) taken.add(name);
      return [relation];
    }
    const isFree =
      relation.kind === "label"
        ? !taken.has(relation.column) &&
          !stars.has(relation.column) &&
          (stars.has(relation.of) || reasons.has(relation.of) || !taken.has(relation.of))
        : !columns.some((name) => taken.has(name));
    if (!isFree) return [];
    for (const name of columns) taken.add(name);
    if (relation.kind === "label") stars.add(relation.of);
    return [relation];
  });
}
