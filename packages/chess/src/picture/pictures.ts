/** Positions as pictures, each with a verdict under it: legal, or what is wrong with it. */
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
 * Positions as pictures, each captioned with whether it is legal and what is wrong where it is
 * not.
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
