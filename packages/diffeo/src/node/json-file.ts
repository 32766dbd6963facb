/** JSON from files, held to a schema before anything is done with it. */
import { readFile } from "node:fs/promises";
import * as v from "valibot";
import { DiffeoError } from "../graph/index.ts";

/** A kind of JSON file: its schema, and what errors call it. */
export interface JsonKind<Schema extends v.GenericSchema> {
  readonly schema: Schema;
  /** What such a file is called: "calibration of w". */
  readonly what: string;
  /** What to do about one that is none. */
  readonly remedy: string;
}

/** A text as what it should be, or one message that says where it is not. `path` names the file. */
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
    `${place === null ? "" : `at ${place}, `}expected ${issue.expected ?? "something else"}, found ${issue.received}`,
  );
}

/** The same from a file. */
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
