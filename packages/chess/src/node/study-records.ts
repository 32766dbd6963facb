/** Records of the study of w on disk: one JSON file a sampler and a w, written whole or not at all. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { DiffeoError } from "diffeo/graph";
import { writeFileAtomic } from "diffeo/node";
import { STUDY_METHODS, type StudyRecord, taskName } from "../study/study.ts";

const runsFolder = (out: string): string => join(out, "runs");

export const saveRecord = (out: string, record: StudyRecord): Promise<void> =>
  writeFileAtomic(join(runsFolder(out), `${taskName(record)}.json`), `${JSON.stringify(record)}\n`);

/** Records of a study's folder, by sampler and w. */
export async function readRecords(out: string): Promise<StudyRecord[]> {
  const found = await readdir(runsFolder(out)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const names = found.filter((name) => name.endsWith(".json"));
  const records = await Promise.all(names.map((name) => readRecord(join(runsFolder(out), name))));
  const order = ({ method }: StudyRecord): number => STUDY_METHODS.indexOf(method);
  return records.sort((a, b) => order(a) - order(b) || a.w - b.w);
}

async function readRecord(path: string): Promise<StudyRecord> {
  const damaged = (cause?: unknown): never => {
    throw new DiffeoError("data", `${path} is no record of a study of w`, "delete it and run again", { cause });
  };
  const record = await readFile(path, "utf8")
    .then((text) => JSON.parse(text) as StudyRecord)
    .catch(damaged);
  const numbers = [record?.w, record?.legal, record?.oneKingEach, record?.pieces?.mean, record?.pieces?.sd];
  return STUDY_METHODS.includes(record?.method) && numbers.every(Number.isFinite) ? record : damaged();
}
