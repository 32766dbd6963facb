/**
 * PGN: games are cut out of the stream one at a time, replayed by chess.js, and sampled by ply. A game's number is a hash
 * of its moves, so the same game found twice is one game, and a split by game keeps it on one side.
 */
import { Chess } from "chess.js";
import { choice, fold, type Key } from "../random/index.ts";
import { parseFen, sideOf } from "./fen.ts";
import type { Walk } from "./formats.ts";
import { hashWords } from "./set.ts";

export interface PgnOptions {
  /** The first ply to take; 0 is the position before the first move. Default 1. */
  readonly fromPly?: number;
  /** How many plies of a game to take, at random; default all. */
  readonly perGame?: number;
  /** Which plies are drawn. */
  readonly key: Key;
}

export const walkPgn =
  (options: PgnOptions): Walk =>
  async (batches, sink) => {
    let game: string[] = [];
    let start = 1;
    let hasMoves = false;
    let inComment = false;
    let index = 0;
    const finish = (): void => {
      if (game.some((line) => line.trim() !== "")) replay(game, start, index++, options, sink);
      game = [];
      hasMoves = false;
    };
    for await (const { first, lines } of batches)
      for (let i = 0; i < lines.length; i++) {
        if (sink.full) return;
        const line = lines[i];
        // A tag after moves begins the next game; inside a comment, [%clk …] may begin a line too.
        const isTag = !inComment && line.startsWith("[");
        if (isTag && hasMoves) finish();
        if (game.length === 0) start = first + i;
        game.push(line.startsWith("%") ? "" : line);
        if (isTag || line.trim() === "") continue;
        hasMoves = true;
        inComment = line.lastIndexOf("{") > line.lastIndexOf("}") || (inComment && !line.includes("}"));
      }
    finish();
  };

function replay(
  lines: readonly string[],
  start: number,
  index: number,
  options: PgnOptions,
  sink: Parameters<Walk>[1],
): void {
  const chess = new Chess();
  try {
    chess.loadPgn(lines.join("\n"));
  } catch (error) {
    sink.bad(...explain(error, lines, start));
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

/** chess.js names the move it cannot play, or the place where the text is no PGN. */
function explain(error: unknown, lines: readonly string[], start: number): Parameters<Parameters<Walk>[1]["bad"]> {
  const { message, location } = error as Error & { location?: { start: { line: number; column: number } } };
  const remedy = "correct the game";
  const move = /^Invalid move in PGN: (\S+)$/.exec(message)?.[1];
  if (move) {
    const row = lines.findIndex((line) => !line.startsWith("[") && tokenAt(line, move) >= 0);
    const cause = `the move ${move} cannot be played in the game that begins on line ${start}`;
    return [
      start + Math.max(row, 0),
      { column: Math.max(tokenAt(lines[Math.max(row, 0)], move), 0) + 1, cause, remedy },
    ];
  }
  const { line = 1, column = 1 } = location?.start ?? {};
  return [
    start + line - 1,
    { column, cause: `the game that begins on line ${start} is no PGN: ${message.replace(/\.$/, "")}`, remedy },
  ];
}

/** Where a line has the move as a word of its own: after a blank or a move number's dot. */
function tokenAt(line: string, move: string): number {
  for (let at = line.indexOf(move); at >= 0; at = line.indexOf(move, at + 1))
    if (!/[^\s.]/.test(line.charAt(at - 1)) && !/[\w=]/.test(line.charAt(at + move.length))) return at;
  return -1;
}

function hashOf(text: string): number {
  const words = Uint32Array.from({ length: text.length }, (_, i) => text.charCodeAt(i));
  return hashWords(words, 0, 0, words.length);
}
