/**
 * Tables whose rows plain data selects by its `kind`, with options that a schema validates, for
 * specs in files.
 */
import * as v from "valibot";
import { fail } from "../graph/index.ts";

/** A size: an integer, at least 1. */
export const whole = v.pipe(v.number(), v.safeInteger(), v.minValue(1));

/** The most characters of a value in errors. */
const SHOWN = 60;

const shown = (value: unknown): string => {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
};

/**
 * Validates a value by a schema. The error names the first invalid member, with its path below
 * `where`.
 */
export function parseWith<S extends v.GenericSchema>(
  schema: S,
  value: unknown,
  where: string,
): v.InferOutput<S> {
  const result = v.safeParse(schema, value, { abortEarly: true });
  if (result.success) return result.output;
  const [issue] = result.issues;
  if (issue.type === "strict_object" && issue.expected === "never") {
    const keys = issue.path?.map(({ key }) => String(key)) ?? [];
    const own =
      keys.length === 1 && "entries" in schema ? Object.keys(schema.entries as object) : [];
    const said = own.length > 0 ? `it has ${own.join(", ")}` : "leave it out";
    fail(
      "usage",
      `${[where, ...keys.slice(0, -1)].join(".")} has no option "${shown(keys.at(-1))}"`,
      said,
    );
  }
  const place = [where, v.getDotPath(issue)].filter(Boolean).join(".");
  return fail(
    "usage",
    `${place} is ${shown(issue.input)}: ${issue.message.slice(0, 200)}`,
    "correct it",
  );
}

/** The row of a table for `spec.kind`, and the validated options of the spec. */
export function lookUp<R extends { readonly schema: v.GenericSchema }>(
  table: Readonly<Record<string, R>>,
  spec: unknown,
  what: string,
): { readonly row: R; readonly options: unknown } {
  const kind = typeof spec === "object" && spec !== null && "kind" in spec ? spec.kind : undefined;
  if (typeof kind !== "string" || !Object.hasOwn(table, kind))
    fail(
      "usage",
      `unknown ${what} "${shown(kind)}"`,
      `use one of ${Object.keys(table).join(", ")} as \`kind\``,
    );
  const { kind: _, ...options } = spec as { kind: string };
  return { row: table[kind], options: parseWith(table[kind].schema, options, what) };
}
