/** The columns of a rule: those that are made for it, and those that follow from others. */

import { type Domain, derived, domainOf } from "diffeo/domain";
import { fail } from "diffeo/graph";
import type { CellTable } from "../../table/cells.ts";
import { quote } from "../../table/quote.ts";
import { columnAt, type Meaning, numberKind } from "../kinds/index.ts";
import type { Inferred } from "./inferred.ts";
import { conditionColumns, labelColumns, pairColumns } from "./label-rule-columns.ts";
import { isSame, isThere, placesOf, rounded } from "./relation-cells.ts";
import type { Recognised, Relation } from "./relations.ts";
import { broken, domainIn, freeName } from "./rule-parts.ts";

/** A table with one column more, of which the cells are given. */
const withColumn = (table: CellTable, name: string, cells: readonly string[]): CellTable => ({
  ...table,
  columns: [...table.columns, name],
  rows: table.rows.map((row, i) => [...row, cells[i]]),
  ...(table.literals && { literals: [...table.literals, false] }),
});

const boundsOf = (values: ArrayLike<number>): [number, number] =>
  Array.from(values)
    .filter(isThere)
    .reduce<[number, number]>(
      ([low, high], v) => [Math.min(low, v), Math.max(high, v)],
      [Infinity, -Infinity],
    );

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
      reason:
        `${why}: ${low} ${isStrict ? "<" : "≤"} ${high}; ` +
        `${low} and the difference are learned`,
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
      `${quote(total)} is ${own[wrong]}, and ${text} is ` +
        `${rounded(others.reduce((s, part) => s + part[wrong], 0))}`,
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
