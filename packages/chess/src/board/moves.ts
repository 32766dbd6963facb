/**
 * Legal moves on a board, without castling and en passant; every promotion is to a queen. A game
 * without castling and en passant is a legal game, so the positions of playouts (playout.ts) are
 * reachable.
 */
import {
  BISHOP,
  isAttacked,
  KING,
  KING_MOVES,
  KNIGHT,
  KNIGHT_MOVES,
  PAWN,
  PAWN_CAPTURES,
  QUEEN,
  RAYS,
  ROOK,
  sideBase,
} from "./attack.ts";
import { type Board, EMPTY } from "./position.ts";

/** A move: from + 64·to. */
export type Move = number;
export const fromOf = (move: Move): number => move & 63;
export const toOf = (move: Move): number => move >> 6;

/** An upper bound: no position has more than 218 moves. */
export const MOST_MOVES = 256;

/** Whether a move takes a pawn to the last rank. */
export const promotes = (board: Board, move: Move): boolean =>
  (toOf(move) < 8 || toOf(move) >= 56) && board[fromOf(move)] % 6 === PAWN;

/**
 * Makes a move and returns the class it captured (`EMPTY` if none) and whether a pawn became a
 * queen, for `undo`.
 */
export function make(board: Board, move: Move): number {
  const from = fromOf(move);
  const to = toOf(move);
  const captured = board[to];
  const moved = board[from];
  const crowned = promotes(board, move);
  board[to] = crowned ? moved + QUEEN : moved;
  board[from] = EMPTY;
  return captured + (crowned ? 16 : 0);
}

/** Takes back a move; `made` is what `make` returned. */
export function undo(board: Board, move: Move, made: number): void {
  const to = toOf(move);
  board[fromOf(move)] = made & 16 ? board[to] - QUEEN : board[to];
  board[to] = made & 15;
}

/**
 * Writes the legal moves into `out` and returns how many there are.
 *
 * A move of a piece other than the king exposes the king only if the piece was pinned, because
 * every other attack existed before. So only moves of the king, of pinned pieces and out of check
 * have to be tried.
 */
export function legalMoves(board: Board, white: boolean, out: Uint16Array): number {
  const base = sideBase(white);
  const king = board.indexOf(base + KING);
  const count = pseudoLegalMoves(board, white, out);
  const checked = isAttacked(board, king, !white);
  const pins = checked ? [] : pinned(board, king, white);
  let legal = 0;
  for (let i = 0; i < count; i++) {
    const from = fromOf(out[i]);
    if (!checked && from !== king && !pins.includes(from)) {
      out[legal++] = out[i];
      continue;
    }
    const made = make(board, out[i]);
    const safe = !isAttacked(board, from === king ? toOf(out[i]) : king, !white);
    undo(board, out[i], made);
    if (safe) out[legal++] = out[i];
  }
  return legal;
}

/** Squares of own pieces that alone block an attack on the king. */
function pinned(board: Board, king: number, white: boolean): number[] {
  const own = sideBase(white);
  const other = sideBase(!white);
  const squares: number[] = [];
  for (let d = 0; d < 8; d++) {
    const ray = RAYS[d][king];
    const slider = other + (d < 4 ? ROOK : BISHOP);
    let shield = -1;
    for (let i = 0; i < ray.length; i++) {
      const k = board[ray[i]];
      if (k === EMPTY) continue;
      if (shield < 0 && k >= own && k < own + 6) {
        shield = ray[i];
        continue;
      }
      if (shield >= 0 && (k === slider || k === other + QUEEN)) squares.push(shield);
      break;
    }
  }
  return squares;
}

/** Moves that may leave the own king in check. */
function pseudoLegalMoves(board: Board, white: boolean, out: Uint16Array): number {
  const base = sideBase(white);
  const isOwn = (k: number): boolean => k >= base && k < base + 6;
  let count = 0;
  const add = (from: number, to: number): void => {
    out[count++] = from | (to << 6);
  };
  for (let from = 0; from < 64; from++) {
    if (!isOwn(board[from])) continue;
    const piece = board[from] - base;
    if (piece === PAWN) {
      const ahead = white ? -8 : 8;
      if (board[from + ahead] === EMPTY) {
        add(from, from + ahead);
        if (from >> 3 === (white ? 6 : 1) && board[from + 2 * ahead] === EMPTY)
          add(from, from + 2 * ahead);
      }
      const captures = (white ? PAWN_CAPTURES.white : PAWN_CAPTURES.black)[from];
      for (let i = 0; i < captures.length; i++)
        if (board[captures[i]] !== EMPTY && !isOwn(board[captures[i]])) add(from, captures[i]);
      continue;
    }
    if (piece === KING || piece === KNIGHT) {
      const steps = (piece === KING ? KING_MOVES : KNIGHT_MOVES)[from];
      for (let i = 0; i < steps.length; i++) if (!isOwn(board[steps[i]])) add(from, steps[i]);
      continue;
    }
    // A rook goes along rays 0 to 3, a bishop along 4 to 7, a queen along all.
    for (let d = piece === BISHOP ? 4 : 0; d < (piece === ROOK ? 4 : 8); d++) {
      const ray = RAYS[d][from];
      for (let i = 0; i < ray.length; i++) {
        if (!isOwn(board[ray[i]])) add(from, ray[i]);
        if (board[ray[i]] !== EMPTY) break;
      }
    }
  }
  return count;
}
