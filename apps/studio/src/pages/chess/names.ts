/** Names of classes of squares, flaws of boards, and solvers. */
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

/** Solvers with a fixed number of steps, and their evaluations of the network per step. */
export const SOLVERS = [
  { value: "dpmSolver2MSde", label: "DPM-Solver++(2M), stochastic", evaluations: 1 },
  { value: "domainPreserving", label: "Domain-preserving", evaluations: 1 },
  { value: "eulerMaruyama", label: "Euler–Maruyama on the simplex", evaluations: 1 },
  { value: "milstein", label: "Milstein on the simplex", evaluations: 1 },
  { value: "heun", label: "Heun on the probability flow", evaluations: 2 },
  { value: "dpmSolver2M", label: "DPM-Solver++(2M), deterministic", evaluations: 1 },
  { value: "ancestral", label: "Ancestral", evaluations: 1 },
  { value: "predictorCorrector", label: "Predictor–corrector", evaluations: 2 },
] as const;
