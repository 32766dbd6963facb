/** The study equal-pieces: is w a good way to change the number of pieces? */
import * as v from "valibot";
import type { Study } from "../study/study.ts";
import {
  type EqualPiecesResult,
  type EqualPiecesTask,
  type EqualWay,
  equalPieces,
  wayNames,
} from "./run.ts";

const values: Readonly<Record<EqualWay, readonly number[]>> = {
  guidance: [2, 8, 14, 26, 30],
  tempering: [0.6, 0.8, 0.9, 1.1, 1.25, 1.5],
  w: [0.8, 0.9, 0.95, 0.975, 1, 1.02, 1.04, 1.1],
  pool: [0, 1, 2, 3, 4],
};

const number = v.number();

export const study: Study<EqualPiecesTask, EqualPiecesResult> = {
  name: "equal-pieces",
  about: "w against guidance, tempering and rejection, at equal mean numbers of pieces",
  version: 1,
  seeds: 10,
  tasks: (seeds) =>
    (Object.keys(values) as EqualWay[]).flatMap((way) =>
      values[way].map((value) => ({ way, value, seeds })),
    ),
  nameOf: ({ way, value, seeds }) => `${way}-${String(value).replace(".", "p")}-of-${seeds}`,
  task: v.strictObject({
    way: v.picklist(wayNames),
    value: number,
    seeds: v.pipe(number, v.safeInteger()),
  }),
  result: v.strictObject({ boards: v.pipe(v.string(), v.base64()) }),
  file: () => "chess model",
  run: equalPieces,
  report: async (records, data) => (await import("./report.ts")).report(records, data),
};
