/** The study gradient-noise: is the gradient of GSSM-VR less noisy than that of SSM-VR? */
import type { ObjectiveName } from "diffeo/matching";
import { type UciName, uciSets } from "diffeo-tables/density";
import * as v from "valibot";
import type { Study } from "../study/study.ts";
import { type GradientNoiseResult, type GradientNoiseTask, gradientNoise, losses } from "./run.ts";

/** The one with more columns first. */
const datasets: readonly UciName[] = ["parkinsons", "red-wine"];
const ratio = v.nullable(v.number());

export const study: Study<GradientNoiseTask, GradientNoiseResult> = {
  name: "gradient-noise",
  about: "noise of the gradient by loss on the UCI sets, at the same parameters",
  version: 1,
  seeds: 10,
  tasks: (seeds) =>
    datasets.flatMap((dataset) => Array.from({ length: seeds }, (_, seed) => ({ dataset, seed }))),
  nameOf: ({ dataset, seed }) => `${dataset}-${seed}`,
  task: v.strictObject({
    dataset: v.picklist(Object.keys(uciSets) as UciName[]),
    seed: v.pipe(v.number(), v.safeInteger()),
  }),
  result: v.strictObject({
    noise: v.array(
      v.strictObject({
        loss: v.picklist([...losses] as [ObjectiveName, ...ObjectiveName[]]),
        along: v.picklist(["sm", "own"]),
        step: v.number(),
        slices: ratio,
        both: ratio,
      }),
    ),
  }),
  file: ({ dataset }) => dataset,
  run: gradientNoise,
  report: async (records) => (await import("./report.ts")).report(records),
};
