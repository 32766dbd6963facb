/**
 * Whether a side attacks a square, seen from the square: a knight's jump, a king's step, a pawn's
 * capture backwards, and the first piece along each of eight rays.
 */
import { type Board, EMPTY } from "./position.ts";

/** Classes of white pieces; black's are six more. */
export const PAWN = 0;
export const KNIGHT = 1;
export const BISHOP = 2;
export const ROOK = 3;
export const QUEEN = 4;
export const KING = 5;
/** The class of white's pawn (0) or black's (6): what to add to a piece of that side. */
export const sideBase = (white: boolean): number => (white ? 0 : 6);

type Step = readonly [rows: number, files: number];
const STRAIGHT: readonly Step[] = [
  [-1, 0],
  [0, 1],
  [1, 0],
  [0, -1],
];
const DIAGONAL: readonly Step[] = [
  [-1, 1],
  [1, 1],
  [1, -1],
  [-1, -1],
];
const KNIGHT_STEPS: readonly Step[] = [-2, -1, 1, 2].flatMap((r) =>
  [-2, -1, 1, 2].filter((f) => Math.abs(r) !== Math.abs(f)).map((f): Step => [r, f]),
);

/** For each square, the squares along a step, at most `length` of them. */
const walks = ([rows, files]: Step, length: number): readonly Uint8Array[] =>
  Array.from({ length: 64 }, (_, square) => {
    const met: number[] = [];
    for (let i = 1; i <= length; i++) {
      const row = (square >> 3) + i * rows;
      const file = (square & 7) + i * files;
      if (row < 0 || row > 7 || file < 0 || file > 7) break;
      met.push(8 * row + file);
    }
    return Uint8Array.from(met);
  });

const together = (steps: readonly Step[]): readonly Uint8Array[] => {
  const each = steps.map((step) => walks(step, 1));
  return Array.from({ length: 64 }, (_, square) =>
    Uint8Array.from(each.flatMap((targets) => [...targets[square]])),
  );
};

/** RAYS[d][square]: d < 4 along ranks and files, d ≥ 4 along diagonals. */
export const RAYS: readonly (readonly Uint8Array[])[] = [...STRAIGHT, ...DIAGONAL].map((step) =>
  walks(step, 7),
);
export const KNIGHT_MOVES = together(KNIGHT_STEPS);
export const KING_MOVES = together([...STRAIGHT, ...DIAGONAL]);
/**
 * Where a pawn on the square captures: white's towards row 0 (the eighth rank), black's towards row
 * 7.
 */
export const PAWN_CAPTURES = {
  white: together(DIAGONAL.filter(([rows]) => rows < 0)),
  black: together(DIAGONAL.filter(([rows]) => rows > 0)),
};

/**
 * Whether a piece of the side `byWhite` attacks the square. The piece on the square itself does not
 * matter.
 */
export function isAttacked(board: Board, square: number, byWhite: boolean): boolean {
  const base = sideBase(byWhite);
  // A white pawn attacks the square from where a black pawn on the square would capture.
  if (stands(board, (byWhite ? PAWN_CAPTURES.black : PAWN_CAPTURES.white)[square], base + PAWN))
    return true;
  if (stands(board, KNIGHT_MOVES[square], base + KNIGHT)) return true;
  if (stands(board, KING_MOVES[square], base + KING)) return true;
  for (let d = 0; d < 8; d++) {
    const ray = RAYS[d][square];
    const slider = base + (d < 4 ? ROOK : BISHOP);
    for (let i = 0; i < ray.length; i++) {
      const k = board[ray[i]];
      if (k === EMPTY) continue;
      if (k === slider || k === base + QUEEN) return true;
      break;
    }
  }
  return false;
}

/** Whether the class stands on one of the squares. */
function stands(board: Board, squares: Uint8Array, k: number): boolean {
  for (let i = 0; i < squares.length; i++) if (board[squares[i]] === k) return true;
  return false;
}
