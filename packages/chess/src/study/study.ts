/**
 * The study of w, which scales the reverse drift on the simplex, f̂_w = w f̂ (the paper's
 * "Controlling Piece Density"): boards at every w by two samplers of one process, one record per
 * sampler and w. A record is a function of its task. It is one JSON file, written completely or not
 * at all; tasks that have a file are not run again.
 *
 *   domainPreserving   steps in logits, mapped to the simplex
 *   eulerMaruyama      steps on the simplex itself; points that leave it are clamped
 */
import { fail } from "diffeo/graph";
import { type LegalityShares, legalityShares } from "../board/legality.ts";
import { materialOf } from "../board/material.ts";
import type { Boards } from "../diffusion/sample.ts";
import { meanAndSd } from "../measure/histogram.ts";

/** The solvers that the study of drift scales compares. */
export const STUDY_SOLVERS = ["domainPreserving", "eulerMaruyama"] as const;
/** The name of a solver of the study. */
export type StudySolver = (typeof STUDY_SOLVERS)[number];

/** The settings that determine the boards of a run. */
export interface StudyTask {
  readonly method: StudySolver;
  readonly w: number;
  readonly steps: number;
  readonly count: number;
  readonly seed: number;
  /** The digest of the model's file. */
  readonly model: string;
}

/** The result of one run of the study. */
export interface StudyRecord extends StudyTask, LegalityShares {
  readonly pieces: { readonly mean: number; readonly sd: number };
  /**
   * The number of steps that left the simplex, and of points clamped to it.
   */
  readonly exits: number;
  readonly clamps: number;
  readonly device: string;
}

interface StudyOptions {
  readonly count: number;
  readonly seed: number;
  readonly steps: Readonly<Record<StudySolver, number>>;
  readonly model: string;
}

/** The name of a run of the study: its solver and its drift scale. */
export const scaleTaskName = ({ method, w }: Pick<StudyTask, "method" | "w">): string =>
  `${method}-${w}`;

/** The tasks without a record. Throws if a record was made with other settings. */
export function openScaleTasks(
  records: readonly StudyRecord[],
  scales: readonly number[],
  { steps, ...settings }: StudyOptions,
): StudyTask[] {
  const taskOf = (method: StudySolver, w: number): StudyTask => ({
    method,
    w,
    steps: steps[method],
    ...settings,
  });
  for (const record of records) {
    const now = taskOf(record.method, record.w);
    for (const name of ["model", "count", "steps", "seed"] as const)
      if (record[name] !== now[name])
        fail(
          "usage",
          `the record of ${scaleTaskName(record)} has ${name} ${record[name]}, but now it is ` +
            `${now[name]}`,
          "continue with the same settings, or choose another folder",
        );
  }
  const known = new Set(records.map(scaleTaskName));
  const all = STUDY_SOLVERS.flatMap((method) => [...new Set(scales)].map((w) => taskOf(method, w)));
  return all.filter((task) => !known.has(scaleTaskName(task)));
}

/** The record of a task: statistics of its boards. All tasks start from the same noise. */
export const scaleRecord = (
  task: StudyTask,
  { positions, exits, clamps }: Boards,
  device: string,
): StudyRecord => ({
  ...task,
  pieces: meanAndSd(materialOf(positions).pieces),
  ...legalityShares(positions),
  exits,
  clamps,
  device,
});
