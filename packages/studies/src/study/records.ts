/** Records of a study as text: what is there, and what is wrong with what is not a record. */
import { DiffeoError, fail } from "diffeo/graph";
import * as v from "valibot";
import type { Study, StudyRecord } from "./study.ts";

/** Numbers of six digits: more would be noise, and would not be the same everywhere. */
export const rounded = <R>(value: R): R =>
  JSON.parse(JSON.stringify(value), (_, each) =>
    typeof each === "number" && !Number.isInteger(each) ? Number(each.toPrecision(6)) : each,
  ) as R;

/** A value that should be a record of a study, or an error that names the field. */
export function requireRecord<T extends object, R>(
  study: Study<T, R>,
  value: unknown,
  source: string,
): StudyRecord<T, R> {
  const found = v.safeParse(v.strictObject({ task: study.task, result: study.result }), value);
  if (found.success) return found.output as StudyRecord<T, R>;
  const [issue] = found.issues;
  return fail(
    "data",
    `${source} is not a record of ${study.name}: ${v.getDotPath(issue) ?? "it"}: ${issue.message}`,
    "move it away and run the study again",
  );
}

/** The record, or the list of records, of a file's text. */
export function parseStudyRecords<T extends object, R>(
  study: Study<T, R>,
  text: string,
  source: string,
): StudyRecord<T, R>[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new DiffeoError("data", `${source} is not JSON`, "move it away and run again", {
      cause: error,
    });
  }
  return Array.isArray(value)
    ? value.map((each, i) => requireRecord(study, each, `${source}, record ${i + 1},`))
    : [requireRecord(study, value, source)];
}

/** Records as the text of one file, a line each, in the order of their names. */
export const serializeRecords = <T extends object, R>(
  study: Study<T, R>,
  records: readonly StudyRecord<T, R>[],
): string =>
  `[\n${[...records]
    .sort((a, b) => (study.nameOf(a.task) < study.nameOf(b.task) ? -1 : 1))
    .map((record) => JSON.stringify(record))
    .join(",\n")}\n]\n`;
