/**
 * The records of a study in files: one schema defines a record, and the error for a value that is
 * not one.
 */
import { DiffeoError, fail } from "diffeo/graph";
import { type ObjectiveName, objectives } from "diffeo/matching";
import { jsonObject } from "diffeo/train";
import * as v from "valibot";
import { quote } from "../table/quote.ts";
import { type DatasetName, isSynthetic, isUci } from "../table/uci.ts";
import type { RunRecord } from "./study.ts";

const finite = v.pipe(v.number("is not a number"), v.finite("is not finite"));
const natural = v.pipe(
  v.number("is not a number"),
  v.safeInteger("is not an integer"),
  v.minValue(0, "is negative"),
);
const positive = v.pipe(natural, v.minValue(1, "is less than 1"));

const object = <E extends v.ObjectEntries>(entries: E) => jsonObject(v.strictObject(entries));

const summary = object({
  mean: finite,
  lowerQuartile: finite,
  median: finite,
  upperQuartile: finite,
});
const normaliser = { logZ: finite, effectiveSamples: finite, samples: natural };
const measures = object({
  step: natural,
  scoreMatching: summary,
  logDensity: summary,
  importance: v.optional(object(normaliser)),
  annealed: object({ ...normaliser, acceptance: finite }),
});

/** Names are those in the code; they are part of the name of a record's file. */
const dataset = v.custom<DatasetName>(
  (name) => typeof name === "string" && (isUci(name) || isSynthetic(name)),
  "is not a dataset of a study",
);
const loss = v.custom<ObjectiveName>(
  (name) => typeof name === "string" && Object.hasOwn(objectives, name),
  "is not a loss of a study",
);

const record = object({
  dataset,
  loss,
  seed: natural,
  n: positive,
  points: object({ train: natural, validation: natural, test: natural }),
  steps: natural,
  stopped: natural,
  // For records from before the running time was removed from the results.
  seconds: v.optional(finite),
  chosen: measures,
  chosenByExact: measures,
  curve: object({ every: positive, loss: v.array(finite), exact: v.array(finite) }),
  failure: v.optional(v.string()),
});

const shownValue = (value: unknown): string =>
  quote(String(typeof value === "object" ? JSON.stringify(value) : value));

/** Returns a value as a record, or throws an error that names the wrong field. */
export function requireRecord(value: unknown, source: string): RunRecord {
  const found = v.safeParse(record, value);
  if (found.success) return found.output;
  const [issue] = found.issues;
  const field = v.getDotPath(issue);
  const what = (): string => {
    if (field === null) return "it is not an object";
    if (issue.type !== "strict_object")
      return `${quote(field)} ${issue.message}: ${shownValue(issue.input)}`;
    return (
      `${quote(field)} ` +
      (issue.expected === "never" ? "is not a field of a record" : "is missing")
    );
  };
  return fail(
    "data",
    `${source} is not a record of a run: ${what()}`,
    "move it away and run again",
  );
}

/** The record, or the list of records, in the text of a file. */
export function parseRecords(text: string, source: string): RunRecord[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new DiffeoError("data", `${source} is not JSON`, "move it away and run again", {
      cause: error,
    });
  }
  if (!Array.isArray(value)) return [requireRecord(value, source)];
  return value.map((each, i) => requireRecord(each, `${source}, record ${i + 1},`));
}
