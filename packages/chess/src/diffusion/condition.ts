/**
 * Conditions on a board as text:
 *
 *   legal           strictly legal (legality.ts)
 *   Q   q=1   P>=6  number of pieces of a kind, white's in capitals; a letter alone: one or more
 *   pieces<=20      number of all pieces; `white` and `black` count one side
 *   balance>0       material, P1 N3 B3 R5 Q9, white minus black
 *
 * Boards that do not meet them are rejected, so the rest follows the model's distribution given the
 * conditions. All conditions except `legal` and != are bounds on a sum over squares, and can guide
 * the process (`siteSum` of diffeo/categorical).
 */
import { type SiteSum, siteSum } from "diffeo/categorical";
import { add, fail, mul, type Tensor } from "diffeo/graph";
import { isLegal } from "../board/legality.ts";
import { WORTH } from "../board/material.ts";
import { type Board, CLASSES, EMPTY, PIECES, SQUARES } from "../board/position.ts";

/**
 * A condition on a board, such as `pieces<=20` or `legal`. `parseCondition` makes one from its
 * text.
 */
export interface BoardCondition {
  readonly text: string;
  readonly holds: (board: Board) => boolean;
  /** The condition as bounds on a sum over squares, if it is one. */
  readonly sum?: GuidingSum;
}

/** Bounds on a sum over squares, and what is summed, by name. */
interface GuidingSum extends SiteSum {
  readonly subject: string;
}

/** The contribution of a square to a subject, by its class. */
const counting = (of: (k: number) => boolean): number[] =>
  Array.from({ length: CLASSES }, (_, k) => (of(k) ? 1 : 0));

const SUBJECTS: Readonly<Record<string, readonly number[]>> = {
  pieces: counting((k) => k < EMPTY),
  white: counting((k) => k < 6),
  black: counting((k) => k >= 6 && k < EMPTY),
  balance: WORTH,
  ...Object.fromEntries([...PIECES].map((piece, own) => [piece, counting((k) => k === own)])),
};

type Bounds = Pick<SiteSum, "least" | "most">;

const RELATIONS: Readonly<
  Record<string, { holds: (a: number, b: number) => boolean; bounds?: (b: number) => Bounds }>
> = {
  "=": { holds: (a, b) => a === b, bounds: (b) => ({ least: b, most: b }) },
  "!=": { holds: (a, b) => a !== b },
  "<": { holds: (a, b) => a < b, bounds: (b) => ({ most: b - 1 }) },
  ">": { holds: (a, b) => a > b, bounds: (b) => ({ least: b + 1 }) },
  "<=": { holds: (a, b) => a <= b, bounds: (b) => ({ most: b }) },
  ">=": { holds: (a, b) => a >= b, bounds: (b) => ({ least: b }) },
};

/**
 * A condition from its text, such as `legal`, `Q=0`, `pieces<=20` or `balance>=3`.
 *
 * @throws DiffeoError of kind `usage` if the text is not a condition
 */
export function parseCondition(text: string): BoardCondition {
  if (text.trim() === "legal") return { text, holds: isLegal };
  const [, name, relation = "", number = ""] =
    /^\s*([A-Za-z]+)\s*(?:([=!<>]+)\s*(-?\d+)\s*)?$/.exec(text) ?? [];
  const values = Object.hasOwn(SUBJECTS, name ?? "") ? SUBJECTS[name] : undefined;
  const remedy = [
    `write legal, a piece (${PIECES}) or pieces, white, black, balance `,
    "with =, !=, <, >, <= or >= and a number, such as Q, q=1, pieces<=20",
  ].join("");
  if (!values) fail("usage", `${JSON.stringify(text)} is not a condition on a board`, remedy);
  if (relation === "" && name.length > 1)
    fail(
      "usage",
      `the condition ${JSON.stringify(text)} does not compare ${name} with a number`,
      remedy,
    );
  const total = (board: Board): number => board.reduce((sum, k) => sum + values[k], 0);
  if (relation === "")
    return { text, holds: (board) => total(board) >= 1, sum: { subject: name, values, least: 1 } };
  const found = Object.hasOwn(RELATIONS, relation) ? RELATIONS[relation] : undefined;
  if (!found)
    fail(
      "usage",
      `the condition ${JSON.stringify(text)} contains ${JSON.stringify(relation)}`,
      remedy,
    );
  const { holds, bounds } = found;
  const wanted = Number(number);
  return {
    text,
    holds: (board) => holds(total(board), wanted),
    ...(bounds && { sum: { subject: name, values, ...bounds(wanted) } }),
  };
}

/**
 * Throws if no board can meet the conditions: a sum that 64 squares cannot reach, or contradictory
 * bounds.
 */
export function requirePossible(conditions: readonly BoardCondition[]): void {
  const bounds = new Map<string, { least: number; most: number; texts: string[] }>();
  for (const { text, sum } of conditions) {
    if (!sum) continue;
    const range = {
      least: SQUARES * Math.min(...sum.values),
      most: SQUARES * Math.max(...sum.values),
    };
    const before = bounds.get(sum.subject) ?? { ...range, texts: [] };
    const least = Math.max(before.least, sum.least ?? range.least);
    const most = Math.min(before.most, sum.most ?? range.most);
    const texts = [...before.texts, text];
    if (least > most)
      fail(
        "usage",
        `no board has ${texts.join(" and ")}`,
        `set ${sum.subject} from ${range.least} to ${range.most}, without contradictions`,
      );
    bounds.set(sum.subject, { least, most, texts });
  }
}

/** The sum that a condition bounds, for guidance. */
export function guidingSum({ text, sum }: BoardCondition): GuidingSum {
  return (
    sum ??
    fail(
      "usage",
      `${JSON.stringify(text)} cannot guide: it is not a bound on a sum over squares`,
      "guide by pieces, white, black, balance or a piece with =, <, >, <= or >=; use rejection " +
        "otherwise",
    )
  );
}

/**
 * Conditions as a sampler's `aims`: names say which sums are bounded, numbers give the bounds and
 * the strength.
 */
export function aimsOf(
  conditions: readonly BoardCondition[],
  strength = 1,
): Readonly<Record<string, number>> {
  requirePossible(conditions);
  const bounds = conditions
    .map(guidingSum)
    .flatMap(({ subject, least, most }, i) => [
      ...(least === undefined ? [] : [[`${i} ${subject} least`, least] as const]),
      ...(most === undefined ? [] : [[`${i} ${subject} most`, most] as const]),
    ]);
  return bounds.length === 0 ? {} : { ...Object.fromEntries(bounds), strength };
}

/** log ψ of such aims, from log p(k | x_t) of all classes of every square: a sampler's `aim`. */
export function boardAim(
  logPosterior: Tensor,
  { strength, ...bounds }: Readonly<Record<string, Tensor>>,
): Tensor {
  const sums = new Map<string, SiteSum<Tensor>>();
  for (const [name, bound] of Object.entries(bounds)) {
    const [i, subject, side] = name.split(" ");
    const before = sums.get(i) ?? { values: SUBJECTS[subject] };
    sums.set(i, { ...before, [side]: bound });
  }
  return mul(
    [...sums.values()].map((sum) => siteSum(logPosterior, sum)).reduce((a, b) => add(a, b)),
    strength,
  );
}
