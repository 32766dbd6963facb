/** Records of the study of w on disk: one JSON file per sampler and w, written atomically. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { DiffeoError } from "diffeo/graph";
import { type JsonKind, parseJson, readJson, writeFileAtomic } from "diffeo/node";
import { jsonObject } from "diffeo/train";
import * as v from "valibot";
import { STUDY_SOLVERS, type StudyRecord, scaleTaskName } from "../study/study.ts";

const runsFolder = (out: string): string => join(out, "runs");

const share = v.pipe(v.number(), v.minValue(0), v.maxValue(1));
const nonNegative = v.pipe(v.number(), v.finite(), v.minValue(0));
const whole = v.pipe(v.number(), v.safeInteger(), v.minValue(1));
const text = v.pipe(v.string(), v.maxLength(200));

const recordKind: JsonKind<v.GenericSchema<unknown, StudyRecord>> = {
  what: "record of a study of w",
  remedy: "move it away and run again",
  schema: jsonObject(
    v.object({
      method: v.picklist(STUDY_SOLVERS),
      w: v.pipe(v.number(), v.finite(), v.gtValue(0)),
      steps: whole,
      count: whole,
      seed: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
      model: text,
      pieces: jsonObject(v.object({ mean: nonNegative, sd: nonNegative })),
      oneKingEach: share,
      pawnsInside: share,
      feasibleMaterial: share,
      legal: share,
      exits: nonNegative,
      clamps: nonNegative,
      device: text,
    }),
  ),
};

/** Writes the record of a run into the folder of its study, atomically. */
export const saveScaleRecord = (out: string, record: StudyRecord): Promise<void> =>
  writeFileAtomic(
    join(runsFolder(out), `${scaleTaskName(record)}.json`),
    `${JSON.stringify(record)}\n`,
  );

/** Parses a record; `path` names its file in errors. */
export const parseRecord = (content: string, path: string): StudyRecord =>
  parseJson(content, path, recordKind);

/** The records of a study's folder, by sampler and w. */
export async function readScaleRecords(out: string): Promise<StudyRecord[]> {
  const found = await readdir(runsFolder(out)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw new DiffeoError(
      "data",
      `cannot read ${runsFolder(out)} (${error.code})`,
      "check the path",
      { cause: error },
    );
  });
  const names = found.filter((name) => name.endsWith(".json"));
  const records = await Promise.all(
    names.map((name) => readJson(join(runsFolder(out), name), recordKind)),
  );
  const order = ({ method }: StudyRecord): number => STUDY_SOLVERS.indexOf(method);
  return records.sort((a, b) => order(a) - order(b) || a.w - b.w);
}
