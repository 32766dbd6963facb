/**
 * Rules that columns obey in all rows, found where the rows are evidence, or specified:
 *
 *   order    a ≤ b, a < b     a and the difference b − a are learned, b is their sum
 *   sum      a = b + c + …    the parts are learned; equal columns are a sum of one
 *   label    a = f(b)         b, a column of labels, is learned, and a goes with it
 *   pair     (a, b) of few    a label for each combination is learned, and a and b go with it
 *   only     a only where b   a is empty but in rows with some labels of b; both are learned
 *
 * A rule is evident if it holds in all rows and would not by chance, if columns were independent.
 */
import { type Cell, category, type Domain, derived, domainOf } from "diffeo/domain";
import { fail } from "diffeo/graph";
import { quantiles } from "diffeo/host";
import type { CellTable } from "../../table/cells.ts";
import { isEmpty } from "../../table/cells.ts";
import { parseDate } from "../../table/dates.ts";
import { quote } from "../../table/quote.ts";
import { numberOf } from "../../table/table.ts";
import { columnAt, type Meaning, numberKind, numbersIn } from "../kinds/index.ts";
import type { Inferred } from "./inferred.ts";

/** A rule that columns obey. */
export type Relation =
  | {
      readonly kind: "order";
      readonly low: string;
      readonly high: string;
      /** Whether equal values are excluded: a < b. */
      readonly isStrict?: boolean;
    }
  | { readonly kind: "sum"; readonly total: string; readonly parts: readonly string[] }
  | { readonly kind: "label"; readonly of: string; readonly column: string }
  | { readonly kind: "pair"; readonly columns: readonly [string, string] }
  | { readonly kind: "only"; readonly column: string; readonly by: string };

/** What columns are without the rules. */
export type Recognised = ReadonlyMap<string, Inferred>;

/** The columns of a relation. */
export function columnsOfRelation(relation: Relation): readonly string[] {
  switch (relation.kind) {
    case "order":
      return [relation.low, relation.high];
    case "sum":
      return [relation.total, ...relation.parts];
    case "label":
      return [relation.of, relation.column];
    case "pair":
      return relation.columns;
    case "only":
      return [relation.column, relation.by];
  }
}

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
/** Rows that a forbidden pair of labels would have if columns were independent, and all of them. */
const FORBIDDEN = 10;
const FORBIDDEN_SHARE = 0.05;
/** Combinations of a pair of labels, at most. */
const MOST_PAIRS = 200;

const rounded = (value: number): number => Number(value.toPrecision(12));
const isSame = (a: number, b: number): boolean =>
  Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b));

/** The numbers of a column, of dates their days; NaN where one is missing. */
function placesOf(table: CellTable, { columns: [name], domain }: Inferred) {
  const { spec } = domain ?? {};
  if (spec?.kind === "date")
    return Float64Array.from(
      columnAt(table, name),
      (cell) => parseDate(cell, spec.format) ?? Number.NaN,
    );
  if (spec?.kind === "category") return undefined;
  const numbers = numbersIn(table, name);
  return numbers && Float64Array.from(numbers);
}

const isThere = (v: number): boolean => !Number.isNaN(v);

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

/** What goes with each label, in all rows; undefined where two values go with one. */
function valuesByLabel(labels: readonly string[], cells: readonly string[]) {
  const found = new Map<string, string>();
  for (let i = 0; i < labels.length; i++) {
    if (isEmpty(labels[i]) || isEmpty(cells[i])) continue;
    const before = found.get(labels[i]);
    if (before === undefined) found.set(labels[i], cells[i]);
    else if (before !== cells[i]) return undefined;
  }
  return found;
}

const countsOf = (cells: readonly string[]): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const cell of cells) if (!isEmpty(cell)) counts.set(cell, (counts.get(cell) ?? 0) + 1);
  return counts;
};

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

/** The combinations of two labels that occur, and those that are forbidden. */
function combinationsOf(table: CellTable, [a, b]: readonly [string, string]) {
  const [x, y] = [columnAt(table, a), columnAt(table, b)];
  const pairs = new Map<string, number>();
  let rows = 0;
  x.forEach((label, i) => {
    if (isEmpty(label) || isEmpty(y[i])) return;
    rows++;
    const key = JSON.stringify([label, y[i]]);
    pairs.set(key, (pairs.get(key) ?? 0) + 1);
  });
  const [left, right] = [[...countsOf(x)], [...countsOf(y)]];
  const all = left.flatMap(([p, m]) =>
    right.map(([q, n]) => ({
      pair: [p, q] as const,
      isSeen: pairs.has(JSON.stringify([p, q])),
      expected: (m * n) / Math.max(1, rows),
    })),
  );
  return { all, rows };
}

