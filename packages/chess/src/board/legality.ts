/**
 * Strict legality of a placement: the flaws that can be found without knowing the game.
 *
 *   kings      exactly one of each colour
 *   adjacent   the two kings stand on neighbouring squares
 *   pawns      a pawn stands on rank 1 or 8
 *   material   more than 16 pieces or 8 pawns per side, or more promoted pieces than missing pawns:
 *              (N−2)⁺ + (B−2)⁺ + (R−2)⁺ + (Q−1)⁺ ≤ 8 − P fails for a side
 *   checks     both kings are in check, so neither side can be to move
 */
import { isAttacked, KING } from "./attack.ts";
import { formatFen } from "./fen.ts";
import { type Board, type Positions, SQUARES, unpack } from "./position.ts";

/** One bit per flaw; a legal board has none. */
export const FLAWS = { kings: 1, adjacent: 2, pawns: 4, material: 8, checks: 16 } as const;
/** The name of a flaw of a board, such as `kings` or `pawns`. */
export type Flaw = keyof typeof FLAWS;

/**
 * The flaws of a board as a sum of bits. Flaws between kings are checked only if there is one king
 * each.
 */
function flawBits(board: Board): number {
  const counts = new Uint8Array(13);
  for (let square = 0; square < board.length; square++) counts[board[square]]++;
  let bits = feasible(counts, 0) && feasible(counts, 6) ? 0 : FLAWS.material;
  for (let file = 0; file < 8; file++)
    if (isPawn(board[file]) || isPawn(board[56 + file])) {
      bits |= FLAWS.pawns;
      break;
    }
  if (counts[KING] !== 1 || counts[6 + KING] !== 1) return bits | FLAWS.kings;
  const white = board.indexOf(KING);
  const black = board.indexOf(6 + KING);
  const distance = Math.max(
    Math.abs((white >> 3) - (black >> 3)),
    Math.abs((white & 7) - (black & 7)),
  );
  if (distance < 2) bits |= FLAWS.adjacent;
  if (isAttacked(board, white, false) && isAttacked(board, black, true)) bits |= FLAWS.checks;
  return bits;
}

const isPawn = (k: number): boolean => k === 0 || k === 6;

const PROMOTABLE: readonly (readonly [piece: number, atFirst: number])[] = [
  [1, 2],
  [2, 2],
  [3, 2],
  [4, 1],
];

function feasible(counts: Uint8Array, base: number): boolean {
  const pawns = counts[base];
  let pieces = pawns + counts[base + KING];
  let promoted = 0;
  for (const [piece, atFirst] of PROMOTABLE) {
    pieces += counts[base + piece];
    promoted += Math.max(0, counts[base + piece] - atFirst);
  }
  return pieces <= 16 && pawns <= 8 && promoted <= 8 - pawns;
}

/** The names of a board's flaws; empty if it is legal. */
export function flawsOf(board: Board): Flaw[] {
  const bits = flawBits(board);
  return (Object.keys(FLAWS) as Flaw[]).filter((flaw) => bits & FLAWS[flaw]);
}

/**
 * Whether a board is strictly legal: one king each, pawns inside, feasible material, and kings
 * that are not both in check nor adjacent.
 */
export const isLegal = (board: Board): boolean => flawBits(board) === 0;

/** The shares of positions that pass each part of the check of legality, and all of it. */
export interface LegalityShares {
  readonly oneKingEach: number;
  readonly pawnsInside: number;
  readonly feasibleMaterial: number;
  readonly legal: number;
}

/** The share of the positions that passes each test. */
export function legalityShares(positions: Positions): LegalityShares {
  const boards = unpack(positions);
  const passed = { kings: 0, pawns: 0, material: 0, all: 0 };
  for (let at = 0; at < boards.length; at += SQUARES) {
    const bits = flawBits(boards.subarray(at, at + SQUARES));
    if (!(bits & FLAWS.kings)) passed.kings++;
    if (!(bits & FLAWS.pawns)) passed.pawns++;
    if (!(bits & FLAWS.material)) passed.material++;
    if (bits === 0) passed.all++;
  }
  const n = positions.count;
  return {
    oneKingEach: passed.kings / n,
    pawnsInside: passed.pawns / n,
    feasibleMaterial: passed.material / n,
    legal: passed.all / n,
  };
}

/** Whether a side may be to move: the other side's king is not in check. */
export function mayMove(board: Board, white: boolean): boolean {
  const king = board.indexOf(white ? 6 + KING : KING);
  return king < 0 || !isAttacked(board, king, white);
}

/**
 * The FEN of a board with all six fields, for programs that need them.
 * @param fields those after the placement that are known, from the side to move on; by default a
 * side that may be to move
 *   (white if both may), and no castling
 */
export function formatFullFen(board: Board, fields: readonly string[] = []): string {
  const others = [mayMove(board, true) ? "w" : "b", "-", "-", "0", "1"];
  return [formatFen(board), ...fields, ...others.slice(fields.length)].join(" ");
}
