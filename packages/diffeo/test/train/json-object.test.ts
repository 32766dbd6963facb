import * as v from "valibot";
import { expect, it } from "vitest";
import { jsonObject } from "../../src/train/index.ts";

const schema = jsonObject(
  v.strictObject({ every: v.optional(v.number()), toString: v.optional(v.string()) }),
);

it.each(["[]", "[1]", "null", "1", '"text"'])("takes no %s for an object", (text) => {
  const { success, issues } = v.safeParse(schema, JSON.parse(text));
  expect(success).toBe(false);
  expect(issues).toMatchObject([{ expected: "Object", message: "is not an object" }]);
});

it("reads the own fields of an object only", () => {
  expect(v.safeParse(schema, {})).toMatchObject({ success: true, output: {} });
  expect(v.parse(schema, { every: 2, toString: "x" })).toEqual({ every: 2, toString: "x" });
  // JSON can give an object a field of any name.
  for (const text of ['{"__proto__": {"every": 1}}', '{"valueOf": 1}'])
    expect(v.safeParse(schema, JSON.parse(text)).success).toBe(false);
});
