/**
 * Positions of random games, so that everything runs without a download. A move m has probability
 *
 *   P(m) ∝ exp(α·[m captures] − β·√|balance after m|),   balance in pawns (P1 N3 B3 R5 Q9)
 *
 * α favours captures, which spreads the number of pieces from the full board to bare endgames.
 * Without β, random captures drive the material of the two sides apart; β favours recaptures.
 */
import { choice, fold, type Key, uniform } from "diffeo/random";
import { PAWN, QUEEN } from "./attack.ts";
import { parseFen } from "./fen.ts";
import { balanceOf, WORTH } from "./material.ts";
import { legalMoves, MOST_MOVES, type Move, make, promotes, toOf } from "./moves.ts";
import { type Board, EMPTY, type Positions } from "./position.ts";
import { PositionSet } from "./set.ts";

/** Options of random games. */
export interface PlayoutOptions {
  /** α, the preference for captures. Default 2.3. */
  readonly capture?: number;
  /** β, the preference for an even balance. Default 2. */
  readonly balance?: number;
  /** The longest game, in plies. Default 120. */
  readonly plies?: number;
  /** How many positions to keep per game. Default 8. */
  readonly perGame?: number;
}

const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";

/** `count` distinct positions. The first positions do not depend on `count`. */
export function playouts(count: number, key: Key, options: PlayoutOptions = {}): Positions {
  const { plies = 120, perGame = 8 } = options;
  const set = new PositionSet();
  for (let game = 0; set.count < count; game++) {
    const own = fold(key, game);
    const kept = new Set(
      choice(fold(own, "kept"), plies, Math.min(perGame, plies), { replace: false }).data,
    );
    const last = Math.max(...kept);
    const draws = uniform(fold(own, "moves"), plies, { dtype: "float64" }).data;
    const board = parseFen(START);
    for (let ply = 0; ply <= last && set.count < count; ply++) {
      const move = drawMove(board, ply % 2 === 0, draws[ply], options);
      if (move === undefined) break;
      make(board, move);
      if (kept.has(ply)) set.add(board);
    }
  }
  return set.positions();
}

/** The move at quantile u, 0 < u < 1, of the distribution; undefined if the game is over. */
export function drawMove(
  board: Board,
  white: boolean,
  u: number,
  options: PlayoutOptions = {},
): Move | undefined {
  const { capture = 2.3, balance: even = 2 } = options;
  const moves = new Uint16Array(MOST_MOVES);
  const count = legalMoves(board, white, moves);
  if (count === 0) return undefined;
  const lead = white ? balanceOf(board) : -balanceOf(board);
  const weight = (taken: number, crowned: boolean): number => {
    const after = lead + Math.abs(WORTH[taken]) + (crowned ? WORTH[QUEEN] - WORTH[PAWN] : 0);
    return Math.exp((taken === EMPTY ? 0 : capture) - even * Math.sqrt(Math.abs(after)));
  };
  // Most moves neither capture nor promote; they all have the same weight.
  const quiet = weight(EMPTY, false);
  const cumulative = new Float64Array(count);
  let total = 0;
  for (let i = 0; i < count; i++) {
    const taken = board[toOf(moves[i])];
    const crowned = promotes(board, moves[i]);
    total += taken === EMPTY && !crowned ? quiet : weight(taken, crowned);
    cumulative[i] = total;
  }
  let i = 0;
  while (i < count - 1 && cumulative[i] <= u * total) i++;
  return moves[i];
}
