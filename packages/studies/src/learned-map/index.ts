/** The study learned-map: is a map learned with the score better than one learned before it? */
import * as v from "valibot";
import { type KnownName, knownDistributions } from "../problem/plane.ts";
import type { Study } from "../study/study.ts";
import { type ArmName, armNames } from "./arms.ts";
import { type LearnedMapResult, type LearnedMapTask, learnedMap } from "./run.ts";

const names = Object.keys(knownDistributions) as KnownName[];
/** The longest first. */
const order: readonly ArmName[] = ["sampler", "joint", "before", "none"];
const number = v.number();

export const study: Study<LearnedMapTask, LearnedMapResult> = {
  name: "learned-map",
  about: "a map learned before the score, with it, or for the sampler",
  version: 1,
  seeds: 10,
  tasks: (seeds) =>
    Array.from({ length: seeds }, (_, seed) => seed).flatMap((seed) =>
      names.flatMap((distribution) => order.map((arm) => ({ distribution, arm, seed }))),
    ),
  nameOf: ({ distribution, arm, seed }) => `${distribution}-${arm}-${seed}`,
  task: v.strictObject({
    distribution: v.picklist(names),
    arm: v.picklist(armNames),
    seed: v.pipe(number, v.safeInteger()),
  }),
  result: v.strictObject({
    nats: v.nullable(number),
    few: number,
    many: number,
    chance: number,
  }),
  run: learnedMap,
  report: async (records) => (await import("./report.ts")).report(records),
};
