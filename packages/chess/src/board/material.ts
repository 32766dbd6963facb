/**
 * The material of boards, counted once for all measures: pieces by type, bishops by the colour of
 * their square, pawns by file, and the balance, P1 N3 B3 R5 Q9, white minus black.
 */
import { BISHOP, PAWN } from "./attack.ts";
import { type Board, EMPTY, isLight, type Positions, SQUARES, TYPES, unpack } from "./position.ts";

/** The value of each class; black's are negative. */
export const WORTH: readonly number[] = [1, 3, 3, 5, 9, 0, -1, -3, -3, -5, -9, 0, 0];

/** The material balance of a board, white minus black, with P 1, N 3, B 3, R 5, Q 9. */
export function balanceOf(board: Board): number {
  let balance = 0;
  for (let square = 0; square < SQUARES; square++) balance += WORTH[board[square]];
  return balance;
}

/** One row per position. */
export interface Material {
  readonly count: number;
  /** `TYPES` columns: how many pieces of each type. */
  readonly types: Uint8Array;
  /** How many pieces in all. */
  readonly pieces: Uint8Array;
  /** 4 columns: white's bishops on light and on dark squares, black's likewise. */
  readonly bishops: Uint8Array;
  /** 16 columns: white's pawns on the files a to h, black's likewise. */
  readonly pawnFiles: Uint8Array;
  readonly balance: Int16Array;
}

/** Counts the material of positions. */
export function materialOf(positions: Positions): Material {
  const { count } = positions;
  const types = new Uint8Array(TYPES * count);
  const pieces = new Uint8Array(count);
  const bishops = new Uint8Array(4 * count);
  const pawnFiles = new Uint8Array(16 * count);
  const balance = new Int16Array(count);
  const boards = unpack(positions);
  for (let at = 0; at < boards.length; at++) {
    const k = boards[at];
    if (k >= EMPTY) continue;
    const i = Math.floor(at / SQUARES);
    const black = k >= 6 ? 1 : 0;
    pieces[i]++;
    types[TYPES * i + k]++;
    balance[i] += WORTH[k];
    if (k % 6 === BISHOP) bishops[4 * i + 2 * black + (isLight(at % SQUARES) ? 0 : 1)]++;
    if (k % 6 === PAWN) pawnFiles[16 * i + 8 * black + (at & 7)]++;
  }
  return { count, types, pieces, bishops, pawnFiles, balance };
}
