/** Solvers by name. The property tests of `test/sampler` run over them. */
import { fail } from "../graph/index.ts";
import { predictorCorrector } from "./corrector.ts";
import { ancestral, dpmSolver2M, dpmSolver2MSde } from "./dpm-solver.ts";
import { heun, rungeKutta } from "./flow.ts";
import type { Solver } from "./solver.ts";
import { domainPreserving, eulerMaruyama, milstein } from "./stochastic.ts";

/** Functions that make the solvers, by name. */
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

/** The solver itself, or the one with the given name. */
export function solverOf(solver: SolverName | Solver = "domainPreserving"): Solver {
  if (typeof solver !== "string") return solver;
  if (!Object.hasOwn(solvers, solver))
    fail(
      "usage",
      `unknown \`solver\` "${solver}"`,
      `use one of ${Object.keys(solvers).join(", ")}`,
    );
  return solvers[solver]();
}
