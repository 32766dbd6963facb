/** Positions as pictures, each with a verdict under it: legal, or what is wrong with it. */
import { flawsOf } from "./legality.ts";
import { boardAt, type Positions } from "./position.ts";
import type { Picture } from "./svg.ts";

export const judged = (positions: Positions): Picture[] =>
  Array.from({ length: positions.count }, (_, i) => {
    const board = boardAt(positions, i);
    const flaws = flawsOf(board);
    return { board, caption: flaws.length === 0 ? "legal" : flaws.join(", ") };
  });
