/** The classes of squares and the flaws of boards, in words. */
import { EMPTY, type Flaw, UNKNOWN } from "diffeo-chess";

const PIECE_NAMES = ["pawn", "knight", "bishop", "rook", "queen", "king"];

export const nameOf = (k: number): string =>
  k === EMPTY
    ? "empty"
    : k === UNKNOWN
      ? "unknown"
      : `${k < 6 ? "white" : "black"} ${PIECE_NAMES[k % 6]}`;

export const FLAW_NAMES: Readonly<Record<Flaw, string>> = {
  kings: "not one king each",
  adjacent: "kings touch",
  pawns: "a pawn on rank 1 or 8",
  material: "more pieces than promotions allow",
  checks: "both kings in check",
};
