/** diffeo-studies/node: records of a study's folder. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { DiffeoError } from "diffeo/graph";
import { writeFileAtomic } from "diffeo/node";
import { parseStudyRecords, requireRecord, serializeRecords } from "../study/records.ts";
import type { Study, StudyRecord } from "../study/study.ts";

const RECORDS = "records.json";

async function namesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw new DiffeoError("data", `cannot read ${folder} (${error.code})`, "check the path", {
      cause: error,
    });
  });
  return names.filter((name) => name.endsWith(".json"));
}

/**
 * All records of a folder: its `records.json`, and the runs since.
 *
 * @internal
 */
export async function readStudyRecords<T extends object, R>(
  study: Study<T, R>,
  folder: string,
): Promise<StudyRecord<T, R>[]> {
  const found = new Map<string, StudyRecord<T, R>>();
  const runs = join(folder, "runs");
  const paths = [
    ...(await namesIn(folder)).filter((name) => name === RECORDS).map((name) => join(folder, name)),
    ...(await namesIn(runs)).map((name) => join(runs, name)),
  ];
  for (const path of paths)
    for (const record of parseStudyRecords(study, await readFile(path, "utf8"), path))
      found.set(study.nameOf(record.task), record);
  return [...found.values()];
}

/**
 * Writes the record of one task into `runs`.
 *
 * @internal
 */
export const saveStudyRecord = async <T extends object, R>(
  study: Study<T, R>,
  folder: string,
  record: StudyRecord<T, R>,
): Promise<void> =>
  writeFileAtomic(
    join(folder, "runs", `${study.nameOf(record.task)}.json`),
    `${JSON.stringify(requireRecord(study, record, "what the task gave"))}\n`,
  );

/**
 * Writes all records as `records.json`.
 *
 * @internal
 */
export const saveStudyRecords = async <T extends object, R>(
  study: Study<T, R>,
  folder: string,
  records: readonly StudyRecord<T, R>[],
): Promise<void> => writeFileAtomic(join(folder, RECORDS), serializeRecords(study, records));
