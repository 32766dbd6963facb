/** Counts beyond the range that a model knows: all commands report the likelihood zero alike. */
import { readFileSync, writeFileSync } from "node:fs";
import { key, normal } from "diffeo/random";
import { beforeAll, describe, expect, it } from "vitest";
import { testFolder } from "../../../../test/folder.ts";
import { diffeo, printed } from "../run.ts";

const { at } = testFolder("no-chance");

const rows = Array.from({ length: 60 }, (_, i) => {
  const [a, b] = normal(key(i), 2, { dtype: "float64" }).data;
  return [i % 4, a, a + b];
});
const write = (name: string, some: readonly (readonly (string | number)[])[]): string => {
  writeFileSync(at(name), `visits,a,b\n${some.map((row) => row.join(",")).join("\n")}\n`);
  return at(name);
};
const model = ["--model", at("a.model"), "--threads", "1"];

describe("a count of likelihood zero, under a model of counts from 0 to 3 and as far beyond", () => {
  beforeAll(async () => {
    const fit = [
      "table",
      "fit",
      write("rows.csv", rows),
      "--out",
      at("a.model"),
      "--steps",
      "1",
      "--threads",
      "1",
    ];
    await printed(...fit, "--no-evaluate");
  });

  it("is refused if cells are sampled given it, with its place and the possible values", async () => {
    const refused = await diffeo(
      "table",
      "complete",
      write("holes.csv", [
        [3, "", 1],
        [40, "", 1],
      ]),
      ...model,
    );
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toBe(
      `diffeo: ${at("holes.csv")}, line 3, column 1 ("visits"): 40 has probability 0 under the model, which knows 0 to 14. Fix or empty the cell, or drop the row.\n`,
    );
    const given = await diffeo("table", "sample", "--given", "visits=40", ...model);
    expect(given).toMatchObject({ code: 2, stdout: "" });
    expect(given.stderr).toContain(
      'given: "visits": 40 has probability 0 under the model, which knows 0 to 14. Give one of these.',
    );
    expect(
      await printed("table", "sample", "--given", "visits=14", "--count", "1", ...model),
    ).toMatch(/\n14,.*\n$/);
    // A row of which nothing is drawn stays as it is, and so do the names of its columns.
    writeFileSync(at("drawn.csv"), "draw,draw number,visits,a,b\nx,y,3,0.5,1\n");
    expect(await printed("table", "complete", at("drawn.csv"), ...model)).toBe(
      "draw number number,draw,draw number,visits,a,b\n1,x,y,3,0.5,1\n",
    );
    expect(await printed("table", "complete", write("whole.csv", [[40, 0.5, 1]]), ...model)).toBe(
      "draw,visits,a,b\n1,40,0.5,1\n",
    );
  });

  it("has the log-likelihood −∞: -Infinity in CSV, null in JSON, which lists the row, and a count in the text", async () => {
    const score = [
      "table",
      "likelihood",
      write("far.csv", [...rows.slice(0, 2), [40, 0, 0]]),
      "--evaluations",
      "25",
      ...model,
    ];
    const lines = (await printed(...score)).trimEnd().split("\n");
    expect(lines.at(-1)).toBe("-Infinity");
    const found = lines.slice(1, 3).map(Number);
    const mean = (found[0] + found[1]) / 2;
    const { meanOfOthers, ...report } = JSON.parse(await printed(...score, "--json"));
    expect(report).toEqual({ rows: 3, mean: null, noChance: [3], logLikelihood: [...found, null] });
    expect(meanOfOthers).toBeCloseTo(mean, 12);
    expect(await printed(...score, "--out", at("far scores.csv"))).toBe(
      `3 rows: ${at("far scores.csv")}\n1 of 3 rows has likelihood zero under the model; mean of the others ${mean.toFixed(4)} nats\n`,
    );
    expect(readFileSync(at("far scores.csv"), "utf8").trimEnd().split("\n")).toEqual(lines);
    const none = [
      "table",
      "likelihood",
      write("none.csv", [
        [40, 0, 0],
        [41, 0, 0],
      ]),
      "--evaluations",
      "25",
      ...model,
    ];
    expect(JSON.parse(await printed(...none, "--json"))).toEqual({
      ...{ rows: 2, mean: null, noChance: [1, 2], meanOfOthers: null, logLikelihood: [null, null] },
    });
    expect(await printed(...none, "--out", at("none scores.csv"))).toMatch(
      /\n2 of 2 rows have likelihood zero under the model\n$/,
    );
  });

  it("is left out of the means of an evaluation, which reports it as its first problem", async () => {
    const held = write("held.csv", [...rows.slice(0, 20), [40, 0, 0]]);
    const evaluate = ["table", "evaluate", held, "--samples", "100", ...model];
    const stdout = await printed(...evaluate, "--complete", "--hidden", "21", "--draws", "2");
    expect(stdout).toMatch(
      /^log-likelihood +-\d+\.\d{3} ± \d\.\d{3} nats per row \(20 rows; 1 more of likelihood zero\)$/m,
    );
    expect(stdout.trimEnd().split("\n").at(-1)).toMatch(
      /^problems found: 1 of 21 rows has likelihood zero under the model: an integer is outside of the range that it knows/,
    );
    expect(stdout).not.toMatch(/NaN|Infinity/);
    // Of 21 rows three columns are hidden alone, two of them in 20: nothing is drawn given the
    // count of the last.
    expect(stdout).toMatch(/^ {2}hidden alone .* \(61 numbers\)$/m);
    const { likelihood } = JSON.parse(await printed(...evaluate, "--json"));
    expect(likelihood).toMatchObject({ rows: 20, noChance: 1, mean: expect.any(Number) });
  });
});

describe("counts of a wide range, and numeric labels", () => {
  it("are scored at the specified number of points, and can be given as numbers", async () => {
    const lines = rows.map(
      ([n, a], i) => `${Math.round(1000 * Math.exp(a))},${n % 2}${i % 3 === 0 ? 0 : ""}`,
    );
    writeFileSync(at("wide.csv"), `cost,ward\n${lines.join("\n")}\n`);
    const own = ["--model", at("wide.model"), "--threads", "1"];
    const fit = [
      "table",
      "fit",
      at("wide.csv"),
      "--out",
      at("wide.model"),
      "--steps",
      "1",
      "--threads",
      "1",
    ];
    await printed(...fit, "--column", "ward=category", "--no-evaluate");
    writeFileSync(at("few.csv"), `cost,ward\n${lines.slice(0, 2).join("\n")}\n`);
    const score = (...how: string[]) =>
      printed("table", "likelihood", at("few.csv"), ...how, ...own);
    const scores = [
      await score("--evaluations", "25", "--spread", "1"),
      await score("--evaluations", "25", "--spread", "3"),
      await score("--evaluations", "13", "--spread", "1"),
    ];
    expect(new Set(scores).size).toBe(3);
    expect(await printed("table", "sample", "--given", "ward=10", "--count", "2", ...own)).toMatch(
      /^cost,ward\n\d+,10\n\d+,10\n$/,
    );
  });
});
