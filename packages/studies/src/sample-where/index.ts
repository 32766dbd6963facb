/** The study sample-where: when does stepping in y differ from stepping in x and mapping? */
import * as v from "valibot";
import { type StudyMap, studyMaps } from "../problem/maps.ts";
import type { Study } from "../study/study.ts";
import {
  type SampleWhereResult,
  type SampleWhereTask,
  sampleWhere,
  type Way,
  ways,
} from "./run.ts";

const mapNames = Object.keys(studyMaps) as StudyMap[];
const SCALES = [4, 1];
const share = v.pipe(v.number(), v.minValue(0), v.maxValue(1));

export const study: Study<SampleWhereTask, SampleWhereResult> = {
  name: "sample-where",
  about: "stepping in y against stepping in x and mapping, with an exact score",
  version: 1,
  seeds: 10,
  tasks: (seeds) =>
    SCALES.flatMap((scale) =>
      mapNames.flatMap((map) => Array.from({ length: seeds }, (_, seed) => ({ map, scale, seed }))),
    ),
  nameOf: ({ map, scale, seed }) => `${map}-${scale}-${seed}`,
  task: v.strictObject({
    map: v.picklist(mapNames),
    scale: v.number(),
    seed: v.pipe(v.number(), v.safeInteger()),
  }),
  result: v.strictObject({
    ways: v.array(
      v.strictObject({
        way: v.picklist(Object.keys(ways) as Way[]),
        w: v.number(),
        steps: v.number(),
        distance: v.nullable(v.number()),
        exits: v.nullable(share),
      }),
    ),
    scaledInX: v.array(v.strictObject({ w: v.number(), distance: v.number() })),
    chance: v.number(),
    nearBoundary: share,
  }),
  run: sampleWhere,
  report: async (records) => (await import("./report.ts")).report(records),
};
