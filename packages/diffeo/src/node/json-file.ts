/** JSON files that are validated by a schema. */
import { readFile } from "node:fs/promises";
import * as v from "valibot";
import { DiffeoError } from "../graph/index.ts";

/** A kind of JSON file: its schema, and its name in errors. */
export interface JsonKind<Schema extends v.GenericSchema> {
  readonly schema: Schema;
  /** The name of the kind, such as "calibration of w". */
  readonly what: string;
  /** The remedy for an invalid file. */
  readonly remedy: string;
}

/**
 * Parses a text by the schema of its kind; the error says where it is invalid. `path` is the name
 * of the file.
 */
export function parseJson<Schema extends v.GenericSchema>(
  text: string,
  path: string,
  { schema, what, remedy }: JsonKind<Schema>,
): v.InferOutput<Schema> {
  const no = (why: string, cause?: unknown): never => {
    throw new DiffeoError("data", `${path} is not a valid ${what}: ${why}`, remedy, { cause });
  };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return no("it is not JSON", error);
  }
  const { success, output, issues } = v.safeParse(schema, value);
  if (success) return output;
  const [issue] = issues as [v.BaseIssue<unknown>, ...v.BaseIssue<unknown>[]];
  const place = v.getDotPath(issue);
  return no(
    `${place === null ? "" : `at ${place}, `}expected ${issue.expected ?? "something else"}, ` +
      `found ${issue.received}`,
  );
}

/** Reads and parses a JSON file. */
export async function readJson<Schema extends v.GenericSchema>(
  path: string,
  kind: JsonKind<Schema>,
): Promise<v.InferOutput<Schema>> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    const missing = error.code === "ENOENT";
    const problem = missing
      ? `there is no ${kind.what} ${path}`
      : `cannot read ${path} (${error.code})`;
    throw new DiffeoError(
      "data",
      problem,
      missing ? kind.remedy : "check the path and its permissions",
      {
        cause: error,
      },
    );
  });
  return parseJson(text, path, kind);
}
