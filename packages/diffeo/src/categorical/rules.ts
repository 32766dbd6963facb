/**
 * Rules for the sites of a grid as text: one per line, or separated by semicolons.
 *
 *   (1, 3) = 7                     a site has a class; places are counted from 1
 *   rows different                 no class twice in any row; also columns, and boxes 3x3
 *   (1:3, 1:3) different           no class twice among these sites
 *   sum (1, *) = 15                the sum of the classes; also <, <=, >=, >
 *   count 7 in all >= 2            how many sites have a class
 *   # …                            a comment
 *
 * Sites are (place along each axis), where a place is a number, a range 2:4, or * for all; `all`;
 * or several of these joined by +. Every rule except the first is a bound on a sum over sites of
 * values of their classes (`site-sums.ts`): "different" bounds the count of every class by 1.
 */
import { fail, type Shape, sizeOf } from "../graph/index.ts";
import { type ClassArray, classArray, requireClasses } from "./class-array.ts";
import { boxesOf, type Groups, linesOf } from "./groups.ts";
import type { GroupSum } from "./site-sums.ts";

/** A rule other than the class of a site. */
export interface GridCondition {
  /** The rule as it was written. */
  readonly text: string;
  /** Bounds on sums. The rule holds if all are met. */
  readonly sums: readonly GroupSum[];
}

/** Rules for the grids of a model: what is known, and conditions on the rest. */
export interface GridRules {
  /** The class of every site; the number of classes where it is not known. */
  readonly known: ClassArray;
  readonly conditions: readonly GridCondition[];
}

/** Options of `parseRules`. */
export interface RuleOptions {
  /** The sizes of the grid. */
  readonly grid: Shape;
  /**
   * Names of the classes, in their order. Sums use the numbers that the names state. Default 0, 1,
   * 2, …, as many as `classes`.
   */
  readonly symbols?: readonly string[];
  /** The number of classes, if `symbols` is not given. */
  readonly classes?: number;
}

interface Context {
  readonly grid: Shape;
  readonly symbols: readonly string[];
  /** The line of the rule, for errors. */
  readonly line: number;
  readonly text: string;
}

const REMEDY =
  'write a rule such as "(1, 3) = 7", "rows different", "sum (1, *) = 15" or "count 7 in all >= 2"';

const refuse = ({ line, text }: Context, what: string, remedy = REMEDY): never =>
  fail("usage", `rules, line ${line}, "${text}": ${what}`, remedy);

/** Parses places along an axis of `size` sites, from 0. */
function placesOf(part: string, size: number, at: Context): number[] {
  if (part === "*") return Array.from({ length: size }, (_, i) => i);
  const [, first, last = first] = /^(\d+)(?::(\d+))?$/.exec(part) ?? [];
  const [from, to] = [Number(first), Number(last)];
  if (!(from >= 1 && to <= size && from <= to))
    refuse(at, `"${part}" is not a place along ${size} sites`, `use 1 to ${size}, 2:4, or *`);
  return Array.from({ length: to - from + 1 }, (_, i) => from - 1 + i);
}

/** Parses one set of sites: `all`, or a place along each axis. */
function blockOf(text: string, at: Context): number[] {
  const { grid } = at;
  if (text === "all") return Array.from({ length: sizeOf(grid) }, (_, s) => s);
  const [, inside] = /^\(([^()]*)\)$/.exec(text) ?? [];
  if (inside === undefined) refuse(at, `"${text}" is not a set of sites`);
  const parts = inside.split(",").map((part) => part.trim());
  if (parts.length !== grid.length)
    refuse(at, `"${text}" has ${parts.length} places`, `give ${grid.length}, one per axis`);
  return parts.reduce<number[]>(
    (sites, part, axis) =>
      sites.flatMap((s) => placesOf(part, grid[axis], at).map((p) => s * grid[axis] + p)),
    [0],
  );
}

/** Parses sets of sites joined by +. Each site occurs once. */
function sitesOf(text: string, at: Context): number[] {
  const sites = text.split("+").flatMap((part) => blockOf(part.trim(), at));
  return [...new Set(sites)];
}

/** The groups that a rule applies to: rows, columns, boxes, or one set of sites. */
function groupsOf(text: string, at: Context): Groups {
  const { grid } = at;
  const box = /^boxes\s+(\d+(?:x\d+)*)$/.exec(text);
  if (box) return boxesOf(grid, box[1].split("x").map(Number));
  if (text !== "rows" && text !== "columns") return [sitesOf(text, at)];
  if (grid.length !== 2)
    refuse(at, `a grid of ${grid.length} axes has no ${text}`, "name sites, such as (1, *)");
  return linesOf(grid)[text === "columns" ? 0 : 1];
}

