/**
 * Values by name from plain data. All names are allowed: a column may have the name `constructor`,
 * which valibot's `record` omits.
 */
import * as v from "valibot";

/**
 * A schema of objects with any names, including `constructor`.
 *
 * @param value the schema of each value
 */
export const byName = <S extends v.GenericSchema>(
  value: S,
): v.GenericSchema<unknown, Readonly<Record<string, v.InferOutput<S>>>> =>
  v.pipe(
    v.custom<object>(
      (found) => typeof found === "object" && found !== null && !Array.isArray(found),
    ),
    v.transform((found) => Object.entries(found)),
    v.array(v.tuple([v.string(), value])),
    v.transform((entries) => Object.fromEntries(entries)),
  );
