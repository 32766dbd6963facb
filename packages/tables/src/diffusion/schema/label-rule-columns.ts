/** The columns of rules about labels: a = f(b), allowed pairs, and cells only with some labels. */
import { type Cell, category, type Domain, derived } from "diffeo/domain";
import { fail } from "diffeo/graph";
import { type CellTable, isEmpty } from "../../table/cells.ts";
import { parseDate } from "../../table/dates.ts";
import { quote } from "../../table/quote.ts";
import { numberOf } from "../../table/table.ts";
import { columnAt } from "../kinds/index.ts";
import type { Inferred } from "./inferred.ts";
import {
  allowedPairs,
  combinationsOf,
  countsOf,
  presence,
  presenceByLabel,
} from "./relation-cells.ts";
import type { Recognised, Relation } from "./relations.ts";
import { broken, domainIn, freeName } from "./rule-parts.ts";

/** A cell as rows of its domain have it. */
function cellIn(text: string, { spec }: Domain, commas: boolean | undefined): Cell {
  if (spec?.kind === "category") return text;
  return (spec?.kind === "date" ? parseDate(text, spec.format) : numberOf(text, commas)) ?? text;
}

/** The labels of a column that a rule takes as labels. */
function labelsIn(name: string, recognised: Recognised): readonly (string | number)[] {
  const { kind, spec } = domainIn(name, recognised);
  return spec?.kind === "category"
    ? spec.labels
    : fail(
        "usage",
        `${quote(name)} is ${kind}, and not labels`,
        `add the rule ${name}=category, or leave this one out`,
      );
}

export function labelColumns(
  table: CellTable,
  { of, column }: Extract<Relation, { kind: "label" }>,
  recognised: Recognised,
  why: string,
): Inferred[] {
  const own = domainIn(column, recognised);
  const labels = labelsIn(of, recognised);
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
  const known = labels.filter((label) => values.has(String(label)));
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

export function pairColumns(
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
        reason:
          `${why}: ${all - sorted.length} of ${all} combinations of ${columns.join(" and ")} ` +
          "do not occur",
      };
    }),
  ];
}

export function conditionColumns(
  table: CellTable,
  { column, by }: Extract<Relation, { kind: "only" }>,
  recognised: Recognised,
  why: string,
): Inferred[] {
  const own = domainIn(column, recognised);
  const labels = labelsIn(by, recognised);
  const [keys, isPresent] = [columnAt(table, by), presence(table, column)];
  const counts = presenceByLabel(keys, isPresent);
  const present = labels.filter((label) => (counts.get(String(label))?.there ?? 0) > 0);
  const odd = keys.findIndex((key, i) => isEmpty(key) && isPresent[i]);
  if (odd >= 0) broken(table, odd, `${quote(column)} has a cell, and ${quote(by)} is empty`);
  if (present.length === labels.length || present.length === 0)
    return fail(
      "data",
      `${quote(column)} is empty with no label of ${quote(by)} alone`,
      "leave the rule out",
    );
  const words =
    present.length <= labels.length / 2
      ? `is ${present.slice(0, 5).join(", ")}${present.length > 5 ? ", …" : ""}`
      : `is not ${labels
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
