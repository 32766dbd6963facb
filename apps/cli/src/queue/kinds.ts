/** The kinds of jobs that a worker does, each loaded when it is first asked for. */
import type { Kind, Kinds } from "diffeo-queue";

const as = <P, R>(kind: Kind<P, R>): Kind<unknown, unknown> => kind as Kind<unknown, unknown>;

export const kinds: Kinds = {
  "chess/boards": async () => as((await import("../chess/jobs.ts")).boardsKind),
  "density/fit": async () => as((await import("../density/jobs.ts")).fitKind),
  "infer/chains": async () => as((await import("../infer/jobs.ts")).chainsKind),
  "table/fit": async () => as((await import("../table/fit-jobs.ts")).tableFitKind),
  "table/rows": async () => as((await import("../table/jobs.ts")).rowsKind),
};
