/** The commands as a person runs them: fit, score, sample, study, report, and bad input. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fold, key } from "diffeo/random";
import { fitDensity, parseTable, prepare, protocol, without } from "diffeo-tables/density";
import { readTable } from "diffeo-tables/node";
import { beforeAll, describe, expect, it } from "vitest";
import { measures, record } from "../../../../packages/tables/test/records.ts";
import { testFolder } from "../../../../test/folder.ts";
import { fitReport } from "../../src/density/fit.ts";
import { diffeo, type Ended, startDiffeo } from "../run.ts";

const { at } = testFolder("density");
// A fit takes as long as the mixture of its normaliser has components, one for every training row.
const ROWS = 40;
const hasty = [
  "--inducing",
  "6",
  "--batch",
  "20",
  "--epochs",
  "5",
  "--rows",
  String(ROWS),
  "--samples",
  "1000",
];
const quick = [...hasty, "--accept"];

describe("diffeo density", () => {
  const prepared = [
    "--drop",
    "id",
    "constant",
    "--dequantise",
    "--noise",
    "0.02",
    "--patience",
    "150",
  ];
  const fitting = [
    "density",
    "fit",
    "--data",
    at("table.csv"),
    ...prepared,
    "--loss",
    "ssm-vr",
    ...hasty,
  ];
  const SEED = 5;
  let fit: Ended;
  beforeAll(async () => {
    const lines = Array.from({ length: ROWS }, (_, i) => {
      const u = i / ROWS;
      return `row ${i},${Math.sin(12 * u) + 0.1 * Math.sin(97 * i)},${(u * 3 + Math.cos(31 * i)).toFixed(6)},7`;
    });
    writeFileSync(at("table.csv"), ["id,height,weight,constant", ...lines].join("\n"));
    fit = await diffeo(...fitting, "--out", at("fit"), "--seed", String(SEED), "--accept");
  });

  it("fits a table, scores its rows and samples new ones", async () => {
    expect(fit.stderr).toBe("");
    expect(fit.code).toBe(0);
    expect(fit.stdout).toMatch(/warning: few samples of the plain estimate are effective/);
    expect(fit.stdout).toMatch(/test log-likelihood .* effective of/);
    const report = JSON.parse(readFileSync(at("fit/report.json"), "utf8"));
    expect(report.columns).toEqual(["height", "weight"]);
    expect(report.measures.annealed.effectiveSamples).toBeGreaterThan(1000);
    // What the report says is enough to make the fit again. Its curve ends before the ridge is
    // looked for.
    const table = await readTable(report.data, without(["id", "constant"]));
    expect(report.sha256).toBe(createHash("sha256").update(table.values).digest("hex"));
    const data = prepare(table, fold(key(report.seed), "data"), report.preparation);
    const { loss, seed, training } = report;
    const { curve } = await fitDensity(data, { loss, seed, ...training, ridgeSteps: 1 });
    expect(report.curve).toEqual(curve);
    expect([report.rows, report.samples]).toEqual([ROWS, 1000]);
    expect(report.preparation).toEqual({
      dequantise: true,
      whiten: true,
      noise: 0.02,
      test: 0.1,
      validation: 0.1,
    });
    expect(training).toEqual({
      inducing: 6,
      batch: 20,
      epochs: 5,
      patience: 150,
      rate: protocol.rate,
    });

    const model = at("fit/model.safetensors");
    const score = await diffeo(
      "density",
      "score",
      "--model",
      model,
      "--data",
      at("table.csv"),
      "--out",
      at("score.csv"),
    );
    expect([score.code, score.stdout]).toEqual([0, `${ROWS} rows: ${at("score.csv")}\n`]);
    const scored = parseTable(readFileSync(at("score.csv"), "utf8"), "score");
    expect(scored.columns).toEqual(["log density", "score of height", "score of weight"]);

    const picture = await diffeo(
      "density",
      "picture",
      "--models",
      model,
      model,
      "--data",
      at("table.csv"),
      "--out",
      at("picture"),
    );
    expect(picture.code).toBe(0);
    expect(readFileSync(at("picture.svg"), "utf8").match(/ssm-vr/g)).toHaveLength(2);
    expect(readFileSync(at("picture.png")).subarray(1, 4).toString()).toBe("PNG");

    const sampling = ["--model", model, "--count", "50", "--steps", "20", "--seed", "3"];
    const drawn = await diffeo("density", "sample", ...sampling);
    expect(drawn.code).toBe(0);
    expect(parseTable(drawn.stdout, "samples").rows).toBe(50);
    const again = await diffeo("density", "sample", ...sampling);
    expect(again.stdout).toBe(drawn.stdout);
  });

  it("keeps the seed with the best validation likelihood, reports wrong masses of modes, and refuses a folder with a fit", async () => {
    const into = (...more: string[]): string[] => [...fitting, "--out", at("seeds"), ...more];
    // A folder with a fit in it is free when that one is killed, not before.
    const { child, ended } = startDiffeo(
      ...into("--epochs", "100000", "--patience", "100000", "--seed", "0"),
    );
    // The lock has another name for a moment.
    const isLocked = (): boolean =>
      existsSync(at("seeds")) && readdirSync(at("seeds")).join() === ".lock";
    while (!isLocked()) await new Promise((done) => setTimeout(done, 20));
    const met = await diffeo(...into("--force"));
    expect([met.code, met.stderr]).toEqual([
      2,
      expect.stringContaining(`in use by process ${child.pid}. Wait`),
    ]);
    child.kill("SIGKILL");
    await ended;

    // The second is the better one.
    const { code, stdout, stderr } = await diffeo(
      ...into("--seed", String(SEED - 1), "--seeds", "2"),
    );
    expect(code).toBe(3);
    expect(stderr).toMatch(
      /^diffeo: .*\d+(\.\d)? % of the samples are in a cluster with \d+(\.\d)? % of the rows.* the model is written; fit several seeds with --seeds 5/i,
    );
    expect(stdout).toMatch(
      /^a fitted Gaussian +-\d\.\d{3} {3}\(the model has \d\.\d{3} ± \d\.\d{3} (more|less)\)$/m,
    );
    expect(readdirSync(at("seeds")).sort()).toEqual(["model.safetensors", "report.json"]);
    const report = JSON.parse(readFileSync(at("seeds/report.json"), "utf8"));
    const { seeds, seed, worth } = report as {
      seeds: { seed: number; validation: number }[];
      seed: number;
      worth: { faults: string[] };
    };
    expect(seeds.map((own) => own.seed)).toEqual([SEED - 1, SEED]);
    expect(seeds[1].validation).toBeGreaterThan(seeds[0].validation);
    expect(seed).toBe(SEED);
    for (const fault of worth.faults) expect(stderr).toContain(fault);

    // The same seed alone is the same fit, and was accepted as it is.
    const alone = JSON.parse(readFileSync(at("fit/report.json"), "utf8"));
    expect([alone.seed, alone.worth]).toEqual([SEED, worth]);
    expect(readFileSync(at("fit/model.safetensors"))).toEqual(
      readFileSync(at("seeds/model.safetensors")),
    );
  });

  it("answers an unknown name with the known ones", async () => {
    const result = await diffeo("density", "fit", "--data", "redwine");
    expect([result.code, result.stderr]).toEqual([
      1,
      expect.stringMatching(/redwine is neither .* red-wine, white-/),
    ]);
  });

  it.each([
    ["a,b\n1,x\n", 1, /line 2, column 2 \("b"\): "x" is not a number/],
    [
      `a,b\n${Array.from({ length: 90 }, (_, i) => `${i},5`).join("\n")}`,
      1,
      /column 2 \("b"\) is 5 in every row/,
    ],
    [
      `a,b\n${Array.from({ length: 90 }, (_, i) => `${i},${(i * i) % 17}`).join("\n")}`,
      1,
      /73 training rows are fewer than the 200 inducing/,
    ],
  ])("names the error in a table (%#)", async (text, code, message) => {
    writeFileSync(at("bad.csv"), text);
    const result = await diffeo("density", "fit", "--data", at("bad.csv"), "--out", at("bad"));
    expect(result.code).toBe(code);
    expect(result.stderr).toMatch(message);
    expect(existsSync(at("bad/model.safetensors"))).toBe(false);
  });

  it("exits with code 3 if numbers are lost, and keeps the last good model", async () => {
    const lost = ["--rate", "1e20", "--out", at("lost"), "--json"];
    const result = await diffeo("density", "fit", "--data", "two-moons", ...lost, ...quick);
    expect(result.code).toBe(3);
    expect(result.stdout).toBe(readFileSync(at("lost/report.json"), "utf8"));
    expect(JSON.parse(result.stdout).failure).toMatch(/NaN/);
    expect(result.stderr).toMatch(/became NaN at step \d+.*the best before the failure/s);
    const model = at("lost/model.safetensors");
    const scored = await diffeo(
      "density",
      "score",
      "--model",
      model,
      "--data",
      "two-moons",
      "--rows",
      "20",
    );
    expect(parseTable(scored.stdout, "scores").rows).toBe(20);
  });

  it("exits with code 3 if no normaliser can be computed, and keeps the rest", async () => {
    const lines = Array.from({ length: ROWS }, (_, i) => `${1e9 * Math.sin(i)},${Math.cos(7 * i)}`);
    writeFileSync(at("vast.csv"), ["a,b", ...lines].join("\n"));
    const result = await diffeo(
      "density",
      "fit",
      "--data",
      at("vast.csv"),
      "--no-whiten",
      "--out",
      at("vast"),
      ...quick,
    );
    expect(result.code).toBe(3);
    expect(result.stderr).toMatch(/became NaN at step 1.* has no normaliser. Omit --no-whiten/);
    expect(JSON.parse(readFileSync(at("vast/report.json"), "utf8")).failure).toMatch(
      /became NaN at step 1/,
    );
    const scored = await diffeo(
      "density",
      "score",
      "--model",
      at("vast/model.safetensors"),
      "--data",
      at("vast.csv"),
    );
    expect([scored.code, scored.stderr]).toEqual([1, expect.stringMatching(/no normaliser/)]);
  });

  it("runs a study in several processes, continues it, and reports from its records", async () => {
    const study = (...more: string[]) =>
      diffeo(
        "density",
        "study",
        "--out",
        at("study"),
        "--datasets",
        "two-moons",
        "--losses",
        "ssm,gssm",
        "--samples",
        "2000",
        "--workers",
        "2",
        ...more,
      );
    const two = (loss: "ssm" | "gssm", scoreMatching: number, effective = 1500) =>
      record(
        { loss },
        { scoreMatching, effective, plain: { likelihood: -2, effective: 9, samples: 2000 } },
      );
    mkdirSync(at("study"));
    writeFileSync(at("study/two-moons.json"), `[${JSON.stringify(two("ssm", -20))}]`);
    // Long enough for the fit to have begun, too short for it to end. The one that is open is done
    // in this process.
    const stopped = await study("--seeds", "1", "--minutes", "0.005");
    expect(stopped.stdout).toMatch(/1 runs are not done. Repeat the command to resume/);
    expect([stopped.code, stopped.stderr]).toEqual([0, ""]);
    mkdirSync(at("study/runs"), { recursive: true });
    writeFileSync(at("study/runs/two-moons-gssm-0.json"), JSON.stringify(two("gssm", -15, 400)));
    const done = await study("--seeds", "1");
    expect(done.code).toBe(0);
    expect(done.stdout).toMatch(/\| score matching \| -20.00 \| -15.00 \|/);
    expect(done.stdout).toMatch(
      /\| effective samples, annealed, chosen by score matching \| .*1500 \| .*400 \|/,
    );
    expect(done.stdout).toMatch(/effective samples, plain \(of 2,000\)/);
    expect(done.stdout).toMatch(
      /\ngssm, seed 0: the annealed normaliser has only 400 effective samples\n/,
    );
    expect(done.stdout).not.toMatch(/\nssm, seed 0/);
    const report = await diffeo("density", "report", at("study"));
    expect(report.stdout).toBe(done.stdout);
    expect(readdirSync(at("study")).sort()).toEqual([
      "log-likelihood.png",
      "log-likelihood.svg",
      "runs",
      "score-matching.png",
      "score-matching.svg",
      "table.md",
      "two-moons.json",
    ]);
    expect(readFileSync(at("study/score-matching.svg"), "utf8")).toMatch(
      /^<svg .*two-moons.*gssm.*<\/svg>\n$/s,
    );
  });

  it.each([
    [[], /one of "column 1", "column 2"/],
    [["--header"], /one of "1990", "1991"/],
    [["--no-header"], /one of "column 1", "column 2"/],
  ])("reads a line of numbers correctly with %j", async (said, message) => {
    writeFileSync(at("years.csv"), "1990,1991\n1,2\n");
    expect(
      (await diffeo("density", "fit", "--data", at("years.csv"), ...said, "--drop", "none")).stderr,
    ).toMatch(message);
  });

  it("reports from records alone", async () => {
    const none = await diffeo("density", "report", at("typo"));
    expect([none.code, none.stderr]).toEqual([1, expect.stringMatching(/typo holds no records/)]);
    expect(existsSync(at("typo"))).toBe(false);
    mkdirSync(at("foreign"));
    writeFileSync(at("foreign/package.json"), '{"name": "x"}');
    const foreign = await diffeo("density", "report", at("foreign"));
    expect([foreign.code, foreign.stderr]).toEqual([
      1,
      expect.stringMatching(/package\.json is not a record of a run/),
    ]);
  });

  it.each([
    [["fit"], /required option '--data/],
    [["fit", "--data", "x.csv", "--loss", "nonsense"], /Allowed choices are sm, ssm/],
    [
      ["fit", "--data", "rings", "--batch", "41", "--out", at("odd")],
      /a batch of 41 cannot be halved/,
    ],
    [["fit", "--data", "rings", "--noise", "-1"], /'--noise <x>' argument '-1' is invalid/],
    [["study", "--losses", "ssm,what"], /"what" is not one of sm, ssm/],
    [["study", "--datasets", "toString"], /"toString" is not one of red-wine/],
    [["worker"], /unknown command 'worker'/],
  ])("refuses %j with code 2", async (args, message) => {
    const result = await diffeo("density", ...args);
    expect(result.code).toBe(2);
    expect(result.stderr).toMatch(message);
  });
});

describe("the printed report of a fit", () => {
  // ‖x‖² is 25 and 1: ½‖x‖² is 6.5 in the mean.
  const test = { shape: [2, 2], dtype: "float32", data: Float32Array.of(3, 4, 0, -1) } as const;
  const data = { test, whitening: { mean: [0, 0], matrix: [2, 0, 0, 2], logDet: Math.log(4) } };
  const plain = (effective: number) => ({ likelihood: -2.5, effective, samples: 5000 });
  const warnings = (effective: number, effectivePlain: number) =>
    fitReport(
      measures({ scoreMatching: -3, effective, plain: plain(effectivePlain) }),
      9,
      data,
      true,
    )
      .split("\n")
      .filter((line) => line.startsWith("warning"));

  it("contains a unit Gaussian on the same points, and the units", () => {
    const whitened = fitReport(
      measures({ scoreMatching: -3, median: -4, likelihood: -2 }),
      90,
      data,
      true,
    );
    expect(whitened).toBe(`chosen at step 10 of 90
test score matching   -3.000   (median -4.000; a unit Gaussian has 4.50)
test log-likelihood   -2.000   (annealed, 1500 effective of 4096 particles; a unit Gaussian has -8.34)
all values are in whitened units; in the units of the table, which density score uses, the log-likelihood is -0.614
`);
    const asIs = fitReport(measures({ scoreMatching: -3 }), 90, data, false);
    expect(asIs).toMatch(/\nall values are in the units of the table\n$/);
  });

  it("warns about estimates with few effective samples", () => {
    expect(warnings(1000, 1000)).toEqual([]);
    expect(warnings(999, 1000)).toEqual([
      "warning: few particles of the annealed estimate are effective",
    ]);
    expect(warnings(1000, 999)).toEqual([
      "warning: few samples of the plain estimate are effective, so its likelihood is usually too high",
    ]);
  });
});
