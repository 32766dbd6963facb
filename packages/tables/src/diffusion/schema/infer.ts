/**
 * What each column of a table is, with the reason: as a rule says, or as its cells suggest. A
 * column without a rule is of the first kind that recognises it (`kinds/index.ts`), so that every
 * table of cells has an answer; what cannot be read is collected and said at once.
 */

import { type Domain, domainOf, ordered } from "diffeo/domain";
import { fail } from "diffeo/graph";
import type { CellTable } from "../../table/cells.ts";
import { quote } from "../../table/quote.ts";
import {
  columnKinds,
  columnOf,
  type Meaning,
  type NumberTreatment,
  numbersIn,
  numberTreatments,
  placedSphere,
  presentNumbers,
  recordedOf,
  type TableLayout,
} from "../kinds/index.ts";
import { type ColumnRule, parseRule, TIED, wholeOf } from "./columns.ts";
import {
  commaNote,
  groupedComplaints,
  missingNote,
  refuse,
  strayComplaints,
} from "./complaints.ts";
import { foundRelations } from "./find-relations.ts";
import type { Inferred } from "./inferred.ts";
import { relatedBy } from "./relation-columns.ts";
import { columnsOfRelation, type Relation } from "./relations.ts";
import { nearlyWhole, saidWhole, wholes, zeroNote } from "./wholes.ts";

/** What a rule makes of columns, with what only their cells can say. */
function declaredBy(
  table: CellTable,
  { columns, kind, numbers = [], domain }: ColumnRule,
): Meaning {
  if (kind === TIED) return { domain: tied(table, columns), reason: "as specified" };
  const own = columnKinds.find(({ name }) => name === kind);
  if (own?.declared) return own.declared(columnOf(table, columns[0]), numbers);
  const { spec } = domain as Domain;
  if (spec?.kind === "sphere") return placedSphere(table, columns);
  if (spec?.kind === "simplex") return saidWhole(table, columns, spec);
  return { domain: withStep(table, columns, domain as Domain), reason: "as specified" };
}

/** The step of columns together: their cells in one list. */
const stepOfAll = (table: CellTable, columns: readonly string[]): number | undefined =>
  recordedOf(columns.flatMap((name) => presentNumbers(numbersIn(table, name) ?? []))).step;

/** Columns of which none is less than the one before it. */
function tied(table: CellTable, columns: readonly string[]): Domain {
  const step = stepOfAll(table, columns);
  return step === undefined
    ? fail(
        "usage",
        `${columns.join("<=")}: the cells have no step in common`,
        `say ${columns.join("<")} where they are never equal`,
      )
    : ordered(columns, { step, ties: true });
}

/** Kinds of which a rule says where numbers are, and cells in which steps they are recorded. */
const STEPPED = ["real", "positive", "between"];

/** A domain of one column of numbers with the step that its cells have. */
function withStep(table: CellTable, [name, ...others]: readonly string[], domain: Domain): Domain {
  if (domain.spec?.kind === "ordered") {
    const step = stepOfAll(table, [name, ...others]);
    return step === undefined ? domain : domainOf({ ...domain.spec, step });
  }
  const numbers = numbersIn(table, name);
  if (others.length > 0 || !numbers || !STEPPED.includes(domain.spec?.kind ?? "")) return domain;
  const { step } = recordedOf(presentNumbers(numbers));
  return step === undefined ? domain : domainOf({ ...domain.spec, step });
}

/** What the cells of a column suggest: one of the kinds, of which the last is for any. */
function recognised(table: CellTable, name: string, treatment: NumberTreatment): Inferred {
  const column = columnOf(table, name);
  for (const kind of columnKinds) {
    const meaning = kind.recognised?.(column, treatment);
    if (meaning) return { columns: [name], kind: kind.name, ...meaning };
  }
  throw new Error(`internal: no kind recognises ${quote(name)}`);
}

function rulesOf(table: CellTable, rules: readonly string[]): readonly ColumnRule[] {
  const parsed = rules.map((rule) => parseRule(rule, table.columns));
  // What goes with a label says nothing else of the label.
  const named = parsed.flatMap(({ relation, columns }) =>
    relation?.kind === "label" || relation?.kind === "only" ? [relation.column] : columns,
  );
  const twice = named.find((name, i) => named.indexOf(name) !== i);
  if (twice !== undefined)
    fail("usage", `two rules are about ${quote(twice)}`, "give one for each column");
  return parsed;
}

/** Groups of columns that are parts of a whole, and notes on those that nearly are. */
function groupsOf(
  table: CellTable,
  open: readonly string[],
  numbers: ReadonlyMap<string, number[]>,
) {
  const found = wholes(table, open, numbers);
  const names = new Set(found.flatMap((group) => group.names));
  const offered = nearlyWhole(
    table,
    open.filter((name) => !names.has(name)),
    numbers,
  );
  const groups = found.map(
    ({ names: columns, total, zeros }): Inferred => ({
      columns,
      kind: "simplex",
      domain: wholeOf(columns, total, zeros),
      reason:
        `${zeros === undefined ? "above 0" : "at least 0"}, and they sum to ${total} in every row` +
        zeroNote(zeros),
    }),
  );
  return { groups, offered, names };
}

/**
 * What all columns are that are not left out, in the order of the table. Columns without a domain
 * are among them.
 */
