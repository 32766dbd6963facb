/** Solvers by name. Every property test of `test/sampler` runs over them. */
import { fail } from "../graph/index.ts";
import { predictorCorrector } from "./corrector.ts";
import { ancestral, dpmSolver2M, dpmSolver2MSde } from "./dpm-solver.ts";
import { heun, rungeKutta } from "./flow.ts";
import type { Solver } from "./solver.ts";
import { domainPreserving, eulerMaruyama, milstein } from "./stochastic.ts";

/** All solvers by name, with their default options. */
export const solvers = {
  domainPreserving,
  eulerMaruyama,
  milstein,
  heun,
  rungeKutta,
  predictorCorrector,
  dpmSolver2M,
  dpmSolver2MSde,
  ancestral,
} as const satisfies Readonly<Record<string, () => Solver>>;

/** The name of a solver. */
export type SolverName = keyof typeof solvers;

/** A solver as it is, or by its name. */
export function solverOf(solver: SolverName | Solver = "domainPreserving"): Solver {
  if (typeof solver !== "string") return solver;
  if (!Object.hasOwn(solvers, solver))
    fail(
      "usage",
      `there is no solver "${solver}"`,
      `use one of ${Object.keys(solvers).join(", ")}`,
    );
  return solvers[solver]();
}
