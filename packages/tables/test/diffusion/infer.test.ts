import { product } from "diffeo/domain";
import { describe, expect, it } from "vitest";
import { parseRule } from "../../src/diffusion/columns.ts";
import { inferColumns, namedDomains, rowsIn } from "../../src/diffusion/infer.ts";
import { parseCells } from "../../src/table/cells.ts";

const table = (text: string) => parseCells(text, "t.csv");
const specs = (text: string, rules: readonly string[] = []) =>
  inferColumns(table(text), rules).map(({ columns, domain, reason }) => [columns.join("+"), domain.spec, reason]);

describe("cells", () => {
  it("keep their text and the lines they stand in", () => {
    const found = table('a,b\n\n1,"x, y"\r\n2,\n');
    expect(found).toEqual({
      source: "t.csv",
      columns: ["a", "b"],
      rows: [
        ["1", "x, y"],
        ["2", ""],
      ],
      lines: [3, 4],
    });
  });

  it.each([
    ["", "t.csv is empty"],
    ["a,b\n", "t.csv has names and no rows"],
    ["a,a\n1,2\n", 't.csv, line 1: two columns are named "a"'],
    ["a,b\n1,2\n3\n", "t.csv, line 3: 1 cells where 2 columns are"],
  ])("of %j are refused", (text, error) => {
    expect(() => table(text)).toThrow(error);
  });
});

describe("a rule", () => {
  const names = ["a", "b", "c", "x=y"];
  it.each([
    ["a=real", ["a"], { kind: "real" }],
    ["a=positive", ["a"], { kind: "positive" }],
    ["a=above:-3", ["a"], { kind: "positive", above: -3 }],
    ["a=below:1e2", ["a"], { kind: "positive", below: 100 }],
    ["a=between:0:120", ["a"], { kind: "between", low: 0, high: 120 }],
    ["a=integer", ["a"], { kind: "integer" }],
    ["a=integer:1:6", ["a"], { kind: "integer", least: 1, most: 6 }],
    ["a=count", ["a"], { kind: "integer", least: 0 }],
    ["a=angle:360", ["a"], { kind: "angle", period: 360 }],
    ["x=y=real", ["x=y"], { kind: "real" }],
    ["a < b<c", ["a", "b", "c"], { kind: "ordered", parts: ["a", "b", "c"] }],
    [
      "a+b + c=100",
      ["a", "b", "c"],
      { kind: "simplex", parts: ["a", "b", "c"], total: 100, map: "isometricLogRatio", tolerance: 1e-3 },
    ],
  ])("%s", (rule, columns, spec) => {
    const found = parseRule(rule, names);
    expect(found.columns).toEqual(columns);
    expect(typeof found.domain === "object" && found.domain.spec).toMatchObject(spec);
  });

  it("may leave a column out, or call it a category", () => {
    expect(parseRule("a=drop", names)).toEqual({ columns: ["a"], domain: "drop" });
    expect(parseRule("b=category", names)).toEqual({ columns: ["b"], domain: "category" });
  });

  it.each([
    ["d=real", 'there is no column "d"'],
    ["a<d", 'there is no column "d"'],
    ["a+d=1", 'there is no column "d"'],
    ["a=toString", 'there is no kind "toString"'],
    ["a=between:1", "1 numbers after between"],
    ["a=above:high", '"high" is no number'],
    ["a=above:", '"" is no number'],
    ["a", "says nothing of a column"],
  ])("%s is refused", (rule, error) => {
    expect(() => parseRule(rule, names)).toThrow(error);
  });
});

describe("inference", () => {
  it("says what columns are, and why", () => {
    const text = "n,p,u,z,w,r\n3,2.5,.1,0,x,-1.5\n0,7,.9,1.5,y,2\n";
    expect(specs(text)).toEqual([
      ["n", { kind: "integer", least: 0 }, "whole numbers from 0 to 3"],
      ["p", { kind: "positive" }, "all above 0, from 2.5 to 7"],
      ["u", { kind: "between", low: 0, high: 1 }, "all between 0 and 1, from 0.1 to 0.9"],
      ["z", { kind: "real" }, "numbers from 0 to 1.5; exact zeros are on the bound of positive"],
      ["w", { kind: "category", labels: ["x", "y"] }, "text"],
      ["r", { kind: "real" }, "numbers from -1.5 to 2"],
    ]);
  });

  it("finds parts of a whole among their neighbours", () => {
    const rows = [
      [6.1, 20, 30, 50, 2.5],
      [7.2, 10, 80, 10, 1.5],
      [5.5, 33.3, 33.3, 33.4, 9.5],
    ];
    const found = specs(`ph,sand,silt,clay,depth\n${rows.map((row) => row.join(",")).join("\n")}\n`);
    expect(found.map(([names]) => names)).toEqual(["ph", "sand+silt+clay", "depth"]);
    expect(found[1][1]).toMatchObject({ kind: "simplex", total: 100 });
    expect(found[1][2]).toBe("above 0, and they sum to 100 in every row");
  });

  it("is overruled", () => {
    const text = "a,b,c\n1,2,3\n2,4,1\n";
    expect(specs(text, ["a<b", "c=category"])).toEqual([
      ["a+b", { kind: "ordered", parts: ["a", "b"] }, "as was said"],
      ["c", { kind: "category", labels: ["1", "3"] }, "as was said"],
    ]);
    expect(() => specs(text, ["a<b", "a=real"])).toThrow('two rules are about "a"');
    expect(() => specs(text, ["a=drop", "b=drop", "c=drop"])).toThrow("all columns are left out");
  });

  it("says where a cell is empty, unless its column is left out", () => {
    const text = "a,b\n1,2\n\n3,\n";
    expect(() => specs(text)).toThrow('t.csv, line 4, column 2 ("b"): the cell is empty');
    expect(specs(text, ["b=drop"])).toHaveLength(1);
  });

  it("takes no names for categories", () => {
    const names = Array.from({ length: 60 }, (_, i) => `${i},person ${i}`).join("\n");
    expect(() => specs(`n,who\n${names}\n`)).toThrow('"who" has 60 different texts');
    expect(() => specs("n,who\n1,x\n2,x\n")).toThrow('"who" has one value in all rows');
  });
});

describe("rows", () => {
  const text = "w,a,b\nx,1,2\ny,3,4\n";
  const domain = product(namedDomains(inferColumns(table(text), ["a<b"])));

  it("are cells in the order of the domains", () => {
    expect(rowsIn(table(text), domain)).toEqual([
      ["x", 1, 2],
      ["y", 3, 4],
    ]);
    expect(rowsIn(table("b,more,a,w\n2,?,1,x\n"), domain)).toEqual([["x", 1, 2]]);
  });

  it.each([
    ["w,a,b\nx,1,2\nx,5,4\n", /t.csv, line 3, column 2 \("a"\): .*5/],
    ["w,a,b\nz,1,2\n", /t.csv, line 2, column 1 \("w"\): "z" is none of "x", "y"/],
    ["w,a,b\nx,1,much\n", /t.csv, line 2, column 3 \("b"\): "much" is not a number/],
    ["w,a,b\nx,1,\n", /t.csv, line 2, column 3 \("b"\): the cell is empty/],
    ["w,a\nx,1\n", /t.csv has no column "b"/],
  ])("%j are refused", (bad, error) => {
    expect(() => rowsIn(table(bad), domain)).toThrow(error);
  });
});
