/** Models of tables on the command line: fits, samples, completions and likelihoods. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { key, normal } from "diffeo/random";
import { kolmogorovSmirnov } from "diffeo/two-sample";
import { readCells } from "diffeo-tables/node";
import { beforeAll, describe, expect, it } from "vitest";
import { testFolder } from "../../../../test/folder.ts";
import { diffeo, diffeoWith, type Ended } from "../run.ts";

const { at } = testFolder("table");
const bytesOf = (name: string): Buffer => readFileSync(at(name));

/**
 * size = e^a, share = 1/(1 + e^{-b}), from < to, of two modes: a model after a step knows nothing
 * of them.
 */
const rowsFrom = (first: number, count: number): (string | number)[][] =>
  Array.from({ length: count }, (_, k) => {
    const i = first + k;
    const [a, b, c, d] = normal(key(i), 4, { dtype: "float64" }).data;
    const from = c - (i % 5 < 2 ? 1 : 19);
    return [`row ${i}`, Math.exp(a), 1 / (1 + Math.exp(-b - a)), from, from + Math.exp(d)];
  });
const rows = rowsFrom(0, 120);
const scaledRows = rows.map(([id, size, ...rest]) => [id, 1000 * Number(size), ...rest]);
const heading = "id,size,share,from,to";
const csvOf = (some: readonly (readonly (string | number)[])[]): string =>
  `${heading}\n${some.map((row) => row.join(",")).join("\n")}\n`;
const fitting = [
  "--column",
  "id=drop",
  "--column",
  "-50<from<to",
  "--steps",
  "1",
  "--threads",
  "1",
  "--seed",
  "5",
];
const fitAlone = [...fitting, "--no-evaluate"];

