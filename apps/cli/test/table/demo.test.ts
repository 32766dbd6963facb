import { inferColumns, parseCells } from "diffeo-tables";
import { describe, expect, it } from "vitest";
import { penguins } from "../../src/table/penguins.ts";

describe("the table of the demo", () => {
  it("can be fitted without a rule", () => {
    const table = parseCells(penguins, "penguins.csv");
    expect([table.rows.length, table.columns.length, table.isUnnamed]).toEqual([344, 7, undefined]);
    expect(table.rows.filter((row) => row.includes(""))).toHaveLength(11);
    const kinds = Object.fromEntries(inferColumns(table).map((one) => [one.columns[0], one.kind]));
    // Four of the nine combinations of species and island do not occur: one label, two derived columns.
    expect(kinds).toMatchObject({
      "species & island": "category",
      species: "derived",
      island: "derived",
      sex: "category",
    });
    expect(Object.values(kinds)).not.toContain("text");
  });
});
