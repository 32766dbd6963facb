/** Positions as pictures, each with a verdict under it: legal, or its flaws. */
import { type Flaw, flawsOf } from "../board/legality.ts";
import { type Board, boardAt, type Positions } from "../board/position.ts";
import type { Picture } from "./svg.ts";

const SAID: Readonly<Record<Flaw, string>> = {
  kings: "not one king each",
  adjacent: "kings touch",
  pawns: "pawn on rank 1 or 8",
  material: "too many pieces",
  checks: "both in check",
};

/**
 * Positions as pictures. The caption says whether a position is legal, or lists its flaws.
 *
 * @param about lines above the verdict
 */
export const boardPictures = (
  positions: Positions,
  about: (board: Board) => string = () => "",
): Picture[] =>
  Array.from({ length: positions.count }, (_, i) => {
    const board = boardAt(positions, i);
    const flaws = flawsOf(board);
    const verdict =
      flaws.length === 0 ? "✓ legal" : `✗ ${flaws.map((flaw) => SAID[flaw]).join(",\n")}`;
    return { board, caption: `${about(board)}${verdict}` };
  });
