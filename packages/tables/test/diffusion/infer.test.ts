import { category, type Domain, integer, positive, product } from "diffeo/domain";
import { fold, key, normal, uniform } from "diffeo/random";
import { describe, expect, it } from "vitest";
import { rowsIn, rowsOf } from "../../src/diffusion/encode/rows.ts";
import { formatRule, parseRule } from "../../src/diffusion/schema/columns.ts";
import { inferColumns, namedDomains, otherDomains } from "../../src/diffusion/schema/infer.ts";
import { parseCells, serializeCells } from "../../src/table/cells.ts";

const table = (text: string) => parseCells(text, "t.csv");
const specs = (text: string, rules: readonly string[] = []) =>
  inferColumns(table(text), rules).map(({ columns, domain, reason }) => [
    columns.join("+"),
    domain?.spec,
    reason,
  ]);

describe("cells", () => {
  it("keep their text and line numbers", () => {
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

  it("begin with names; numbers are names only if they increase", () => {
    for (const text of ["1.5,0.2\n1,2\n", "3\n4\n", "2,1,3\n1,2,3\n", "0.5,1\n1,2\n"])
      expect(table(text).rows).toHaveLength(2);
    for (const text of [
      "0,1\n5,6\n",
      "2019,2020,2021\n1,2,3\n",
      "400.5,401,402\n1,2,3\n",
      "1,a\n1,2\n",
    ])
      expect(table(text).rows).toHaveLength(1);
  });

  it("are read back as written", () => {
    const rows = [
      ["x, y", 'a "word"', "two\nlines"],
      [" edge ", "", "1e-300"],
    ];
    const columns = ["a;b", "c", "d"];
    const text = serializeCells(columns, rows);
    expect(parseCells(text, "t.csv")).toMatchObject({ columns, rows });
    expect(serializeCells(["n"], [[0.1], [2]])).toBe("n\n0.1\n2\n");
  });

  it.each([
    ["", "t.csv is empty"],
    ["a,b\n", "t.csv has names but no rows"],
    ["a,a\n1,2\n", 't.csv, line 1: two columns are named "a"'],
    ["a,b\n1,2\n3\n", "t.csv, line 3 has 1 cell, but there are 2 columns"],
  ])("of %j are refused", (text, error) => {
    expect(() => table(text)).toThrow(error);
  });
});

describe("a circle and a sphere", () => {
  const angles = (cells: readonly number[], rule: string) => {
    const [one] = inferColumns(table(`a\n${cells.join("\n")}\n`), [rule]);
    return { ...(one.domain?.spec as { centre: number; from: number }), reason: one.reason };
  };

  it("are cut where rows are fewest, and angles keep their range", () => {
    // Around 220°, so that 180, which is opposite to 0, is among them.
    const wind = angles([180, 190, 200, 215, 220, 225, 240, 250, 260], "a=angle:360");
    expect(wind.centre).toBeGreaterThan(210);
    expect(wind.centre).toBeLessThan(230);
    expect(wind.from).toBe(0);
    expect(wind.reason).toMatch(
      /^as specified, from 0 to 360; cut at (3|4)\d\.5, where rows are fewest$/,
    );
    // Mornings and evenings: the night is emptier than noon.
    const { centre, from } = angles([7, 8, 9, 16, 17, 18], "a=angle:24");
    expect([Math.abs(centre - 12.5) < 0.1, from]).toEqual([true, 0]);
    expect(angles([-170, 10, 20], "a=angle:360").from).toBe(-180);
    expect(angles([5, 5.5, 6.5], "a=angle").from).toBe(5);
  });

  it("have their pole far from the rows", () => {
    const rows = ["0,0,1", "0.6,0,0.8", "0,0.6,0.8", "-0.6,0,0.8", "0,-0.6,0.8"];
    const [{ domain, reason }] = inferColumns(table(`a,b,c\n${rows.join("\n")}\n`), [
      "a,b,c=sphere",
    ]);
    expect(domain?.spec).toMatchObject({ kind: "sphere", centre: [0, 0, 1] });
    expect(reason).toBe("as specified, around (0, 0, 1)");
    const centreOf = (some: readonly string[]): unknown =>
      inferColumns(table(`a,b,c\n${some.join("\n")}\n`), ["a,b,c=sphere"])[0].domain?.spec;
    // Opposite to what lies between the rows, where none of them is, or to one of them, off every
    // axis. Rows with missing values do not count.
    expect(centreOf([...rows.slice(1), "0,,-1"])).toMatchObject({ centre: [0, 0, 1] });
    expect(centreOf(["0.6,0.8,0", "0.6,0.64,0.48", "0.6,0.64,-0.48"])).toMatchObject({
      centre: [0.6, 0.8, 0],
    });
  });

  it("report rows that are not on it, with their place", () => {
    const cells = table("a,b,c\n2,0,0\n0,0,0\n-2,0,0\n0,3,4\n");
    const inferred = inferColumns(cells, ["a,b,c=sphere"]);
    expect(() => rowsIn(cells, product(namedDomains(inferred)))).toThrow(
      /line 2, .*the vector has length 2, not 1/,
    );
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
    ["0<a<b<24", ["a", "b"], { kind: "ordered", parts: ["a", "b"], above: 0, below: 24 }],
    ["a<b<1e3", ["a", "b"], { kind: "ordered", parts: ["a", "b"], below: 1000 }],
    ["a,b=ball", ["a", "b"], { kind: "ball", size: ["a", "b"] }],
    ["a, b=ball:50", ["a", "b"], { kind: "ball", size: ["a", "b"], radius: 50 }],
    ["a,b,c=sphere", ["a", "b", "c"], { kind: "sphere", size: ["a", "b", "c"] }],
    ["a,b,c=covariance", ["a", "b", "c"], { kind: "covariance", order: ["a", "b", "c"] }],
    ["a,b,c=correlation", ["a", "b", "c"], { kind: "correlation", order: ["a", "b", "c"] }],
    [
      "a+b+c=1:zeros:0.01",
      ["a", "b", "c"],
      { kind: "simplex", parts: ["a", "b", "c"], total: 1, zeros: 0.01 },
    ],
    [
      "a+b + c=100",
      ["a", "b", "c"],
      {
        kind: "simplex",
        parts: ["a", "b", "c"],
        total: 100,
        map: "isometricLogRatio",
        tolerance: 1e-3,
      },
    ],
  ])("%s", (rule, columns, spec) => {
    const found = parseRule(rule, names);
    expect(found.columns).toEqual(columns);
    const { domain } = found as { domain: Domain };
    expect(domain.spec).toMatchObject(spec);
    // And the other way: the rule that is made of the domain says the same.
    const again = parseRule(formatRule(columns, domain) ?? "", names) as { domain: Domain };
    expect(again.domain.spec).toEqual(domain.spec);
  });

  it("may leave a column out, or declare it a category", () => {
    expect(parseRule("a=drop", names)).toEqual({ columns: ["a"], kind: "drop" });
    expect(parseRule("b=category", names)).toMatchObject({ columns: ["b"], kind: "category" });
    expect(parseRule("b=category", names).domain).toBeUndefined();
    expect(formatRule(["b"], category(["x", "y"]))).toBe("b=category");
    expect(formatRule(["b"], integer({ most: 3 }))).toBeUndefined();
    expect(formatRule(["x=y"], positive())).toBe("x=y=positive");
  });

  it.each([
    ["d=real", 'there is no column "d"'],
    ["a<d", 'there is no column "d"'],
    ["a+d=1", 'there is no column "d"'],
    ["a=toString", 'there is no kind "toString"'],
    ["a=between:1", "1 numbers after between"],
    ["a=above:high", '"high" is not a number'],
    ["a=above:", '"" is not a number'],
    ["a", "says nothing of a column"],
    ["a,d=ball", 'there is no column "d"'],
    ["a,b=real", 'there is no kind "real" of columns'],
    ["a,b=sphere:2", "1 numbers after sphere"],
    ["a,b=covariance", "2 names are not the entries of a lower triangle"],
    ["a+b=1:zeros", '"1:zeros" is not a total'],
    ["a+b=1:ones:0.1", '"1:ones:0.1" is not a total'],
  ])("%s is refused", (rule, error) => {
    expect(() => parseRule(rule, names)).toThrow(error);
  });
});

describe("inference", () => {
  it("gives the kinds of columns, and the reasons", () => {
    const text = "n,p,u,z,w,r\n3,2.5,.1,0,x,-1.5\n0,7,.9,1.5,y,2\n";
    expect(specs(text)).toEqual([
      ["n", { kind: "integer", least: 0 }, "integers from 0 to 3"],
      ["p", { kind: "positive" }, "all above 0, from 2.5 to 7"],
      ["u", { kind: "between", low: 0, high: 1 }, "all between 0 and 1, from 0.1 to 0.9"],
      ["z", { kind: "real" }, "numbers from 0 to 1.5"],
      ["w", { kind: "category", labels: ["x", "y"] }, "text"],
      ["r", { kind: "real" }, "numbers from -1.5 to 2"],
    ]);
  });

  it("finds the step and the range of recorded numbers", () => {
    const z = Array.from({ length: 40 }, (_, i) => (i * 37) % 41);
    const rows = z.map((v) =>
      [(v / 10 + 1).toFixed(1), 250 * v - 500, ((v + 1) / 100).toFixed(2), v].join(","),
    );
    const text = `p,r,u,n\n${rows.join("\n")}\n`;
    expect(specs(text).map(([, spec]) => spec)).toEqual([
      { kind: "positive", step: 0.1, range: [1, 5] },
      { kind: "integer", step: 250, range: [-500, 9500] },
      { kind: "between", low: 0, high: 1, step: 0.01, range: [0.01, 0.41] },
      { kind: "integer", least: 0, range: [0, 40] },
    ]);
    // A rule says where numbers are, not how they are written.
    const rules = ["p=real", "u=positive", "n=count", "r=real"];
    expect(specs(text, rules).map(([, spec]) => spec)).toEqual([
      { kind: "real", step: 0.1 },
      { kind: "real", step: 250 },
      { kind: "positive", step: 0.01 },
      { kind: "integer", least: 0 },
    ]);
  });

  it("names labels that occur once", () => {
    const rows = Array.from({ length: 60 }, (_, i) => (i === 7 ? "." : "mf"[i % 2]));
    const [{ reason }] = inferColumns(
      table(`sex,n\n${rows.map((sex, i) => `${sex},${i % 9}`).join("\n")}\n`),
    );
    expect(reason).toBe('text; "." occurs once');
  });

  it("recognises ordered columns that may be equal, with their common step", () => {
    const rows = Array.from(
      { length: 30 },
      (_, i) => `${(i % 7) / 2},${(i % 7) / 2 + (i % 3) / 4}`,
    );
    const text = `from,to\n${rows.join("\n")}\n`;
    const found = inferColumns(table(text), ["from<=to"]);
    expect(found.map(({ columns, reason }) => [columns[0], reason])).toEqual([
      ["from", "numbers from 0 to 3"],
      ["to − from", "numbers from 0 to 0.5"],
      ["to", "as specified: from ≤ to; from and the difference are learned"],
    ]);
    expect(formatRule(["to"], found[2].domain as Domain)).toBe("from<=to");
    expect(rowsOf(table(text), namedDomains(found))[1]).toEqual([0.5, 0.25, 0.75]);
    expect(() =>
      rowsIn(table(text), product(namedDomains(inferColumns(table(text), ["from<to"])))),
    ).toThrow('"to" is 0, which is not above "from", 0. Write from<=to');
    expect(() => specs(text, ["from<=other"])).toThrow('there is no column "other"');
  });

  it("uses the empirical distribution function for numbers with many rows", () => {
    const z = Array.from(normal(key("many"), [1000], { dtype: "float64" }).data, (v) =>
      (30 + v).toFixed(2),
    );
    const [[, spec, reason]] = specs(`a,b\n${z.map((v) => `${v},x`).join("\n")}\n`);
    expect(spec).toMatchObject({ kind: "empirical", step: 0.01 });
    expect(reason).toMatch(/^numbers from 2\d\.\d+ to 3\d\.\d+, multiples of 0.01$/);
  });

  it("reads decimal commas if they do not separate cells, and asks if they may separate thousands", () => {
    const text = "n;p;w;v\n3;2,5;1,5 l;1,250\n4;-7;2 l;2\n5;0;2 l;\n";
    expect(specs(text)).toEqual([
      ["n", { kind: "integer", least: 0 }, "integers from 3 to 5"],
      ["p", { kind: "real" }, "numbers from -7 to 2.5, with decimal commas"],
      ["w", { kind: "category", labels: ["1,5 l", "2 l"] }, "text"],
      [
        "v",
        { kind: "positive" },
        "all above 0, from 1.25 to 2, with decimal commas; 1 of 3 cells are empty",
      ],
    ]);
    const rules = ["p=real", "w=drop", "v=drop"];
    const domain = product(namedDomains(inferColumns(table(text), rules)));
    expect(rowsIn(table(text), domain)).toEqual([
      [3, 2.5],
      [4, -7],
      [5, 0],
    ]);
    expect(() => specs("a\tb\n999\t1\n1,234\t2\n")).toThrow(
      't.csv, line 3, column 1 ("a"): "1,234" may be 1234 or 1.234. Write numbers without commas.',
    );
    expect(specs("a\tb\n0,999\t1\n1,234\t2\n")[0][1]).toEqual({ kind: "positive" });
    // Between commas they are texts.
    expect(specs('a,b\n"1,5",1\n"2,5",2\n')[0][1]).toMatchObject({ kind: "category" });
  });

  it("finds parts of a whole in adjacent columns", () => {
    const rows = [
      [6.1, 20, 30, 50, 2.5],
      [7.2, 10, 80, 10, 1.5],
      [5.5, 33.3, 33.3, 33.4, 9.5],
    ];
    const found = specs(
      `ph,sand,silt,clay,depth\n${rows.map((row) => row.join(",")).join("\n")}\n`,
    );
    expect(found.map(([names]) => names)).toEqual(["ph", "sand+silt+clay", "depth"]);
    expect(found[1][1]).toMatchObject({ kind: "simplex", total: 100 });
    expect(found[1][2]).toBe("above 0, and they sum to 100 in every row");
  });

  it("finds the parts among other columns, for any missing values", () => {
    for (let seed = 0; seed < 40; seed++) {
      const at = uniform(fold(key("parts"), seed), [40 * 12], { dtype: "float64" }).data;
      const [first, parts] = [Math.floor(at[0] * 6), 3 + Math.floor(at[1] * 3)];
      const rows = Array.from({ length: 40 }, (_, i) => {
        const row = Array.from(
          at.slice(i * 12, i * 12 + 11),
          (u) => 20 + Math.round(u * 1e4) / 1e3,
        );
        const others = row.slice(first, first + parts - 1).reduce((sum, v) => sum + v, 0);
        row[first + parts - 1] = Math.round(1e3 * (200 - others)) / 1e3;
        // In two of three rows one cell is missing: of the parts, or of the columns around them.
        return row.map((v, j) => (i % 3 && j === Math.floor(at[i * 12 + 11] * 11) ? "" : v));
      });
      const names = Array.from({ length: 11 }, (_, j) => `c${j}`);
      const wanted = names.slice(first, first + parts).join("+");
      const found = specs(`${names}\n${rows.map((row) => row.join(",")).join("\n")}\n`);
      expect(found.map(([columns]) => columns).filter((name) => `${name}`.includes("+"))).toEqual([
        wanted,
      ]);
    }
  });

  it("searches 600 columns with missing values in seconds", () => {
    const lines = Array.from(
      { length: 600 },
      (_, i) => `{"v":${(i * 7) % 50},"f${i}":${i + 1}}`,
    ).join("\n");
    const began = process.cpuUsage();
    expect(inferColumns(parseCells(lines, "t.jsonl"))).toHaveLength(601);
    expect(process.cpuUsage(began).user).toBeLessThan(4e6);
  });

  it("accepts parts whose sums deviate by rounding if a rule says so, and otherwise asks", () => {
    const text = "sand,silt,clay\n33.3,33.3,33.3\n20.1,30.0,50.0\n10,20,70\n";
    const [[names, spec, reason]] = specs(text, ["sand+silt+clay=100"]);
    expect([names, reason]).toEqual(["sand+silt+clay", "as specified"]);
    // Half of the last digit, three times, and nothing for a sum that is farther off.
    expect((spec as { tolerance: number }).tolerance).toBeCloseTo(0.0015, 8);
    const inside = (row: string) => {
      const table = parseCells(`sand,silt,clay\n${row}\n`, "t.csv");
      return rowsIn(
        table,
        product(namedDomains(inferColumns(parseCells(text, "t.csv"), ["sand+silt+clay=100"]))),
      );
    };
    expect(inside("33.3,33.3,33.3")).toEqual([[33.3, 33.3, 33.3]]);
    expect(() => inside("33.3,33.3,33.2")).toThrow("the parts sum to 99.8, not 100");
    expect(specs(text).map(([, , why]) => why)).toEqual([
      "all above 0, from 10 to 33.3; with silt, clay it sums to 99.9 to 100.1: if they are parts of a whole, say sand+silt+clay=100",
      "all above 0, from 20 to 33.3",
      "all above 0, from 33.3 to 70",
    ]);
    // Integers of few values have sums of few values too.
    expect(
      specs("a,b,c\n1,0,1\n0,1,1\n1,1,1\n0,0,0\n").every(
        ([, , why]) => !String(why).includes("whole,"),
      ),
    ).toBe(true);
  });

  it("is overridden by rules", () => {
    const text = "a,b,c\n1,2,3\n2,4,1\n";
    expect(specs(text, ["0<a<b", "c=category"])).toEqual([
      ["a+b", { kind: "ordered", parts: ["a", "b"], above: 0 }, "as specified"],
      ["c", { kind: "category", labels: ["1", "3"] }, "as specified"],
    ]);
    expect(() => specs(text, ["a<b", "a=real"])).toThrow('two rules are about "a"');
    expect(() => specs(text, ["a=drop", "b=drop", "c=drop"])).toThrow("all columns are left out");
  });

  it("skips empty cells and reports their number", () => {
    const text = "n,w,p\n3,x,.5\nNA,y,2\n4,N/A,\nnan,y,null\n";
    expect(specs(text)).toEqual([
      ["n", { kind: "integer", least: 0 }, "integers from 3 to 4; 2 of 4 cells are empty"],
      ["w", { kind: "category", labels: ["x", "y"] }, "text; 1 of 4 cells are empty"],
      ["p", { kind: "positive" }, "all above 0, from 0.5 to 2; 2 of 4 cells are empty"],
    ]);
    expect(specs("a,b\n1,\n2,NA\n")[1]).toEqual([
      "b",
      undefined,
      "empty in all rows; 2 of 2 cells are empty",
    ]);
    expect(specs("a,b\n1,\n2,\n", ["b=drop"])).toHaveLength(1);
  });

  it("finds wholes with exact zeros and missing values, and states what a zero means", () => {
    const text = "a,b,c\n20,30,50\n0,80,20\n40,,60\n10,80,10\n";
    const [[names, spec, reason]] = specs(text);
    expect(names).toBe("a+b+c");
    expect(spec).toMatchObject({ kind: "simplex", total: 100, zeros: 0.05 });
    expect(reason).toBe(
      "at least 0, and they sum to 100 in every row; a part of 0 stands for one below 0.05 of the whole; 1 of 12 cells are empty",
    );
    const said = specs("a,b\n0,1\n.5,.5\n.2,.8\n", ["a+b=1"]);
    expect(said[0][1]).toMatchObject({ zeros: 0.1 });
    expect(said[0][2]).toBe("as specified; a part of 0 stands for one below 0.1 of the whole");
    // Three columns of which one is 1 are not a composition.
    expect(specs("a,b,c\n1,0,0\n0,1,0\n0,0,1\n").map(([name]) => name)).toEqual(["a", "b", "c"]);
  });

  it("reads integers beyond 2^53 as numbers that may be too close to be distinguished", () => {
    const cells = Array.from({ length: 60 }, (_, i) => `90071992547409${93 + i}`);
    const text = `a\n${cells.join("\n")}\n`;
    expect(specs(text)[0][1]).not.toMatchObject({ kind: "empirical" });
    expect(() => specs(text, ["a=empirical"])).toThrow(
      '"a" has numbers that are too close to each other for 16 digits. Subtract a constant from them, or leave out the rule a=empirical.',
    );
  });

  it("leaves out texts that are not categories, with a reason", () => {
    const names = Array.from(
      { length: 60 },
      (_, i) => `${i % 9},${"abcdefgh".slice(i % 7)} Miller ${i % 2 ? "Ann" : `Jo${i}`}`,
    );
    const [, who] = inferColumns(table(`n,who\n${names.join("\n")}\n`));
    expect([who.kind, who.domain, who.filler]).toEqual(["text", undefined, { kind: "omitted" }]);
    expect(who.reason).toMatch(/^\d\d different texts, such as "abcdefgh Miller Jo0": left out$/);
    // Few rows have few names; a rule makes them labels.
    const few = `n,who\n${Array.from({ length: 20 }, (_, i) => `${i % 3},person ${i % 11}`).join("\n")}\n`;
    expect(inferColumns(table(few))[1].kind).toBe("text");
    expect(specs(few, ["who=category"])[1][1]).toMatchObject({ kind: "category" });
    expect(specs(few.replaceAll("person 10", "person 9"))[1][1]).toMatchObject({
      kind: "category",
    });
  });

  it("lists all cells that are not numbers in one error, with rules that leave their columns out", () => {
    const stray = (at: number, text: string) =>
      Array.from({ length: 60 }, (_, i) => (i === at ? text : `${i}.5`));
    expect(() => specs(`a\n${stray(7, "l3.5").join("\n")}\n`)).toThrow(
      't.csv, line 9, column 1 ("a"): "l3.5" is not a number, though most are. Fix the cell',
    );
    const [a, b] = [stray(7, "l3.5"), stray(2, "4..5")];
    const both = a.map((cell, i) => `${cell},${b[i]}`).join("\n");
    expect(() => specs(`a,b c\n${both}\n`)).toThrow(
      't.csv: 2 columns cannot be read: line 9, column 1 ("a"): "l3.5" is not a number, though most are; line 4, column 2 ("b c"): "4..5" is not a number, though most are. Fix these cells, or leave the columns out by --column a=drop --column \'b c=drop\'.',
    );
    // What stands for a missing number is none; in a column of texts it is a label.
    expect(specs(`a\n${stray(7, "?").join("\n")}\n`)[0][1]).toMatchObject({ kind: "positive" });
    expect(specs("a\nx\n?\nx\n")[0][1]).toEqual({ kind: "category", labels: ["?", "x"] });
    expect(() => specs("n,who\n1,x\n")).toThrow(
      "t.csv has one row, which shows no distribution. Give more rows.",
    );
  });

  it("writes constants back", () => {
    const [, chg] = inferColumns(table("n,chg\n1,0.5\n2,0.5\n4,0.5\n"));
    expect(chg).toMatchObject({
      kind: "constant",
      filler: { kind: "constant", value: "0.5" },
      reason: '"0.5" in all rows',
    });
    expect(() => specs("a,b\nx,1\nx,1\n")).toThrow("no column varies");
  });

  it("finds identifiers and their pattern", () => {
    const filler = (of: (i: number) => string, count = 30) => {
      const lines = Array.from({ length: count }, (_, i) => `${of(i)},${(i * 7) % 10}.5`);
      return inferColumns(table(`id,x\n${lines.join("\n")}\n`))[0];
    };
    expect(filler((i) => String(i + 1)).filler).toMatchObject({ kind: "numbered", next: 31 });
    expect(filler((i) => String(30 - i)).kind).toBe("identifier");
    expect(filler((i) => `P-${String(i).padStart(4, "0")}/a`).filler).toEqual({
      kind: "numbered",
      before: "P-",
      next: 30,
      width: 4,
      after: "/a",
    });
    expect(filler((i) => `${((i * 7919) % 4096).toString(16).padStart(3, "0")}-k`).filler).toEqual({
      kind: "coded",
      pattern: ["0", "f", "f", "=-", "=k"].map((place, i) => (i === 0 ? "f" : place)),
    });
    // Integers that skip some are numbers, and so are few.
    expect(filler((i) => String(2 * i)).kind).toBe("integer");
    expect(filler((i) => String(i + 1), 12).kind).toBe("integer");
    expect(
      filler((i) => `${"word".slice(0, 1 + (i % 4))}${"abcdefghijklmnopqrstuvwxyz1234"[i]}`).kind,
    ).toBe("text");
  });

  it("recognises adjacent columns as parts of a whole only if that is evident", () => {
    // Nearly constant columns next to one that carries the sum, as jitter next to a total.
    const thin = Array.from(
      { length: 40 },
      (_, i) => `${(0.002 + i * 1e-5).toFixed(5)},${(0.004 - i * 1e-5).toFixed(5)},1.5`,
    );
    expect(specs(`a,b,c\n${thin.join("\n")}\n`).map(([name]) => name)).toEqual(["a", "b", "c"]);
    // Sums that differ in a digit that is written.
    const off = Array.from(
      { length: 40 },
      (_, i) => `${20 + i},${50 - i},${i === 9 ? 30.0001 : 30 + (i % 2) * 0}`,
    );
    expect(specs(`a,b,c\n${off.join("\n")}\n`).map(([name]) => name)).toEqual(["a", "b", "c"]);
  });

  it("suggests a meaning for texts that contain dates or numbers", () => {
    const column = (of: (i: number) => string): string =>
      `n,a\n${Array.from({ length: 20 }, (_, i) => `${i % 3},"${of(i)}"`).join("\n")}\n`;
    const reason = (of: (i: number) => string) =>
      specs(column(of), ["a=text"]) && inferColumns(table(column(of)))[1].reason;
    for (const of of [
      (i: number) => `${(i % 12) + 1}.3.20${10 + i}${i === 7 ? " or so" : ""}`,
      (i: number) => (i === 7 ? "8 March" : `3/${i + 1}/${10 + i}`),
    ])
      expect(reason(of)).toContain("write all dates in one format, such as 2024-12-31");
    for (const of of [(i: number) => `${i},000.5`, (i: number) => `$${i}.50`])
      expect(reason(of)).toContain("write numbers plainly, as 1234.5");
    expect(specs(column((i) => `${5 * (i % 3)}%`))[1][2]).toBe(
      'text, such as "0%": if it is not, write numbers plainly, as 1234.5',
    );
    expect(specs(column((i) => `${5 * (i % 3)} mg`))[1][2]).toBe("text");
  });
});

describe("rows", () => {
  const text = "w,a,b\nx,1,2\ny,3,4\n";
  const domain = product(namedDomains(inferColumns(table(text), ["0<a<b"])));

  it("are cells in the order of the domains", () => {
    expect(rowsIn(table(text), domain)).toEqual([
      ["x", 1, 2],
      ["y", 3, 4],
    ]);
    expect(rowsIn(table("b,more,a,w\n2,?,1,x\n"), domain)).toEqual([["x", 1, 2]]);
  });

  it("have missing values for empty cells, and may lack columns if an option allows it", () => {
    expect(rowsIn(table("w,a,b\nNA,1,\n"), domain)).toEqual([[null, 1, null]]);
    expect(rowsIn(table("w\nx\n"), domain, { lacking: true })).toEqual([["x", null, null]]);
    expect(() => rowsIn(table("w,a,b\nx,1,2\nx,1,\n"), domain, { torn: false })).toThrow(
      't.csv, line 3: of "a", "b" some are there and some are not',
    );
  });

  it("have numbers as labels if labels are numbers", () => {
    const own = product({ k: category([1, 2]) });
    expect(rowsIn(table("k\n1\n2.0\n"), own)).toEqual([[1], [2]]);
  });

  it.each([
    ["w,a,b\nx,1,2\nx,5,4\n", /t.csv, line 3, column 2 \("a"\): .*5/],
    ["w,a,b\nz,1,2\n", /t.csv, line 2, column 1 \("w"\): "z" is not one of "x", "y"/],
    ["w,a,b\nx,1,much\n", /t.csv, line 2, column 3 \("b"\): "much" is not a number/],
    ["w,a\nx,1\n", /t.csv has no column "b"/],
  ])("%j are refused", (bad, error) => {
    expect(() => rowsIn(table(bad), domain)).toThrow(error);
  });
});

describe("other domains", () => {
  const kindsOf = (text: string, rules: readonly string[] = []) => {
    const cells = table(text);
    const usual = inferColumns(cells, rules);
    const others = Object.entries(otherDomains(cells, rules, usual));
    return [
      usual.map(({ kind }) => kind).join(" "),
      Object.fromEntries(others.map(([name, { v }]) => [name, v.kind])),
    ];
  };
  const u = uniform(key("zeros"), [200, 2], { dtype: "float64" }).data;
  const zeros = (share: number): string =>
    `v\n${Array.from({ length: 200 }, (_, i) => (u[2 * i] < share ? "0" : (5 + 5 * u[2 * i + 1]).toFixed(2))).join("\n")}\n`;

  it("are the different domains that other kinds of numbers give", () => {
    // A fifth of few rows is not a point mass as usual, half of them is one.
    expect(kindsOf(zeros(0.2))).toEqual([
      "real",
      { "point masses": "mixed", distributions: "empirical" },
    ]);
    expect(kindsOf(zeros(0.5))).toEqual(["mixed", { smooth: "real" }]);
  });

  it("do not exist for columns with a rule", () => {
    expect(kindsOf(zeros(0.2), ["v=real"])).toEqual(["real", {}]);
  });
});
