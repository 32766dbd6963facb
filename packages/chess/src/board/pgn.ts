/**
 * PGN: games are read from the stream one at a time, replayed by chess.js, and sampled by ply. A
 * game's number is a hash of its moves, so a duplicate has the same number and a split by game
 * keeps both on one side.
 */
import { Chess } from "chess.js";
import { choice, fold, type Key } from "diffeo/random";
import { parseFen, sideOf, type TextProblem } from "./fen.ts";
import type { LineWalk } from "./formats.ts";
import { hashWords } from "./set.ts";

export interface PgnOptions {
  /** The first ply to take; 0 is the position before the first move. Default 1. */
  readonly fromPly?: number;
  /** How many random plies to take per game. Default all. */
  readonly perGame?: number;
  /** The stream that chooses the plies. */
  readonly key: Key;
}

export const walkPgn =
  (options: PgnOptions): LineWalk =>
  async (batches, sink) => {
    let game: string[] = [];
    let start = 1;
    let hasMoves = false;
    /** Where the open comment began. */
    let comment: { readonly line: number; readonly column: number } | undefined;
    let index = 0;
    const finish = (): void => {
      if (game.some((line) => line.trim() !== "")) {
        if (comment) sink.bad(comment.line, unclosedComment(comment.column, start));
        else replay(game, start, index, options, sink);
        index++;
      }
      game = [];
      hasMoves = false;
      comment = undefined;
    };
    for await (const { first, lines } of batches)
      for (let i = 0; i < lines.length; i++) {
        if (sink.full) return;
        const line = lines[i].startsWith("%") ? "" : lines[i];
        // A tag after moves begins the next game; inside a comment, [%clk …] may begin a line too,
        // but not the first tag.
        const isTag = line.startsWith(comment ? '[Event "' : "[");
        if (isTag && hasMoves) finish();
        if (game.length === 0) start = first + i;
        if (!isTag && line.trim() !== "") hasMoves = true;
        const { text, open } = isTag
          ? { text: line, open: 0 }
          : withoutComments(line, comment !== undefined);
        game.push(text);
        if (open === 0) comment = undefined;
        else if (open > 0) comment = { line: first + i, column: open };
      }
    finish();
  };

/**
 * A line with its comments replaced by spaces, so that the rest keeps its columns.
 * @param inside whether the line begins within a comment
 * @returns the text, and the column of a comment that stays open: 0 for none, −1 for the one that
 * was open before
 */
function withoutComments(
  line: string,
  inside: boolean,
): { readonly text: string; readonly open: number } {
  let open = 0;
  const text = `${inside ? "{" : " "}${line}`.replaceAll(
    /\{[^}]*\}?|;.*/g,
    (comment, at: number) => {
      if (comment.startsWith("{") && !comment.endsWith("}")) open = at || -1;
      return " ".repeat(comment.length);
    },
  );
  return { text: text.slice(1), open };
}

const unclosedComment = (column: number, start: number): TextProblem => ({
  column,
  cause: `a comment is not closed in the game that begins on line ${start}`,
  remedy: "close it with }",
});

function replay(
  lines: readonly string[],
  start: number,
  index: number,
  options: PgnOptions,
  sink: Parameters<LineWalk>[1],
): void {
  const chess = new Chess();
  try {
    chess.loadPgn(lines.join("\n"));
  } catch (error) {
    sink.bad(...explain(error, lines, start, chess.history().length));
    return;
  }
  const moves = chess.history({ verbose: true });
  const from = options.fromPly ?? 1;
  // fens[ply − from], the positions that may be taken
  const fens = [moves[0]?.before ?? chess.fen(), ...moves.map((m) => m.after)].slice(from);
  const number = hashOf(moves.map((m) => m.lan).join(" "));
  const { perGame = fens.length, key } = options;
  const plies =
    perGame < fens.length
      ? choice(fold(key, index), fens.length, perGame, { replace: false }).data.sort()
      : fens.map((_, ply) => ply);
  for (const ply of plies) sink.row(parseFen(fens[ply]), sideOf(fens[ply]), number);
}

/** Variant tags that mean standard chess; other games are not replayed. */
const STANDARD = /^(standard|chess|normal|from position)?$/i;

/**
 * Explains an error of chess.js, which names the move that it cannot play after `played` others, or
 * the place where the text is not PGN.
 */
function explain(
  error: unknown,
  lines: readonly string[],
  start: number,
  played: number,
): Parameters<Parameters<LineWalk>[1]["bad"]> {
  const { message, location } = error as Error & {
    location?: { start: { line: number; column: number } };
  };
  const game = `the game that begins on line ${start}`;
  const row = lines.findIndex((line) => /^\[Variant "/i.test(line));
  const variant = lines[row]?.split('"')[1] ?? "";
  if (!STANDARD.test(variant))
    return [
      start + row,
      {
        column: 1,
        cause: `${game} is ${variant}, which cannot be replayed`,
        remedy: "leave it out, or give its FENs",
      },
    ];
  const remedy = "correct the game";
  const move = /^Invalid move in PGN: (\S+)$/.exec(message)?.[1];
  if (move) {
    const [line, column] = placeOf(lines, played);
    return [
      start + line,
      { column, cause: `the move ${move} cannot be played in ${game}`, remedy },
    ];
  }
  const { line = 1, column = 1 } = location?.start ?? {};
  return [
    start + line - 1,
    { column, cause: `${game} is not PGN: ${message.replace(/\.$/, "")}`, remedy },
  ];
}

/** A parenthesis or a move, as chess.js tokenises them. */
const WORD = /[()]|[O0]-[O0](?:-[O0])?|[a-z][a-z1-8=-]+/gi;

/** Line, from 0, and column of the move that comes after `played` others, variations aside. */
function placeOf(lines: readonly string[], played: number): [line: number, column: number] {
  let depth = 0;
  let moves = 0;
  for (const [i, line] of lines.entries())
    for (const { 0: word, index } of line.startsWith("[") ? [] : line.matchAll(WORD))
      if (word === "(") depth++;
      else if (word === ")") depth--;
      else if (depth === 0 && moves++ === played) return [i, index + 1];
  return [0, 1];
}

function hashOf(text: string): number {
  const words = Uint32Array.from({ length: text.length }, (_, i) => text.charCodeAt(i));
  return hashWords(words, 0, 0, words.length);
}
