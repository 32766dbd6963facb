/** Names of the classes of squares and of the flaws of boards. */
import { EMPTY, type Flaw, UNKNOWN } from "diffeo-chess";

const PIECE_NAMES = ["pawn", "knight", "bishop", "rook", "queen", "king"];

export const nameOf = (k: number): string =>
  k === EMPTY
    ? "empty"
    : k === UNKNOWN
      ? "unknown"
      : `${k < 6 ? "white" : "black"} ${PIECE_NAMES[k % 6]}`;

export const FLAW_NAMES: Readonly<Record<Flaw, string>> = {
  kings: "not exactly one king per side",
  adjacent: "adjacent kings",
  pawns: "a pawn on rank 1 or 8",
  material: "more pieces than promotions can explain",
  checks: "both kings in check",
};
