/**
 * Conditions on a board in words:
 *
 *   legal           no flaw of legality.ts
 *   Q   q=1   P>=6  how many pieces of a kind, white's in capitals; a letter alone means one or more
 *   pieces<=20      all of them; white and black: one side's
 *   balance>0       material, P1 N3 B3 R5 Q9, white minus black
 *
 * Boards that do not meet them are rejected and others drawn: what remains has the model's law given the conditions.
 */
import { fail } from "diffeo/graph";
import { isLegal } from "../board/legality.ts";
import { balanceOf } from "../board/material.ts";
import { type Board, EMPTY, PIECES } from "../board/position.ts";

export interface BoardCondition {
  readonly text: string;
  readonly holds: (board: Board) => boolean;
}

const count = (board: Board, of: (k: number) => boolean): number => board.reduce((n, k) => n + (of(k) ? 1 : 0), 0);

const SUBJECTS: Readonly<Record<string, (board: Board) => number>> = {
  pieces: (board) => count(board, (k) => k < EMPTY),
  white: (board) => count(board, (k) => k < 6),
  black: (board) => count(board, (k) => k >= 6 && k < EMPTY),
  balance: balanceOf,
  ...Object.fromEntries([...PIECES].map((piece, own) => [piece, (board: Board) => count(board, (k) => k === own)])),
};

const RELATIONS: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  "=": (a, b) => a === b,
  "!=": (a, b) => a !== b,
  "<": (a, b) => a < b,
  ">": (a, b) => a > b,
  "<=": (a, b) => a <= b,
  ">=": (a, b) => a >= b,
};

export function parseCondition(text: string): BoardCondition {
  if (text.trim() === "legal") return { text, holds: isLegal };
  const [, name, relation = "", number = ""] = /^\s*([A-Za-z]+)\s*(?:([=!<>]+)\s*(-?\d+)\s*)?$/.exec(text) ?? [];
  const subject = Object.hasOwn(SUBJECTS, name ?? "") ? SUBJECTS[name] : undefined;
  const remedy = `write legal, a piece (${PIECES}) or pieces, white, black, balance with =, !=, <, >, <= or >= and a number, such as Q, q=1, pieces<=20`;
  if (!subject) fail("usage", `${JSON.stringify(text)} is no condition on a board`, remedy);
  if (relation === "" && name.length > 1)
    fail("usage", `the condition ${JSON.stringify(text)} compares ${name} with nothing`, remedy);
  if (relation === "") return { text, holds: (board) => subject(board) >= 1 };
  const holds = Object.hasOwn(RELATIONS, relation) ? RELATIONS[relation] : undefined;
  if (!holds) fail("usage", `the condition ${JSON.stringify(text)} has ${JSON.stringify(relation)} in it`, remedy);
  return { text, holds: (board) => holds(subject(board), Number(number)) };
}