describe("table", () => {
  let fit: Ended;
  beforeAll(async () => {
    writeFileSync(at("rows.csv"), csvOf(rows));
    writeFileSync(at("some.csv"), csvOf(rows.slice(0, 40)));
    fit = await diffeo("table", "fit", at("rows.csv"), "--out", at("a.model"), ...fitting);
    // Sizes in other units, and no network of given cells.
    writeFileSync(at("scaled.csv"), csvOf(scaledRows));
    const scaled = [
      "table",
      "fit",
      at("scaled.csv"),
      "--out",
      at("scaled.model"),
      "--no-given",
      ...fitAlone,
    ];
    expect((await diffeo(...scaled)).code).toBe(0);
  });

  it("--all-rows fits again to all rows, for the steps that --choose distance chose", async () => {
    const choice = ["--no-given", "--choose", "distance", "--all-rows"];
    const { code, stdout } = await diffeo(
      ...["table", "fit", at("some.csv"), "--out", at("all.model"), ...fitAlone, ...choice],
    );
    expect(code).toBe(0);
    expect(stdout).toContain("fitted again to all 40 rows, to step 1\n");
    // The standard is no longer that of four fifths of the rows.
    await diffeo(
      ...["table", "fit", at("some.csv"), "--out", at("part.model"), ...fitAlone],
      ...["--no-given", "--choose", "distance"],
    );
    expect(bytesOf("all.model").equals(bytesOf("part.model"))).toBe(false);
  });

  it("fit prints the kinds of the columns, and the path of the model", () => {
    const { stdout } = fit;
    expect(stdout).toMatch(/^size +positive +all above 0, from /m);
    expect(stdout).toMatch(/^share +between +all between 0 and 1, from /m);
    expect(stdout).toMatch(/^from, to +ordered +as specified$/m);
    expect(stdout).toMatch(
      /^120 rows, \d+ s; weights of step \d+, loss on held-out rows \d\.\d{4}$/m,
    );
    expect(stdout).toContain(`\n${at("a.model")}\n12 rows not used in training`);
  });

  it("fit ends with an evaluation, exits with code 3 if a baseline is better, and gives the same JSON for the same seed", async () => {
    expect(fit.stdout).toMatch(
      /^log-likelihood +-?\d+\.\d{3} ± \d\.\d{3} nats per row \(12 rows\)$/m,
    );
    expect(fit.stdout).toMatch(
      /^ {2}Gaussian copula +-?\d+\.\d{3} {3}the model has \d+\.\d{3} (more|less) ± /m,
    );
    expect(fit.code).toBe(3);
    expect(fit.stderr).toMatch(
      /^diffeo: a Gaussian copula has a log-likelihood of .* nats per row more than the model; .*/,
    );
    expect(fit.stderr).toContain("The model is written; train longer");
    const said = fit.stdout.trimEnd().split("\n").at(-1) ?? "";
    expect(said.replace("problems found", "diffeo")).toBe(fit.stderr.slice(0, said.length - 8));
    // The model is written even if it fails. It is the same for the same seed, and its report is
    // available as JSON and as a page.
    const page = ["--accept", "--json", "--report", at("accepted.html")];
    const accepted = await diffeo(
      "table",
      "fit",
      at("rows.csv"),
      "--out",
      at("accepted.model"),
      ...fitting,
      ...page,
    );
    expect([accepted.code, accepted.stderr]).toEqual([0, ""]);
    expect(bytesOf("accepted.model").equals(bytesOf("a.model"))).toBe(true);
    const report = JSON.parse(accepted.stdout);
    expect(report).toMatchObject({
      data: at("rows.csv"),
      rows: 120,
      seed: 5,
      model: at("accepted.model"),
    });
    expect(readFileSync(at("accepted.html"), "utf8")).toMatch(
      /^<!doctype html>.*<h1>rows\.csv<\/h1>.*all between 0 and 1, from .*accepted\.model.*<\/html>\n$/s,
    );
    for (const [name, value] of [
      ["rows", "120"],
      ["weights of step", "1"],
      ["loss on held-out rows", report.validation.toFixed(4)],
      ["seed", "5"],
      ["seconds", report.seconds.toFixed(0)],
    ])
      expect(readFileSync(at("accepted.html"), "utf8")).toContain(
        `<td>${name}</td><td>${value}</td>`,
      );
    expect(report.evaluation).toMatchObject({ rows: 12, training: 108, likelihood: { rows: 12 } });
    expect(report.columns[2]).toEqual({
      columns: ["from", "to"],
      domain: { kind: "ordered", parts: ["from", "to"], above: -50 },
      kind: "ordered",
      reason: "as specified",
    });
  });

  it("evaluate measures a model on new rows, compared with baselines fitted to the training rows", async () => {
    const fresh = rowsFrom(5000, 20);
    writeFileSync(at("fresh.csv"), csvOf(fresh.slice(0, 10)));
    writeFileSync(at("open.csv"), csvOf([...fresh, ["hole", "", 0.5, -9, -8]]));
    const evaluateOf = (name: string) => [
      "table",
      "evaluate",
      at(name),
      "--model",
      at("a.model"),
      ...small,
    ];
    const small = ["--samples", "100", "--threads", "1"];
    const evaluate = evaluateOf("fresh.csv");
    const { stdout, code } = await diffeo(...evaluateOf("open.csv"), "--scored", "15");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^log-likelihood .* nats per row \(15 rows\)$/m);
    expect(stdout).toMatch(
      /^1 of 21 rows have empty .*\n21 rows assumed not used in training, 1 of them with missing cells, 100 sampled; baselines fitted to nine tenths of these rows/,
    );
    expect(stdout.trimEnd().split("\n").at(-1)).toMatch(/^(no problem found|problems found)/);
    const complete = ["--complete", "--hidden", "6", "--draws", "5"];
    const page = ["--json", "--report", at("fresh.html"), "--seed", "3"];
    const report = JSON.parse(
      (await diffeo(...evaluate, "--train", at("rows.csv"), ...complete, ...page)).stdout,
    );
    expect(report).toMatchObject({
      rows: 10,
      training: 120,
      privacy: { among: 120, samples: { copies: 0 } },
    });
    const { alone, several, ...asked } = report.completion;
    expect(asked).toEqual({ rows: 6, draws: 5 });
    expect(
      alone.columns.map(({ column, cells }: { column: string; cells: number }) => [column, cells]),
    ).toEqual(["size", "share", "from", "to"].map((column) => [column, 6]));
    expect(alone.numbers.cells).toBe(24);
    expect(several.numbers.cells).toBeGreaterThanOrEqual(6);
    // Samples are those of its seed.
    const sample = [
      "table",
      "sample",
      "--model",
      at("a.model"),
      "--count",
      "100",
      "--seed",
      "3",
      "--threads",
      "1",
    ];
    const samples: number[][] = JSON.parse((await diffeo(...sample, "--json")).stdout).rows;
    for (const [j, name] of ["size", "share", "from", "to"].entries())
      expect(report.model.columns).toContainEqual(
        expect.objectContaining({
          column: name,
          distance: kolmogorovSmirnov(
            samples.map((row) => row[j]),
            fresh.slice(0, 10).map((row) => Number(row[j + 1])),
          ),
        }),
      );
    expect(readFileSync(at("fresh.html"), "utf8")).toMatch(
      /<h2>Completion<\/h2>.*all numbers.*Cells of 6 held-out rows/s,
    );
    expect((await diffeo(...evaluate, "--draws", "5")).stderr).toContain(
      "--draws cannot be used with",
    );
    const { mean } = JSON.parse(
      (
        await diffeo(
          "table",
          "likelihood",
          at("fresh.csv"),
          "--model",
          at("a.model"),
          "--threads",
          "1",
          "--json",
        )
      ).stdout,
    );
    expect(report.likelihood.mean).toBeCloseTo(mean, 6);
  });

  it("fit replaces no model without --force, and writes none when interrupted", async () => {
    const again = await diffeo("table", "fit", at("rows.csv"), "--out", at("a.model"), ...fitAlone);
    expect(again.code).toBe(2);
    expect(again.stderr).toContain("a.model already exists");
    const stop = new AbortController();
    stop.abort();
    const stopped = await diffeoWith(
      { signal: stop.signal },
      "table",
      "fit",
      at("rows.csv"),
      "--out",
      at("c.model"),
      ...fitAlone,
    );
    expect(stopped.code).not.toBe(0);
    expect(existsSync(at("c.model"))).toBe(false);
  });

  it("fit without an evaluation says so, and refuses options of the evaluation", async () => {
    const fit = ["table", "fit", at("rows.csv"), "--out", at("alone.model"), ...fitAlone];
    const { code, stdout } = await diffeo(...fit);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /alone\.model\nnot evaluated; diffeo table evaluate evaluates it on other rows\n$/,
    );
    expect(bytesOf("alone.model").equals(bytesOf("a.model"))).toBe(true);
    const redundant = await diffeo(...fit, "--accept", "--force");
    expect(redundant.code).toBe(0);
    expect(redundant.stderr).toContain("--accept has no effect with --no-evaluate");
    const refused = await diffeo(...fit, "--report", at("alone.html"), "--force");
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("--report cannot be used with --no-evaluate");
  });

  it("fit names the row that does not fit the specified kind of a column", async () => {
    writeFileSync(at("bad.csv"), csvOf([...rows.slice(0, 20), ["x", 1, 0.5, 3, 2]]));
    const { code, stderr } = await diffeo(
      "table",
      "fit",
      at("bad.csv"),
      "--out",
      at("d.model"),
      ...fitAlone,
    );
    expect(code).toBe(1);
    expect(stderr).toMatch(/bad\.csv, line 22, column 4 \("from"\): /);
    const unknown = await diffeo(
      "table",
      "fit",
      at("rows.csv"),
      "--out",
      at("d.model"),
      "--column",
      "age=real",
    );
    expect(unknown.code).toBe(2);
    expect(unknown.stderr).toContain('there is no column "age"');
  });

  it("sample gives rows inside the domains, the same for the same seed", async () => {
    const draw = ["table", "sample", "--model", at("a.model"), "--count", "50", "--threads", "1"];
    const { stdout, code } = await diffeo(...draw);
    expect(code).toBe(0);
    const [names, ...lines] = stdout.trimEnd().split("\n");
    expect(names).toBe("size,share,from,to");
    expect(lines).toHaveLength(50);
    for (const line of lines) {
      const [size, share, from, to] = line.split(",").map(Number);
      expect(size > 0 && share > 0 && share < 1 && from < to).toBe(true);
    }
    const filed = await diffeo(...draw, "--out", at("drawn.csv"));
    expect(filed.stdout).toBe(`50 rows: ${at("drawn.csv")}\n`);
    expect(readFileSync(at("drawn.csv"), "utf8")).toBe(stdout);
    const { columns, rows: drawn } = JSON.parse((await diffeo(...draw, "--json")).stdout);
    expect([columns, ...drawn].map((row) => row.join(",")).join("\n")).toBe(stdout.trimEnd());
    expect((await diffeo(...draw, "--seed", "1")).stdout).not.toBe(stdout);
    expect((await diffeo(...draw, "--evaluations", "9")).stdout).not.toBe(stdout);
  });

  it("likelihood gives the log-likelihood of every row in the units of the table", async () => {
    const few = ["--evaluations", "25", "--threads", "1"];
    const score = ["table", "likelihood", at("some.csv"), "--model", at("a.model"), ...few];
    const { stdout, code } = await diffeo(...score);
    expect(code).toBe(0);
    const [name, ...values] = stdout.trimEnd().split("\n");
    expect(name).toBe("log likelihood");
    expect(values).toHaveLength(40);
    const { mean, logLikelihood } = JSON.parse((await diffeo(...score, "--json")).stdout);
    expect(logLikelihood).toEqual(values.map(Number));
    expect(mean).toBeCloseTo(logLikelihood.reduce((s: number, v: number) => s + v, 0) / 40, 12);
    // A thousandth of a unit a unit, and as much less density.
    writeFileSync(at("some-scaled.csv"), csvOf(scaledRows.slice(0, 40)));
    const scaled = await diffeo(
      "table",
      "likelihood",
      at("some-scaled.csv"),
      "--model",
      at("scaled.model"),
      ...few,
      "--json",
    );
    expect(JSON.parse(scaled.stdout).mean).toBeCloseTo(mean - Math.log(1000), 2);
  });

  it("picture draws columns next to samples, as SVG and PNG", async () => {
    writeFileSync(at("few.csv"), csvOf(rows.slice(0, 10)));
    const draw = [
      "table",
      "picture",
      "--model",
      at("a.model"),
      "--data",
      at("few.csv"),
      "--samples",
      "10",
      "--threads",
      "1",
      "--out",
    ];
    const drawn = await diffeo(...draw, at("a.svg"));
    expect(drawn).toMatchObject({ code: 0, stderr: "", stdout: `${at("a.svg")}\n` });
    const svg = readFileSync(at("a.svg"), "utf8");
    expect(svg).toContain("few.csv: data and rows sampled from a.model");
    expect(svg).toContain("likelihood ranks of the rows among samples");
    // A picture is made again without asking.
    const some = ["--no-ranks", "--columns", "size,to"];
    expect((await diffeo(...draw, at("a.svg"), ...some)).code).toBe(0);
    expect(readFileSync(at("a.svg"), "utf8")).toMatch(
      /Pair plot of size, to: .*Left out: share, from\./s,
    );
    for (const other of [
      ["--seed", "1"],
      ["--samples", "11"],
    ]) {
      expect((await diffeo(...draw, at("b.svg"), ...some, ...other)).code).toBe(0);
      expect(readFileSync(at("b.svg"), "utf8")).not.toBe(readFileSync(at("a.svg"), "utf8"));
    }
    expect((await diffeo(...draw, at("a.png"), "--no-ranks")).code).toBe(0);
    expect(readFileSync(at("a.png")).subarray(1, 4).toString()).toBe("PNG");
    expect(await diffeo(...draw, at("a.gif"))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("neither in .svg nor in .png"),
    });
  });

  it("sample gives rows with given cells", async () => {
    const draw = ["table", "sample", "--model", at("a.model"), "--count", "20", "--threads", "1"];
    const { stdout, code } = await diffeo(
      ...draw,
      "--given",
      "share=0.25",
      "--given",
      "from=-9",
      "--given",
      "to=-8.5",
    );
    expect(code).toBe(0);
    for (const line of stdout.trimEnd().split("\n").slice(1))
      expect(line.split(",").slice(1)).toEqual(["0.25", "-9", "-8.5"]);
    // An empty variable of a script is refused, whatever the column.
    const empty = await diffeo(...draw, "--given", "size=");
    expect(empty.code).toBe(2);
    expect(empty.stderr).toContain("--given size=: the value is empty. Give a value");
    const half = await diffeo(...draw, "--given", "from=-9");
    expect(half.code).toBe(2);
    expect(half.stderr).toContain('of "from", "to" some are there and some are not');
    const unknown = await diffeo(...draw, "--given", "age=3");
    expect(unknown.code).toBe(2);
    expect(unknown.stderr).toContain("--given age=3: the model has no such column");
    expect((await diffeo(...draw, "--given", "size=big")).stderr).toContain(
      "--given size=big: big is not a number",
    );
    const twice = await diffeo(...draw, "--given", "size=1", "--given", "size=2");
    expect([twice.code, twice.stderr]).toEqual([
      2,
      expect.stringContaining("--given size=2: size is given twice"),
    ]);
    expect((await diffeo(...draw, "--given", "size=-1")).stderr).toContain("-1 is not above 0");
  });

  it("complete fills empty cells several times, and keeps all others", async () => {
    writeFileSync(
      at("holes.csv"),
      "id,from,to,share\nfirst,-9,-8,NA\nsecond,,,0.5\nthird,-9,-8,0.25\n",
    );
    const fill = [
      "table",
      "complete",
      at("holes.csv"),
      "--model",
      at("a.model"),
      "--draws",
      "3",
      "--threads",
      "1",
    ];
    const { stdout, code, stderr } = await diffeo(...fill);
    expect(stderr).toBe("");
    expect(code).toBe(0);
    const [names, ...lines] = stdout.trimEnd().split("\n");
    expect(names).toBe("draw,id,from,to,share,size");
    const cells = lines.map((line) => line.split(","));
    expect(cells.map(([draw, id]) => [draw, id])).toEqual(
      ["first", "second", "third"].flatMap((id) => ["1", "2", "3"].map((draw) => [draw, id])),
    );
    for (const [, id, from, to, share, size] of cells) {
      expect(
        Number(size) > 0 && Number(share) > 0 && Number(share) < 1 && Number(from) < Number(to),
      ).toBe(true);
      if (id !== "second") expect([from, to]).toEqual(["-9", "-8"]);
      if (id !== "first") expect(share).toBe(id === "second" ? "0.5" : "0.25");
    }
    expect(new Set(cells.map((row) => row[5])).size).toBe(9);
    for (const other of [
      ["--seed", "1"],
      ["--evaluations", "9"],
    ])
      expect((await diffeo(...fill, ...other)).stdout).not.toBe(stdout);
    const filed = await diffeo(...fill, "--out", at("filled.csv"), "--json");
    expect(readFileSync(at("filled.csv"), "utf8")).toBe(stdout);
    const { columns, rows: filled } = JSON.parse(filed.stdout);
    expect([columns, ...filled].map((row) => row.join(",")).join("\n")).toBe(stdout.trimEnd());
    // Rows of the next batch are drawn by numbers of their own.
    writeFileSync(at("twice.csv"), "from,to,share\n-9,-8,0.5\n-9,-8,0.5\n");
    const batches = [
      "--model",
      at("a.model"),
      "--draws",
      "5001",
      "--evaluations",
      "2",
      "--threads",
      "1",
    ];
    const drawn = (await diffeo("table", "complete", at("twice.csv"), ...batches)).stdout
      .trimEnd()
      .split("\n");
    expect(drawn).toHaveLength(1 + 2 * 5001);
    expect(drawn.slice(1, 4)).not.toEqual(drawn.slice(5002, 5005));
    writeFileSync(at("torn.csv"), "from,to\n-9,-8\n-9,\n");
    const torn = await diffeo("table", "complete", at("torn.csv"), "--model", at("a.model"));
    expect(torn.code).toBe(1);
    // An error in the last line is reported before anything is written.
    expect(torn.stdout).toBe("");
    expect(torn.stderr).toContain(
      'torn.csv, line 3: of "from", "to" some are there and some are not',
    );
  });

  it("complete copies given cells as they are written, and needs one column of the model", async () => {
    // Integers beyond 2^53, digits beyond float64, and forms that a number would be written in otherwise.
    const [id, share] = ["357467202448740519", "0.25000000000000000012"];
    writeFileSync(
      at("exact.csv"),
      `id,from,to,share\n${id},-9.0,+8e0,${share}\n${id},-9.0,0.80e1,\n`,
    );
    const model = ["--model", at("a.model"), "--threads", "1", "--evaluations", "2"];
    const { stdout } = await diffeo("table", "complete", at("exact.csv"), ...model);
    const lines = stdout.trimEnd().split("\n").slice(1);
    expect(lines[0]).toMatch(new RegExp(`^1,${id},-9\\.0,\\+8e0,${share},\\d`));
    expect(lines[1]).toMatch(new RegExp(`^1,${id},-9\\.0,0\\.80e1,0\\.\\d+,\\d`));
    const json = (await diffeo("table", "complete", at("exact.csv"), ...model, "--json")).stdout;
    // JSON has no plus sign before a number; all other digits pass.
    expect(json).toContain(`"rows":[[1,"${id}",-9.0,8e0,${share},`);
    expect(json).toContain(`,[1,"${id}",-9.0,0.80e1,`);
    expect(JSON.parse(json).rows[1].slice(0, 4)).toEqual([1, id, -9, 8]);
    await diffeo("table", "complete", at("exact.csv"), ...model, "--out", at("exact.jsonl"));
    expect(readFileSync(at("exact.jsonl"), "utf8")).toContain(
      `{"draw":1,"id":"${id}","from":-9.0,"to":8e0,"share":${share},`,
    );
    // In a file that tells numbers from texts, columns that the model does not have keep their type.
    await diffeo("table", "complete", at("exact.csv"), ...model, "--out", at("exact.parquet"));
    writeFileSync(at("typed.jsonl"), `{"id":${id},"from":-9.0,"to":8,"share":null,"is":true}\n`);
    const typed = ["table", "complete", at("typed.jsonl"), ...model, "--out", at("typed.parquet")];
    expect((await diffeo(...typed)).code).toBe(0);
    expect((await readCells(at("exact.parquet"))).rows[0].slice(1, 5)).toEqual([
      ...[id, "-9", "8", share],
    ]);
    const back = await readCells(at("typed.parquet"));
    expect(back.rows[0].slice(0, 4)).toEqual(["1", id, "-9", "8"]);
    expect(back.rows[0][5]).toBe("true");
    expect(back.literals?.slice(0, 6)).toEqual([true, true, true, true, true, true]);
    expect(
      (await diffeo("table", "complete", at("typed.jsonl"), ...model, "--json")).stdout,
    ).toMatch(new RegExp(`"rows":\\[\\[1,${id},-9\\.0,8,0\\.\\d+,true,`));
    // A comma before the fraction becomes a point: the output has commas between cells.
    writeFileSync(at("commas.csv"), "id;from;to;share\nx;-9,50;8;0,250\n");
    const commas = (await diffeo("table", "complete", at("commas.csv"), ...model)).stdout;
    expect(commas.split("\n")[1]).toMatch(/^1,x,-9\.50,8,0\.250,\d/);
    writeFileSync(at("strange.csv"), "id,age\nx,3\n");
    expect(await diffeo("table", "complete", at("strange.csv"), ...model)).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining(
        "strange.csv has no column of the model. Give a file with at least one of size, share, from, to",
      ),
    });
  });

  it("fit and likelihood accept rows with empty cells", async () => {
    const holes = rows.map((row, i) =>
      row.map((cell, j) => ((j === 1 && i % 9 === 0) || (j > 2 && i % 9 === 1) ? "" : cell)),
    );
    writeFileSync(at("open.csv"), csvOf(holes));
    const { stdout, code } = await diffeo(
      "table",
      "fit",
      at("open.csv"),
      "--out",
      at("open.model"),
      ...fitAlone,
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(/^size +positive +all above 0, from .*; 14 of 120 cells are empty$/m);
    const few = ["--evaluations", "25", "--threads", "1", "--json"];
    const scored = await diffeo(
      "table",
      "likelihood",
      at("open.csv"),
      "--model",
      at("open.model"),
      ...few,
    );
    expect(JSON.parse(scored.stdout).logLikelihood.filter(Number.isFinite)).toHaveLength(120);
    const complete = await diffeo(
      "table",
      "evaluate",
      at("scaled.csv"),
      "--model",
      at("scaled.model"),
      "--complete",
    );
    expect(complete).toMatchObject({ code: 2, stdout: "" });
    expect(complete.stderr).toContain("fitted without a network of given cells");
    const refused = await diffeo(
      "table",
      "sample",
      "--model",
      at("scaled.model"),
      "--given",
      "share=0.5",
    );
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(
      "fitted without a network of given cells. Fit it again without --no-given.",
    );
  });

  it("a missing device is an error for sampling, completion and likelihoods", async () => {
    writeFileSync(at("hole.csv"), csvOf([["hole", "", 0.5, -9, -8]]));
    for (const words of [
      ["sample"],
      ["complete", at("hole.csv")],
      ["likelihood", at("hole.csv")],
    ]) {
      const out = at(`${words[0]} elsewhere.csv`);
      const { code } = await diffeo(
        "table",
        ...words,
        "--model",
        at("a.model"),
        "--device",
        "cuda",
        "--out",
        out,
      );
      expect(existsSync(out)).toBe(code === 0);
    }
  });

  it("sample refuses a file that is not a model of a table", async () => {
    const { code, stderr } = await diffeo("table", "sample", "--model", at("rows.csv"));
    expect(code).toBe(1);
    expect(stderr).toContain("rows.csv");
  });
});
