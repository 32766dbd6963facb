/** The kinds of jobs that a worker runs, each loaded at its first use. */
import type { Kinds } from "diffeo/job";

export const kinds: Kinds = {
  "chess/boards": async () => (await import("diffeo-chess")).boardsKind,
  "density/fit": async () => (await import("diffeo-tables/node")).densityFitKind,
  "infer/chains": async () => (await import("diffeo/mcmc")).chainsKind,
  "study/task": async () => (await import("diffeo-studies")).taskKind,
  "table/fit": async () => (await import("diffeo-tables")).tableFitKind,
  "table/rows": async () => (await import("diffeo-tables")).rowsKind,
};