export function inferColumns(
  table: CellTable,
  rules: readonly string[] = [],
  treatment: NumberTreatment = "usual",
): readonly Inferred[] {
  if (table.rows.length === 1)
    fail("data", `${table.source} has one row, which shows no distribution`, "give more rows");
  const all = rulesOf(table, rules);
  const declared = all.filter(({ relation }) => !relation);
  const specified = all.flatMap(({ relation }) => relation ?? []);
  const open = table.columns.filter(
    (name) => !declared.some(({ columns }) => columns.includes(name)),
  );
  const numbers = new Map<string, number[]>();
  for (const name of open) {
    const found = numbersIn(table, name);
    if (found?.some((v) => !Number.isNaN(v))) numbers.set(name, found);
  }
  refuse(table, [
    ...(table.commas ? groupedComplaints(table, numbers.keys()) : []),
    ...open.flatMap((name) => (numbers.has(name) ? [] : strayComplaints(table, name))),
  ]);
  const bound = new Set(specified.flatMap(columnsOfRelation));
  const free = open.filter((name) => !bound.has(name));
  const { groups, offered, names } = groupsOf(table, free, numbers);
  const single = [
    ...declared.flatMap((rule) => declaredColumns(table, rule)),
    ...open.filter((name) => !names.has(name)).map((name) => recognised(table, name, treatment)),
  ];
  const found = [
    ...groups,
    ...withRelations(
      table,
      single,
      specified,
      free.filter((name) => !names.has(name)),
    ),
  ].map((one) =>
    one.isMade
      ? one
      : {
          ...one,
          reason: [
            one.reason,
            offered?.first === one.columns[0] ? offered.note : "",
            commaNote(table, one.columns),
            missingNote(table, one.columns),
          ].join(""),
        },
  );
  requireDomain(table, found);
  return inTableOrder(table, found);
}

/** At least one column must have a domain. */
function requireDomain({ source }: CellTable, found: readonly Inferred[]): void {
  if (found.length === 0) fail("usage", `${source}: all columns are left out`, "keep at least one");
  if (!found.some(({ domain }) => domain))
    fail(
      "usage",
      `${source}: no column varies in a way that a model can learn`,
      "give a table with columns of numbers or labels",
    );
}

/** What a rule says that columns are; nothing where it leaves them out. */
function declaredColumns(table: CellTable, rule: ColumnRule): readonly Inferred[] {
  if (rule.kind === "drop") return [];
  const meaning = declaredBy(table, rule);
  const kind = meaning.domain?.kind ?? String(rule.kind);
  return [{ columns: rule.columns, kind, ...meaning }];
}

/** What was made for a rule stands before the column that follows from it. */
function inTableOrder(table: CellTable, found: readonly Inferred[]): readonly Inferred[] {
  const placeOf = ({ columns: [name] }: Inferred): number => {
    const at = table.columns.indexOf(name);
    if (at >= 0) return at;
    const after = found.find(({ domain }) => sourcesOf(domain).includes(name));
    return after ? table.columns.indexOf(after.columns[0]) - 0.5 : table.columns.length;
  };
  return found.toSorted((a, b) => placeOf(a) - placeOf(b));
}

/** The columns that a column follows from. */
function sourcesOf(domain: Domain | undefined): readonly string[] {
  if (domain?.spec?.kind !== "derived") return [];
  const { derivation } = domain.spec;
  if (derivation.by === "presence") return [];
  return derivation.by === "sum" ? derivation.from : [derivation.from];
}

/** Columns under the rules that were specified, and those that `free` ones are seen to obey. */
function withRelations(
  table: CellTable,
  single: readonly Inferred[],
  specified: readonly Relation[],
  free: readonly string[],
): Inferred[] {
  const known = new Map(single.map((one) => [one.columns[0], one]));
  const ruled = [
    ...specified.map((relation) => ({ relation, isFound: false })),
    ...foundRelations(table, free, known).map((relation) => ({ relation, isFound: true })),
  ].flatMap(({ relation, isFound }) => {
    const made = relatedBy(table, relation, known, isFound);
    return made ?? [];
  });
  const changed = new Set(ruled.flatMap(({ columns }) => columns));
  return [...single.filter(({ columns }) => !columns.some((name) => changed.has(name))), ...ruled];
}

/** The domains by name, as `fitTable` takes them. */
export const namedDomains = (inferred: readonly Inferred[]): Readonly<Record<string, Domain>> =>
  Object.fromEntries(
    inferred.flatMap(({ columns, domain }) => (domain ? [[columns.join("+"), domain]] : [])),
  );

/**
 * The domains by name where the numbers of a table are taken in other ways than as usual, each by
 * the name of the way, as `chooseMaps` takes them; of those that change nothing there is none.
 */
export function otherDomains(
  table: CellTable,
  rules: readonly string[],
  usual: readonly Inferred[],
): Readonly<Record<string, Readonly<Record<string, Domain>>>> {
  const textOf = (columns: Readonly<Record<string, Domain>>): string =>
    JSON.stringify(Object.entries(columns).map(([name, { kind, spec }]) => [name, kind, spec]));
  const seen = new Set([textOf(namedDomains(usual))]);
  const found = numberTreatments.slice(1).flatMap((treatment) => {
    const columns = namedDomains(inferColumns(table, rules, treatment));
    const text = textOf(columns);
    if (seen.has(text)) return [];
    seen.add(text);
    return [[treatment, columns] as const];
  });
  return Object.fromEntries(found);
}

/** All columns that rows are written with, as `fitTable` takes them: free text is not. */
export function layoutOf(inferred: readonly Inferred[]): TableLayout {
  const written = inferred.filter(({ filler, isMade }) => filler?.kind !== "omitted" && !isMade);
  return {
    columns: written.flatMap(({ columns }) => columns),
    fillers: Object.fromEntries(
      written.flatMap(({ columns, filler }) => (filler ? [[columns[0], filler]] : [])),
    ),
  };
}
