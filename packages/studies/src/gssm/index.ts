/** The study gssm: which slices are good, by theory and on a UCI set? */
import { type UciName, uciSets } from "diffeo-tables/density";
import * as v from "valibot";
import type { Study } from "../study/study.ts";
import { type ModelName, models } from "./models.ts";
import { type SweepName, sweep, type TheoryObjective, theoryObjectives } from "./objectives.ts";
import { type GssmResult, type GssmTask, runGssm } from "./run.ts";

const modelNames = Object.keys(models) as ModelName[];
const objectiveNames = Object.keys(theoryObjectives) as TheoryObjective[];
const variants = Object.keys(sweep) as SweepName[];

export const DIMENSIONS = [10, 2, 1];
/** The models whose theory is compared with estimates from samples. */
const CHECKED: readonly ModelName[] = ["gaussian-scale", "student-scale", "mixture-distance"];
const CHECKED_LOSSES: readonly TheoryObjective[] = [
  "sm",
  "ssm",
  "ssm-vr",
  "gssm",
  "gssm-vr",
  "gssm-normalised-vr",
  "fourier-vr",
  "sm, (1 + r²/ν)²",
];

const tasksOf = (seeds: number): GssmTask[] => [
  ...variants.flatMap((variant) =>
    Array.from(
      { length: seeds },
      (_, seed): GssmTask => ({
        part: "sweep",
        dataset: "red-wine",
        variant,
        seed,
      }),
    ),
  ),
  ...DIMENSIONS.flatMap((n) =>
    objectiveNames.flatMap((objective) =>
      // Autodiff of C from 16 networks takes minutes in ten dimensions.
      objective === "network-vr" && n > 2
        ? []
        : modelNames.map((model): GssmTask => ({ part: "theory", model, objective, n })),
    ),
  ),
  ...CHECKED.flatMap((model) =>
    CHECKED_LOSSES.flatMap((objective) =>
      Array.from(
        { length: seeds },
        (_, seed): GssmTask => ({
          part: "check",
          model,
          objective,
          n: 2,
          seed,
        }),
      ),
    ),
  ),
];

/** Names of files are plain letters: variants are numbered. */
const nameOf = (task: GssmTask): string => {
  if (task.part === "sweep")
    return `sweep-${task.dataset}-${variants.indexOf(task.variant)}-${task.seed}`;
  const loss = objectiveNames.indexOf(task.objective);
  const common = `${task.part}-${task.model}-${loss}-n${task.n}`;
  return task.part === "check" ? `${common}-${task.seed}` : common;
};

const number = v.number();
const seed = v.pipe(number, v.safeInteger());
const theory = {
  model: v.picklist(modelNames),
  objective: v.picklist(objectiveNames),
  n: v.pipe(number, v.safeInteger()),
};

export const study: Study<GssmTask, GssmResult> = {
  name: "gssm",
  about: "which slices are good: asymptotic variances, and fits of a UCI set",
  version: 1,
  seeds: 10,
  tasks: tasksOf,
  nameOf,
  task: v.variant("part", [
    v.strictObject({ part: v.literal("theory"), ...theory }),
    v.strictObject({ part: v.literal("check"), ...theory, seed }),
    v.strictObject({
      part: v.literal("sweep"),
      dataset: v.picklist(Object.keys(uciSets) as UciName[]),
      variant: v.picklist(variants),
      seed,
    }),
  ]),
  result: v.union([
    v.strictObject({
      information: number,
      curvature: number,
      noise: number,
      slices: number,
      efficiency: number,
    }),
    v.strictObject({ squared: v.array(number) }),
    v.strictObject({
      steps: number,
      chosen: number,
      scoreMatching: number,
      median: number,
      logLikelihood: number,
      after: v.array(v.nullable(number)),
    }),
  ]),
  file: (task) => (task.part === "sweep" ? task.dataset : undefined),
  run: runGssm,
  report: async (records) => (await import("./report.ts")).report(records),
};