/** Combinations that are not forbidden: those that occur, or that so many rows need not show. */
const allowedPairs = (table: CellTable, columns: readonly [string, string]) =>
  combinationsOf(table, columns)
    .all.filter(({ isSeen, expected }) => isSeen || expected < FORBIDDEN)
    .map(({ pair }) => pair);

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

/** How many rows with each label have a cell, and how many have none. */
function presenceByLabel(labels: readonly string[], places: readonly boolean[]) {
  const found = new Map<string, { there: number; missing: number }>();
  labels.forEach((label, i) => {
    const own = found.get(label) ?? { there: 0, missing: 0 };
    found.set(label, own);
    own[places[i] ? "there" : "missing"]++;
  });
  return found;
}

/** Whether each cell of a column is there. */
const presence = (table: CellTable, name: string): readonly boolean[] => {
  const numbers = numbersIn(table, name);
  return numbers ? numbers.map(isThere) : columnAt(table, name).map((cell) => !isEmpty(cell));
};

/** Columns that are empty exactly where another has some labels. */
function conditions(table: CellTable, recognised: Recognised, names: readonly string[]): Found[] {
  const rows = table.rows.length;
  const looked = UNLIKELY + 2 * Math.log(names.length + 1);
  return names.flatMap((column) => {
    if (!recognised.get(column)?.domain) return [];
    const there = presence(table, column);
    const share = there.filter(Boolean).length / rows;
    if (share === 0 || share === 1) return [];
    return names.flatMap((by): Found[] => {
      if (by === column || recognised.get(by)?.domain?.kind !== "category") return [];
      const labels = columnAt(table, by);
      if (labels.some(isEmpty)) return [];
      const counts = presenceByLabel(labels, there);
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

/** A table with one column more, of which the cells are given. */
const withColumn = (table: CellTable, name: string, cells: readonly string[]): CellTable => ({
  ...table,
  columns: [...table.columns, name],
  rows: table.rows.map((row, i) => [...row, cells[i]]),
  ...(table.literals && { literals: [...table.literals, false] }),
});

/** A name that no column has. */
const freeName = (name: string, { columns }: CellTable): string =>
  columns.includes(name) ? freeName(`${name}'`, { columns } as CellTable) : name;

/** The domain of a column of a relation. */
function domainIn(name: string, recognised: Recognised): Domain {
  const { domain, kind } = recognised.get(name) ?? {};
  return (
    domain ??
    fail(
      "usage",
      `${quote(name)} is ${kind ?? "no column"}: no rule can be about it`,
      "leave it out",
    )
  );
}

const boundsOf = (values: ArrayLike<number>): [number, number] =>
  Array.from(values)
    .filter(isThere)
    .reduce<[number, number]>(
      ([low, high], v) => [Math.min(low, v), Math.max(high, v)],
      [Infinity, -Infinity],
    );

/** Says where a rule that was specified does not hold. */
const broken = (
  table: CellTable,
  row: number,
  what: string,
  remedy = "fix or drop the row, or leave the rule out",
): never => fail("data", `${table.source}, line ${table.lines[row]}: ${what}`, remedy);

/** The domain of a difference that is never 0. */
const aboveZero = (own: Domain): Domain =>
  own.spec?.kind === "integer"
    ? domainOf({ ...own.spec, least: Math.max(1, own.spec.least ?? 1) })
    : own;

function orderColumns(
  table: CellTable,
  { low, high, isStrict = false }: Extract<Relation, { kind: "order" }>,
  recognised: Recognised,
  why: string,
): Inferred[] {
  const [from, to] = [low, high].map((name) => ({
    domain: domainIn(name, recognised),
    values:
      placesOf(table, recognised.get(name) as Inferred) ??
      fail("usage", `${quote(name)} is not a column of numbers or dates`, "leave the rule out"),
  }));
  const differences = to.values.map((v, i) => rounded(v - from.values[i]));
  const wrong = differences.findIndex((d) => d < 0 || (isStrict && d === 0));
  if (wrong >= 0) {
    const [a, b] = [low, high].map((name) => columnAt(table, name)[wrong]);
    const how = isStrict ? "not above" : "below";
    const other =
      differences[wrong] === 0 ? `write ${low}<=${high} if they may be equal` : undefined;
    broken(table, wrong, `${quote(high)} is ${b}, which is ${how} ${quote(low)}, ${a}`, other);
  }
  const name = freeName(`${high} − ${low}`, table);
  const texts = Array.from(differences, (d) => (isThere(d) ? String(d) : ""));
  const own: Meaning = numberKind(withColumn({ ...table, commas: false }, name, texts), name);
  if (!own.domain)
    return fail(
      "data",
      `${quote(high)} − ${quote(low)} is the same in all rows`,
      "leave the rule out",
    );
  const [least, most] = boundsOf(differences);
  const gap: [number, number] = [isStrict ? least : Math.min(0, least), most];
  const derivation = {
    by: "sum",
    from: [low, name],
    ranges: [boundsOf(from.values), gap],
    range: boundsOf(to.values),
  } as const;
  return [
    {
      columns: [name],
      kind: own.domain.kind,
      domain: isStrict ? aboveZero(own.domain) : own.domain,
      isMade: true,
      reason: own.reason,
    },
    {
      columns: [high],
      kind: "derived",
      domain: derived(to.domain, {
        ...derivation,
        from: [...derivation.from],
        ranges: [...derivation.ranges],
      }),
      reason: `${why}: ${low} ${isStrict ? "<" : "≤"} ${high}; ${low} and the difference are learned`,
    },
  ];
}

function sumColumns(
  table: CellTable,
  { total, parts }: Extract<Relation, { kind: "sum" }>,
  recognised: Recognised,
  why: string,
): Inferred[] {
  const values = [total, ...parts].map(
    (name) =>
      placesOf(table, recognised.get(name) as Inferred) ??
      fail("usage", `${quote(name)} is not a column of numbers`, "leave the rule out"),
  );
  const [own, ...others] = values;
  const wrong = own.findIndex((v, i) => {
    const sum = others.reduce((s, part) => s + part[i], 0);
    return isThere(v) && isThere(sum) && !isSame(v, sum);
  });
  const text = parts.join(" + ");
  if (wrong >= 0)
    broken(
      table,
      wrong,
      `${quote(total)} is ${own[wrong]}, and ${text} is ${rounded(others.reduce((s, part) => s + part[wrong], 0))}`,
    );
  for (const name of parts) domainIn(name, recognised);
  return [
    {
      columns: [total],
      kind: "derived",
      domain: derived(domainIn(total, recognised), {
        by: "sum",
        from: [...parts],
        ranges: others.map(boundsOf),
      }),
      reason: `${why}: ${total} = ${text}`,
    },
  ];
}

/** A cell as rows of its domain have it. */
function cellIn(text: string, { spec }: Domain, commas: boolean | undefined): Cell {
  if (spec?.kind === "category") return text;
  return (spec?.kind === "date" ? parseDate(text, spec.format) : numberOf(text, commas)) ?? text;
}

function labelColumns(
  table: CellTable,
  { of, column }: Extract<Relation, { kind: "label" }>,
  recognised: Recognised,
  why: string,
): Inferred[] {
  const [labels, own] = [domainIn(of, recognised), domainIn(column, recognised)];
  const { spec } = labels;
  if (spec?.kind !== "category")
    return fail(
      "usage",
      `${quote(of)} is ${labels.kind}, and not labels`,
      `add the rule ${of}=category, or leave this one out`,
    );
  const [keys, cells] = [columnAt(table, of), columnAt(table, column)];
  const values = new Map<string, string>();
  keys.forEach((key, i) => {
    if (isEmpty(key) || isEmpty(cells[i])) return;
    const before = values.get(key);
    if (before !== undefined && before !== cells[i])
      broken(
        table,
        i,
        `with ${quote(of)} ${key} goes ${quote(column)} ${cells[i]} here, and ${before} before`,
      );
    values.set(key, cells[i]);
  });
  const known = spec.labels.filter((label) => values.has(String(label)));
  return [
    {
      columns: [column],
      kind: "derived",
      domain: derived(own, {
        by: "label",
        from: of,
        labels: known,
        cells: known.map((label) => cellIn(values.get(String(label)) as string, own, table.commas)),
      }),
      reason: `${why}: each ${of} has one ${column}`,
    },
  ];
}

/** Labels that are corners of a simplex, as for categories. */
const MOST_CORNERS = 50;

function pairColumns(
  table: CellTable,
  { columns }: Extract<Relation, { kind: "pair" }>,
  recognised: Recognised,
  why: string,
  isFound: boolean,
): Inferred[] {
  const combinations = isFound
    ? allowedPairs(table, columns)
    : combinationsOf(table, columns)
        .all.filter(({ isSeen }) => isSeen)
        .map(({ pair }) => pair);
  const labels = combinations.map(([p, q]) => `${p} & ${q}`);
  if (new Set(labels).size < labels.length || labels.length < 2)
    return fail(
      "data",
      `${columns.join(" and ")} have no combinations that can be distinguished`,
      "leave the rule out",
    );
  const order = labels.map((_, i) => i).sort((i, j) => (labels[i] < labels[j] ? -1 : 1));
  const sorted = order.map((i) => labels[i]);
  const name = freeName(columns.join(" & "), table);
  const all = columns.map((own) => countsOf(columnAt(table, own)).size).reduce((a, b) => a * b);
  return [
    {
      columns: [name],
      kind: "category",
      domain: category(
        sorted,
        sorted.length > MOST_CORNERS ? { dimension: Math.ceil(2 * Math.log2(sorted.length)) } : {},
      ),
      isMade: true,
      reason: `a label for each of ${sorted.length} combinations`,
    },
    ...columns.map((own, side): Inferred => {
      const domain = domainIn(own, recognised);
      return {
        columns: [own],
        kind: "derived",
        domain: derived(domain, {
          by: "label",
          from: name,
          labels: sorted,
          cells: order.map((i) => cellIn(combinations[i][side], domain, table.commas)),
        }),
        reason: `${why}: ${all - sorted.length} of ${all} combinations of ${columns.join(" and ")} do not occur`,
      };
    }),
  ];
}

function conditionColumns(
  table: CellTable,
  { column, by }: Extract<Relation, { kind: "only" }>,
  recognised: Recognised,
  why: string,
): Inferred[] {
  const [own, labels] = [domainIn(column, recognised), domainIn(by, recognised)];
  const { spec } = labels;
  if (spec?.kind !== "category")
    return fail(
      "usage",
      `${quote(by)} is ${labels.kind}, and not labels`,
      `add the rule ${by}=category, or leave this one out`,
    );
  const [keys, there] = [columnAt(table, by), presence(table, column)];
  const counts = presenceByLabel(keys, there);
  const present = spec.labels.filter((label) => (counts.get(String(label))?.there ?? 0) > 0);
  const odd = keys.findIndex((key, i) => isEmpty(key) && there[i]);
  if (odd >= 0) broken(table, odd, `${quote(column)} has a cell, and ${quote(by)} is empty`);
  if (present.length === spec.labels.length || present.length === 0)
    return fail(
      "data",
      `${quote(column)} is empty with no label of ${quote(by)} alone`,
      "leave the rule out",
    );
  const words =
    present.length <= spec.labels.length / 2
      ? `is ${present.slice(0, 5).join(", ")}${present.length > 5 ? ", …" : ""}`
      : `is not ${spec.labels
          .filter((label) => !present.includes(label))
          .slice(0, 5)
          .join(", ")}`;
  const inferred = recognised.get(column) as Inferred;
  return [
    {
      ...inferred,
      domain: derived(own, { by: "presence", from: by, labels: present }),
      reason: `${inferred.reason}; ${why}, only where ${by} ${words}`,
    } as Inferred,
  ];
}

/**
 * The columns of a relation that are not as they would be without it: those that are made for it,
 * and those that follow from others.
 */
export function relatedBy(
  table: CellTable,
  relation: Relation,
  recognised: Recognised,
  isFound: boolean,
): Inferred[] {
  const why = isFound ? "in all rows" : "as specified";
  switch (relation.kind) {
    case "order":
      return orderColumns(table, relation, recognised, why);
    case "sum":
      return sumColumns(table, relation, recognised, why);
    case "label":
      return labelColumns(table, relation, recognised, why);
    case "pair":
      return pairColumns(table, relation, recognised, why, isFound);
    case "only":
      return conditionColumns(table, relation, recognised, why);
  }
}
