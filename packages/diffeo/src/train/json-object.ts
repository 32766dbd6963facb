/**
 * Objects as in JSON: a list is not an object, and inherited properties are not fields.
 */
import * as v from "valibot";

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** An object schema that rejects lists and ignores inherited properties. */
export const jsonObject = <S extends v.GenericSchema>(
  schema: S,
): v.GenericSchema<unknown, v.InferOutput<S>> =>
  v.pipe(
    v.unknown(),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      if (isObject(dataset.value))
        return Object.assign(Object.create(null), dataset.value) as unknown;
      addIssue({ message: "is not an object", expected: "Object" });
      return NEVER;
    }),
    schema,
  );
