/**
 * What a person says of columns, in words that fit a command line:
 *
 *   age=between:0:120    size=positive    t=above:-3    n=count    k=integer:1:6    ward=category    wind=angle:360
 *   start<end            0<open<close<24                sand+silt+clay=100               sand+silt+clay=100:zeros:0.001
 *   east,north=ball:50   a,b,c=sphere                   s11,s21,s22=covariance           r21,r31,r32=correlation
 *   id=drop
 */
import {
  angle,
  ball,
  between,
  correlation,
  covariance,
  type Domain,
  type DomainSpec,
  integer,
  ordered,
  positive,
  real,
  simplex,
  sphere,
} from "diffeo/domain";
import { fail } from "diffeo/graph";
import { quote, quoteList } from "../../table/quote.ts";

/**
 * A domain of one or more columns, or that they are left out; a category gets its labels from the
 * data.
 */
export interface ColumnRule {
  readonly columns: readonly string[];
  readonly domain: Domain | "category" | "drop";
}

const KINDS =
  "real, positive, above:A, below:B, between:A:B, integer[:A:B], count, category, angle[:PERIOD] or drop";

function numberIn(text: string, rule: string): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (!Number.isFinite(value))
    fail("usage", `${quote(rule)}: ${quote(text)} is no number`, "write it as 12.5 or 1e3");
  return value;
}

/** The kinds by name, with how many numbers they take. */
const kinds: Readonly<
  Record<
    string,
    readonly [counts: readonly number[], make: (numbers: number[]) => ColumnRule["domain"]]
  >
> = {
  real: [[0], () => real()],
  positive: [[0], () => positive()],
  above: [[1], ([bound]) => positive({ above: bound })],
  below: [[1], ([bound]) => positive({ below: bound })],
  between: [[2], ([low, high]) => between(low, high)],
  integer: [[0, 2], ([least, most]) => integer(least === undefined ? {} : { least, most })],
  count: [[0], () => integer({ least: 0 })],
  category: [[0], () => "category"],
  angle: [[0, 1], ([period]) => angle(period === undefined ? {} : { period })],
  drop: [[0], () => "drop"],
};

function kindOf(text: string, rule: string): ColumnRule["domain"] {
  const [name, ...rest] = text.split(":");
  const [counts, make] =
    (Object.hasOwn(kinds, name) && kinds[name]) ||
    fail("usage", `${quote(rule)}: there is no kind ${quote(name)} of column`, `use ${KINDS}`);
  if (!counts.includes(rest.length))
    fail("usage", `${quote(rule)}: ${rest.length} numbers after ${name}`, `use ${KINDS}`);
  return make(rest.map((word) => numberIn(word, rule)));
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
      `${quote(rule)}: ${quote(text)} is no total`,
      "write a+b+c=100, or a+b+c=100:zeros:0.001",
    );
  return wholeOf(
    parts,
    numberIn(total, rule),
    share === undefined ? undefined : numberIn(share, rule),
  );
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
  if (known.has(left)) return { columns: [left], domain: kindOf(right, rule) };
  const listed = words(left, ",");
  if (listed.length > 1)
    return { columns: requireKnown(listed), domain: groupOf(listed, right, rule) };
  const parts = words(left, "+");
  if (parts.length < 2) requireKnown([left]);
  return { columns: requireKnown(parts), domain: sumOf(parts, right, rule) };
}

/** Words and numbers of one column, as `kindOf` reads them. */
function kindText(spec: DomainSpec): string | undefined {
  switch (spec.kind) {
    case "real":
    case "category":
      return spec.kind;
    case "positive":
      if (spec.below !== undefined) return `below:${spec.below}`;
      return spec.above === undefined ? "positive" : `above:${spec.above}`;
    case "between":
      return `between:${spec.low}:${spec.high}`;
    case "integer":
      if (spec.most !== undefined)
        return spec.least === undefined ? undefined : `integer:${spec.least}:${spec.most}`;
      return spec.least === undefined ? "integer" : spec.least === 0 ? "count" : undefined;
    case "angle":
      return spec.period === undefined ? "angle" : `angle:${spec.period}`;
    default:
      return undefined;
  }
}

/**
 * The rule that says what a domain of columns is: `parseRule` makes the same of it. Undefined where
 * no rule does.
 */
export function formatRule(columns: readonly string[], { spec }: Domain): string | undefined {
  if (!spec) return undefined;
  switch (spec.kind) {
    case "simplex": {
      const zeros = spec.zeros === undefined ? "" : `:zeros:${spec.zeros}`;
      return `${columns.join("+")}=${spec.total ?? 1}${zeros}`;
    }
    case "ordered":
      return [spec.above, ...columns, spec.below].filter((word) => word !== undefined).join("<");
    case "ball":
      return `${columns.join(",")}=ball${spec.radius === undefined ? "" : `:${spec.radius}`}`;
    case "sphere":
    case "covariance":
    case "correlation":
      return `${columns.join(",")}=${spec.kind}`;
    default: {
      const text = kindText(spec);
      return text === undefined ? undefined : `${columns[0]}=${text}`;
    }
  }
}
