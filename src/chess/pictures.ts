/** Positions as pictures, each with a verdict under it: legal, or what is wrong with it. */
import { flawsOf } from "./legality.ts";
import { type Board, boardAt, type Positions } from "./position.ts";
import type { Picture } from "./svg.ts";

/** @param about lines above the verdict */
export const judged = (positions: Positions, about: (board: Board) => string = () => ""): Picture[] =>
  Array.from({ length: positions.count }, (_, i) => {
    const board = boardAt(positions, i);
    const flaws = flawsOf(board);
    const verdict = flaws.length === 0 ? "✓ legal" : `✗ ${flaws.join(", ")}`;
    return { board, caption: `${about(board)}${verdict}` };
  });
