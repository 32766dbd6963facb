/** The study where-to-train: which loss, in which space, for which map? */
import * as v from "valibot";
import { type StudyMap, studyMaps } from "../problem/maps.ts";
import type { Study } from "../study/study.ts";
import { type LossName, lossNames } from "./losses.ts";
import { processMaps, processNames } from "./processes.ts";
import { lawNames, type WhereToTrainResult, type WhereToTrainTask, whereToTrain } from "./run.ts";

const mapNames = Object.keys(studyMaps) as StudyMap[];
const simplexMaps: readonly StudyMap[] = ["additiveLogistic", "isometricLogRatio", "stickBreaking"];
/** The most informative first, so that a partial study has them. */
const order: readonly LossName[] = ["x", "weighted", "bounded", "y-metric", "posterior", "y"];
const mapOrder: readonly StudyMap[] = [
  "additiveLogistic",
  "ball",
  "cube",
  "stickBreaking",
  "isometricLogRatio",
];

const laws = ["boundary", "inside", "colours"] as const;

const processTasks = (seeds: number): WhereToTrainTask[] =>
  processNames.flatMap((loss) =>
    laws.flatMap((law) =>
      law === "colours" && loss !== "jacobi"
        ? []
        : Array.from({ length: seeds }, (_, seed) => ({
            ...{ law, map: processMaps[loss], loss, seed },
          })),
    ),
  );

const tasksOf = (seeds: number): WhereToTrainTask[] => [
  ...laws.flatMap((law) =>
    mapOrder.flatMap((map) =>
      law === "colours" && !simplexMaps.includes(map)
        ? []
        : order.flatMap((loss) =>
            loss === "posterior" && law !== "colours"
              ? []
              : Array.from({ length: seeds }, (_, seed) => ({ law, map, loss, seed })),
          ),
    ),
  ),
  ...processTasks(seeds),
];

const number = v.number();
const measured = v.nullable(number);

export const study: Study<WhereToTrainTask, WhereToTrainResult> = {
  name: "where-to-train",
  about: "training the score in x, with Jacobian weights, or in y, by map and distribution",
  version: 1,
  seeds: 10,
  tasks: tasksOf,
  nameOf: ({ law, map, loss, seed }) => `${law}-${map}-${loss}-${seed}`,
  task: v.strictObject({
    law: v.picklist(lawNames),
    map: v.picklist(mapNames),
    loss: v.picklist([...lossNames, ...processNames]),
    seed: v.pipe(number, v.safeInteger()),
  }),
  result: v.strictObject({
    errors: v.array(
      v.strictObject({
        t: number,
        x: measured,
        y: measured,
        yMedian: measured,
        effective: number,
        greatest: number,
      }),
    ),
    samples: v.optional(
      v.strictObject({ distanceX: measured, distanceY: measured, nats: measured }),
    ),
    grid: v.optional(v.strictObject({ legal: measured, variation: measured })),
  }),
  run: whereToTrain,
  report: async (records) => (await import("./report.ts")).report(records),
};
