/**
 * Values by name out of plain data. Any name is one: a column may be called `constructor`, which
 * valibot's `record` leaves out.
 */
import * as v from "valibot";

/**
 * A schema of objects with any names, `constructor` among them.
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