function classOf(symbol: string, at: Context): number {
  const k = at.symbols.indexOf(symbol);
  if (k < 0) refuse(at, `unknown class "${symbol}"`, `use one of ${at.symbols.join(", ")}`);
  return k;
}

/** The bounds that a relation and a number express. */
function boundsOf(relation: string, number: number): Pick<GroupSum, "least" | "most"> {
  if (relation === "<" || relation === "<=")
    return { most: relation === "<" ? number - 1 : number };
  if (relation === ">" || relation === ">=")
    return { least: relation === ">" ? number + 1 : number };
  return { least: number, most: number };
}

/** Throws if no grid can have the sum. */
function possible(sum: GroupSum, at: Context): GroupSum {
  const { sites, values, least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY } = sum;
  const [low, high] = [Math.min, Math.max].map((of) => sites.length * of(...values));
  if (least > high || most < low)
    refuse(at, "no grid meets it", `these sites can sum to ${low} to ${high}`);
  return sum;
}

/** No class twice; with as many sites as classes, every class exactly once. */
function different(group: readonly number[], at: Context): GroupSum[] {
  const classes = at.symbols.length;
  if (group.length > classes)
    refuse(at, `${group.length} sites cannot differ in ${classes} classes`, "name fewer sites");
  return at.symbols.map((_, own) => ({
    sites: group,
    values: at.symbols.map((_, k) => (k === own ? 1 : 0)),
    most: 1,
    ...(group.length === classes && { least: 1 }),
  }));
}

/** The sums that a rule bounds; undefined if the rule is not about sums. */
function sumsOf(at: Context): GroupSum[] | undefined {
  const { text, symbols } = at;
  const [, alike] = /^(.*?)\s+different$/.exec(text) ?? [];
  if (alike !== undefined) return groupsOf(alike, at).flatMap((group) => different(group, at));
  const [, what, where, relation, number] =
    /^(sum|count\s+\S+\s+in)\s+(.+?)\s*(<=|>=|=|<|>)\s*(-?\d+)$/.exec(text) ?? [];
  if (what === undefined) return undefined;
  const own = what === "sum" ? undefined : classOf(what.split(/\s+/)[1], at);
  const values = symbols.map((name, k) => (own === undefined ? Number(name) : k === own ? 1 : 0));
  if (!values.every(Number.isSafeInteger))
    refuse(at, `the classes ${symbols.join(", ")} are not all integers`, "count classes instead");
  return groupsOf(where, at).map((sites) =>
    possible({ sites, values, ...boundsOf(relation, Number(number)) }, at),
  );
}

/** Sets the class of a known site. */
function setKnown(known: ClassArray, at: Context): void {
  const { text, symbols } = at;
  const [, where, symbol] = /^(.+?)\s*=\s*(\S+)$/.exec(text) ?? [];
  if (where === undefined) refuse(at, "it is not a rule");
  const k = classOf(symbol, at);
  for (const site of sitesOf(where, at)) {
    if (known[site] !== symbols.length && known[site] !== k)
      refuse(
        at,
        `a previous rule sets the site to ${symbols[known[site]]}`,
        "leave one of them out",
      );
    known[site] = k;
  }
}

/**
 * Parses rules.
 *
 * @throws DiffeoError of kind `usage`, with the line, for text that is not a rule or that no grid
 * can meet
 * @example
 * import { parseRules } from "diffeo/categorical";
 *
 * const rules = parseRules("rows different; columns different; (1, 1) = 2; sum (1:2, 1:2) <= 6", {
 *   grid: [4, 4],
 *   symbols: ["1", "2", "3", "4"],
 * });
 */
export function parseRules(text: string, { grid, symbols, classes }: RuleOptions): GridRules {
  const names = symbols ?? Array.from({ length: classes ?? 0 }, (_, k) => String(k));
  if (names.length < 2)
    fail("usage", "rules: the classes are not known", "give `symbols`, or `classes` of at least 2");
  requireClasses(names.length);
  const known = classArray(sizeOf(grid), names.length).fill(names.length);
  const conditions: GridCondition[] = [];
  for (const [i, line] of text.split("\n").entries())
    for (const part of line.replace(/#.*$/, "").split(";")) {
      const at: Context = { grid, symbols: names, line: i + 1, text: part.trim() };
      if (at.text === "") continue;
      const sums = sumsOf(at);
      if (sums) conditions.push({ text: at.text, sums });
      else setKnown(known, at);
    }
  return { known, conditions };
}

/** Whether a grid meets a condition. */
export const meets = (grid: ArrayLike<number>, { sums }: GridCondition): boolean =>
  sums.every(({ sites, values, least = -Infinity, most = Infinity }) => {
    const total = sites.reduce((sum, site) => sum + values[grid[site]], 0);
    return total >= least && total <= most;
  });
