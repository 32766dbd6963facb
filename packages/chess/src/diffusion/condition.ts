/**
 * Conditions on a board in words:
 *
 *   legal           no flaw of legality.ts
 *   Q   q=1   P>=6  how many pieces of a kind, white's in capitals; a letter alone means one or more
 *   pieces<=20      all of them; white and black: one side's
 *   balance>0       material, P1 N3 B3 R5 Q9, white minus black
 *
 * Boards that do not meet them are rejected and others drawn: what remains has the model's law given the conditions. All but
 * legality and != are bounds on a sum over squares, and so can guide the process (`siteSum` of diffeo/categorical).
 */
import type { SiteSum } from "diffeo/categorical";
import { fail } from "diffeo/graph";
import { isLegal } from "../board/legality.ts";
import { WORTH } from "../board/material.ts";
import { type Board, CLASSES, EMPTY, PIECES } from "../board/position.ts";

export interface BoardCondition {
  readonly text: string;
  readonly holds: (board: Board) => boolean;
  /** The same as bounds on a sum over squares, where it is that. */
  readonly sum?: SiteSum;
}

/** What a square adds to a subject, by its class. */
const counting = (of: (k: number) => boolean): number[] => Array.from({ length: CLASSES }, (_, k) => (of(k) ? 1 : 0));

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

export function parseCondition(text: string): BoardCondition {
  if (text.trim() === "legal") return { text, holds: isLegal };
  const [, name, relation = "", number = ""] = /^\s*([A-Za-z]+)\s*(?:([=!<>]+)\s*(-?\d+)\s*)?$/.exec(text) ?? [];
  const values = Object.hasOwn(SUBJECTS, name ?? "") ? SUBJECTS[name] : undefined;
  const remedy = `write legal, a piece (${PIECES}) or pieces, white, black, balance with =, !=, <, >, <= or >= and a number, such as Q, q=1, pieces<=20`;
  if (!values) fail("usage", `${JSON.stringify(text)} is no condition on a board`, remedy);
  if (relation === "" && name.length > 1)
    fail("usage", `the condition ${JSON.stringify(text)} compares ${name} with nothing`, remedy);
  const total = (board: Board): number => board.reduce((sum, k) => sum + values[k], 0);
  if (relation === "") return { text, holds: (board) => total(board) >= 1, sum: { values, least: 1 } };
  const found = Object.hasOwn(RELATIONS, relation) ? RELATIONS[relation] : undefined;
  if (!found) fail("usage", `the condition ${JSON.stringify(text)} has ${JSON.stringify(relation)} in it`, remedy);
  const { holds, bounds } = found;
  const wanted = Number(number);
  return {
    text,
    holds: (board) => holds(total(board), wanted),
    ...(bounds && { sum: { values, ...bounds(wanted) } }),
  };
}

/** The sum that a condition bounds, to guide by it. */
export function guidingSum({ text, sum }: BoardCondition): SiteSum {
  return (
    sum ??
    fail(
      "usage",
      `nothing leads to ${JSON.stringify(text)}: it is no bound on a sum over squares`,
      "guide by pieces, white, black, balance or a piece with =, <, >, <= or >=; reject boards for the rest",
    )
  );
}
