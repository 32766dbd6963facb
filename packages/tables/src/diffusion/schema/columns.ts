/**
 * What a person says of columns, in words that fit a command line:
 *
 *   age=between:0:120    size=positive    t=above:-3    n=count    k=integer:1:6
 *   ward=category        wind=angle:360   rain=mixed:0  pay=empirical
 *   start<end            start<=end       0<open<close<24
 *   sand+silt+clay=100   sand+silt+clay=100:zeros:0.001
 *   total=net+tax        country=f(town)  make,fuel=pairs                paid=only(status)
 *   east,north=ball:50   a,b,c=sphere     s11,s21,s22=covariance   r21,r31,r32=correlation
 *   id=drop
 */
import {
  ball,
  correlation,
  covariance,
  type Derivation,
  type Domain,
  ordered,
  simplex,
  sphere,
} from "diffeo/domain";
import { fail } from "diffeo/graph";
import { quote, quoteList } from "../../table/quote.ts";
import { columnKinds } from "../kinds/index.ts";
import { columnsOfRelation, type Relation } from "./relations.ts";

/** What a rule says: the domain of columns, or the kind of one of them and its numbers. */
export interface ColumnRule {
  readonly columns: readonly string[];
  /** Absent where the cells are needed to tell it. */
  readonly domain?: Domain;
  /** The name of one of `columnKinds`, or "drop"; absent for groups of columns. */
  readonly kind?: string;
  /** A rule between columns that are what they are without it. */
  readonly relation?: Relation;
  readonly numbers?: readonly number[];
}

function numberIn(text: string, rule: string): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (!Number.isFinite(value))
    fail("usage", `${quote(rule)}: ${quote(text)} is not a number`, "write it as 12.5 or 1e3");
  return value;
}

const PLACES = ["A", "B", "C"];

/** Kinds as rules write them: between:A:B, angle[:A]. */
const kindsText = (): string =>
  columnKinds
    .flatMap(({ name, counts }) => {
      if (!counts) return [];
      const [least, most] = [Math.min(...counts), Math.max(...counts)];
      const words = (from: number, to: number): string =>
        PLACES.slice(from, to)
          .map((place) => `:${place}`)
          .join("");
      return [`${name}${words(0, least)}${most > least ? `[${words(least, most)}]` : ""}`];
    })
    .concat("drop")
    .join(", ");

/** What a rule says after "name=". */
function kindRule(column: string, text: string, rule: string): ColumnRule {
  const [name, ...words] = text.split(":");
  if (name === "drop" && words.length === 0) return { columns: [column], kind: "drop" };
  const kind =
    columnKinds.find((one) => one.name === name && one.counts) ??
    fail(
      "usage",
      `${quote(rule)}: there is no kind ${quote(name)} of column`,
      `use ${kindsText()}`,
    );
  if (kind.counts && !kind.counts.includes(words.length))
    fail("usage", `${quote(rule)}: ${words.length} numbers after ${name}`, `use ${kindsText()}`);
  const numbers = words.map((word) => numberIn(word, rule));
  return { columns: [column], kind: name, numbers, domain: kind.make?.(numbers) };
}

const groups: Readonly<
  Record<string, (names: readonly string[], numbers: readonly number[]) => Domain>
> = {
  ball: (names, [radius]) => ball(names, radius === undefined ? {} : { radius }),
  sphere: (names) => sphere(names),
  covariance: (names) => covariance(names),
  correlation: (names) => correlation(names),
};

/** a,b=ball:50 and its like, whose numbers are one for a ball and none for others. */
function groupOf(columns: readonly string[], text: string, rule: string): Domain {
  const [name, ...rest] = text.split(":");
  const make =
    (Object.hasOwn(groups, name) && groups[name]) ||
    fail(
      "usage",
      `${quote(rule)}: there is no kind ${quote(name)} of columns`,
      `use ${Object.keys(groups).join(", ")}`,
    );
  if (rest.length > (name === "ball" ? 1 : 0))
    fail(
      "usage",
      `${quote(rule)}: ${rest.length} numbers after ${name}`,
      "use ball, ball:RADIUS, or no numbers",
    );
  return make(
    columns,
    rest.map((word) => numberIn(word, rule)),
  );
}

/** Columns in order; a number before or after them is a bound. */
function orderOf(
  words: readonly string[],
  known: ReadonlySet<string>,
): [columns: readonly string[], Domain] {
  const bound = (word: string | undefined): number | undefined =>
    word === undefined || known.has(word) || word === "" || !Number.isFinite(Number(word))
      ? undefined
      : Number(word);
  const [above, below] = [bound(words[0]), bound(words.at(-1))];
  const columns = words.slice(above === undefined ? 0 : 1, below === undefined ? undefined : -1);
  const bounds = { above, below };
  return [columns, ordered(columns, bounds)];
}

/** The kind of a rule such as a<=b. */
export const TIED = "ordered, with ties";

/** How far a sum of parts may be from the total at least, relative to it. */
export const SUM_TOLERANCE = 1e-3;

/**
 * Parts of a whole, what an exact zero among them stands for, and how far their sums may be off.
 */
export const wholeOf = (
  parts: readonly string[],
  total: number,
  zeros?: number,
  tolerance = SUM_TOLERANCE,
): Domain =>
  simplex(parts, {
    total,
    map: "isometricLogRatio",
    tolerance,
    zeros,
  });

/** a+b+c=100, or a+b+c=100:zeros:0.001 */
function sumOf(parts: readonly string[], text: string, rule: string): Domain {
  const [total, word, share, ...more] = text.split(":");
  if (
    (word !== undefined && word !== "zeros") ||
    more.length > 0 ||
    (word === "zeros" && share === undefined)
  )
    fail(
      "usage",
      `${quote(rule)}: ${quote(text)} is not a total`,
      "write a+b+c=100, or a+b+c=100:zeros:0.001",
    );
  return wholeOf(
    parts,
    numberIn(total, rule),
    share === undefined ? undefined : numberIn(share, rule),
  );
}

/** A rule between columns: a<=b, a<b, a=b+c, a=f(b), a=only(b), or a,b=pairs. */
function relationOf(rule: string, known: ReadonlySet<string>): Relation | undefined {
  const areKnown = (names: readonly string[]): boolean => names.every((name) => known.has(name));
  const words = (text: string, by: string): string[] => text.split(by).map((word) => word.trim());
  for (const sign of ["<=", "<"]) {
    const [low, high, ...more] = words(rule, sign);
    if (high !== undefined && more.length === 0 && areKnown([low, high]))
      return { kind: "order", low, high, ...(sign === "<" && { isStrict: true }) };
  }
  const at = rule.indexOf("=");
  if (at < 0) return undefined;
  const [left, right] = [rule.slice(0, at).trim(), rule.slice(at + 1).trim()];
  const pair = words(left, ",");
  if (right === "pairs" && pair.length === 2 && areKnown(pair))
    return { kind: "pair", columns: [pair[0], pair[1]] };
  if (!known.has(left)) return undefined;
  const by = /^only\((.+)\)$/.exec(right)?.[1].trim();
  if (by !== undefined && known.has(by)) return { kind: "only", column: left, by };
  const of = /^f\((.+)\)$/.exec(right)?.[1].trim();
  if (of !== undefined && known.has(of)) return { kind: "label", of, column: left };
  const parts = words(right, "+");
  return areKnown(parts) && !parts.includes(left) ? { kind: "sum", total: left, parts } : undefined;
}

/** What one rule says; names are those of a table. */
export function parseRule(rule: string, names: readonly string[]): ColumnRule {
  const known = new Set(names);
  const requireKnown = (columns: readonly string[]): readonly string[] => {
    const stranger = columns.find((name) => !known.has(name));
    if (stranger !== undefined)
      fail(
        "usage",
        `${quote(rule)}: there is no column ${quote(stranger)}`,
        `use one of ${quoteList(names)}`,
      );
    return columns;
  };
  const relation = relationOf(rule, known);
  if (relation) return { columns: requireKnown(columnsOfRelation(relation)), relation };
  if (/^[^=]+(<=[^=]+)+$/.test(rule) && !known.has(rule)) {
    const list = rule.split("<=").map((word) => word.trim());
    // The step of their cells is needed to make a domain.
    return { columns: requireKnown(list), kind: TIED };
  }
  const at = rule.lastIndexOf("=");
  const words = (text: string, by: string): string[] => text.split(by).map((word) => word.trim());
  if (at < 0) {
    const list = words(rule, "<");
    if (list.length < 2)
      fail("usage", `${quote(rule)} says nothing of a column`, "write name=kind, a<b or a+b+c=100");
    const [columns, domain] = orderOf(list, known);
    return { columns: requireKnown(columns), domain };
  }
  const [left, right] = [rule.slice(0, at).trim(), rule.slice(at + 1).trim()];
  if (known.has(left)) return kindRule(left, right, rule);
  const listed = words(left, ",");
  if (listed.length > 1)
    return { columns: requireKnown(listed), domain: groupOf(listed, right, rule) };
  const parts = words(left, "+");
  if (parts.length < 2) requireKnown([left]);
  return { columns: requireKnown(parts), domain: sumOf(parts, right, rule) };
}

/** The rule of a column that follows from others; none where these are not in the file. */
function derivedRule(name: string, derivation: Derivation): string | undefined {
  if (derivation.by === "presence") return `${name}=only(${derivation.from})`;
  if (derivation.by === "label") return `${name}=f(${derivation.from})`;
  if (!derivation.range) return `${name}=${derivation.from.join("+")}`;
  // The least difference is 0 where equal values are allowed.
  const sign = (derivation.ranges?.[1]?.[0] ?? 0) > 0 ? "<" : "<=";
  return `${derivation.from[0]}${sign}${name}`;
}

/**
 * The rule that says what a domain of columns is: `parseRule` makes the same of it. Undefined where
 * no rule does.
 */
export function formatRule(columns: readonly string[], domain: Domain): string | undefined {
  const { spec } = domain;
  switch (spec?.kind) {
    case undefined:
      return undefined;
    case "derived":
      return derivedRule(columns[0], spec.derivation);
    case "simplex": {
      const zeros = spec.zeros === undefined ? "" : `:zeros:${spec.zeros}`;
      return `${columns.join("+")}=${spec.total ?? 1}${zeros}`;
    }
    case "ordered":
      return [spec.above, ...columns, spec.below]
        .filter((word) => word !== undefined)
        .join(spec.ties ? "<=" : "<");
    case "ball":
      return `${columns.join(",")}=ball${spec.radius === undefined ? "" : `:${spec.radius}`}`;
    case "sphere":
    case "covariance":
    case "correlation":
      return `${columns.join(",")}=${spec.kind}`;
    default:
      for (const { name, numbersOf } of columnKinds) {
        const numbers = numbersOf?.(domain);
        if (numbers) return `${columns[0]}=${[name, ...numbers].join(":")}`;
      }
      return undefined;
  }
}
