/** The commands as a person runs them: fit, score, sample, study, report, and bad input. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { parseTable } from "../../src/density/table.ts";
import { diffeo } from "../cli/run.ts";

const folder = mkdtempSync(join(tmpdir(), "diffeo-density-"));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string): string => join(folder, name);
const quick = ["--inducing", "30", "--batch", "60", "--epochs", "4", "--rows", "600", "--samples", "20000"];

describe("diffeo density", () => {
  it("fits a table, scores its rows and draws new ones", () => {
    const lines = Array.from({ length: 400 }, (_, i) => {
      const u = i / 400;
      return `row ${i},${Math.sin(12 * u) + 0.1 * Math.sin(97 * i)},${(u * 3 + Math.cos(31 * i)).toFixed(6)},7`;
    });
    writeFileSync(at("table.csv"), ["id,height,weight,constant", ...lines].join("\n"));
    const fit = diffeo(
      "density",
      "fit",
      "--data",
      at("table.csv"),
      "--drop",
      "id",
      "constant",
      "--loss",
      "ssm-vr",
      "--out",
      at("fit"),
      ...quick,
      "--samples",
      "1000",
    );
    expect(fit.stderr).toBe("");
    expect(fit.code).toBe(0);
    expect(fit.stdout).toMatch(/warning: the plain estimate rests on few draws/);
    expect(fit.stdout).toMatch(/test log-likelihood .* effective of/);
    const report = JSON.parse(readFileSync(at("fit/report.json"), "utf8"));
    expect(report.columns).toEqual(["height", "weight"]);
    expect(report.measures.annealed.effectiveSamples).toBeGreaterThan(1000);

    const model = at("fit/model.safetensors");
    const score = diffeo("density", "score", "--model", model, "--data", at("table.csv"), "--out", at("score.csv"));
    expect([score.code, score.stdout]).toEqual([0, `400 rows: ${at("score.csv")}\n`]);
    const scored = parseTable(readFileSync(at("score.csv"), "utf8"), "score");
    expect(scored.columns).toEqual(["log density", "score of height", "score of weight"]);

    const picture = diffeo(
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

    const drawn = diffeo("density", "sample", "--model", model, "--count", "50", "--steps", "20", "--seed", "3");
    expect(drawn.code).toBe(0);
    expect(parseTable(drawn.stdout, "samples").rows).toBe(50);
    const again = diffeo("density", "sample", "--model", model, "--count", "50", "--steps", "20", "--seed", "3");
    expect(again.stdout).toBe(drawn.stdout);
  });

  it.each([
    ["a,b\n1,x\n", 1, /line 2, column 2 \("b"\): "x" is not a number/],
    [`a,b\n${Array.from({ length: 90 }, (_, i) => `${i},5`).join("\n")}`, 1, /column 2 \("b"\) is 5 in every row/],
    [
      `a,b\n${Array.from({ length: 90 }, (_, i) => `${i},${(i * i) % 17}`).join("\n")}`,
      1,
      /73 training rows are fewer than the 200 inducing/,
    ],
  ])("says what is wrong with a table (%#)", (text, code, message) => {
    writeFileSync(at("bad.csv"), text);
    const result = diffeo("density", "fit", "--data", at("bad.csv"), "--out", at("bad"));
    expect(result.code).toBe(code);
    expect(result.stderr).toMatch(message);
    expect(existsSync(at("bad"))).toBe(false);
  });

  it("ends with code 3 when the numbers are lost, and leaves the last good model", () => {
    const lost = ["--rate", "1e20", "--out", at("lost"), "--json"];
    const result = diffeo("density", "fit", "--data", "two-moons", ...lost, ...quick);
    expect(result.code).toBe(3);
    expect(result.stdout).toBe(readFileSync(at("lost/report.json"), "utf8"));
    expect(JSON.parse(result.stdout).failure).toMatch(/NaN/);
    expect(result.stderr).toMatch(/became NaN at step \d+.*the best before it/s);
    const model = at("lost/model.safetensors");
    const scored = diffeo("density", "score", "--model", model, "--data", "two-moons", "--rows", "20");
    expect(parseTable(scored.stdout, "scores").rows).toBe(20);
  });

  it("ends with code 3 when not even a normaliser can be found, and leaves what there is", () => {
    const lines = Array.from({ length: 400 }, (_, i) => `${1e9 * Math.sin(i)},${Math.cos(7 * i)}`);
    writeFileSync(at("vast.csv"), ["a,b", ...lines].join("\n"));
    const result = diffeo("density", "fit", "--data", at("vast.csv"), "--no-whiten", "--out", at("vast"), ...quick);
    expect(result.code).toBe(3);
    expect(result.stderr).toMatch(/became NaN at step 1.* has no normaliser. Leave out --no-whiten/);
    expect(JSON.parse(readFileSync(at("vast/report.json"), "utf8")).failure).toMatch(/became NaN at step 1/);
    const scored = diffeo("density", "score", "--model", at("vast/model.safetensors"), "--data", at("vast.csv"));
    expect([scored.code, scored.stderr]).toEqual([1, expect.stringMatching(/no normaliser/)]);
  });

  it("runs a study over processes, continues it, and reports from its records", () => {
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
    mkdirSync(at("study"));
    writeFileSync(at("study/two-moons.json"), `[${JSON.stringify(record("ssm", -20))}]`);
    // Long enough for a worker to have begun, too short for it to end.
    const stopped = study("--seeds", "1", "--minutes", "0.1");
    expect(stopped.stdout).toMatch(/1 runs are still open; the same command continues/);
    expect([stopped.code, stopped.stderr]).toEqual([0, ""]);
    mkdirSync(at("study/runs"), { recursive: true });
    writeFileSync(at("study/runs/two-moons-gssm-0.json"), JSON.stringify(record("gssm", -15, 400)));
    const done = study("--seeds", "1");
    expect(done.code).toBe(0);
    expect(done.stdout).toMatch(/\| score matching \| -20.00 \| -15.00 \|/);
    expect(done.stdout).toMatch(/\| effective samples, annealed, chosen by score matching \| .*1500 \| .*400 \|/);
    expect(done.stdout).toMatch(/effective samples, plain \(of 2,048\)/);
    expect(done.stdout).toMatch(/\ngssm, seed 0: the annealed normaliser rests on 400 effective samples\n/);
    expect(done.stdout).not.toMatch(/\nssm, seed 0/);
    const report = diffeo("density", "report", at("study"));
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
    expect(readFileSync(at("study/score-matching.svg"), "utf8")).toMatch(/^<svg .*two-moons.*gssm.*<\/svg>\n$/s);
  });

  it("reports on records alone", () => {
    const none = diffeo("density", "report", at("typo"));
    expect([none.code, none.stderr]).toEqual([1, expect.stringMatching(/typo holds no records/)]);
    expect(existsSync(at("typo"))).toBe(false);
    mkdirSync(at("foreign"));
    writeFileSync(at("foreign/package.json"), '{"name": "x"}');
    const foreign = diffeo("density", "report", at("foreign"));
    expect([foreign.code, foreign.stderr]).toEqual([1, expect.stringMatching(/package\.json is no record of a run/)]);
  });

  it.each([
    [["fit"], /required option '--data/],
    [["fit", "--data", "x.csv", "--loss", "nonsense"], /Allowed choices are sm, ssm/],
    [["fit", "--data", "rings", "--batch", "41"], /a batch of 41 has no halves/],
    [["fit", "--data", "rings", "--noise", "-1"], /'--noise <x>' argument '-1' is invalid/],
    [["study", "--losses", "ssm,what"], /"what" is none of sm, ssm/],
    [["study", "--datasets", "toString"], /"toString" is none of red-wine/],
    [["worker"], /started by density study alone/],
  ])("refuses %j with code 2", (args, message) => {
    const result = diffeo("density", ...args);
    expect(result.code).toBe(2);
    expect(result.stderr).toMatch(message);
  });
});

/** A record as a run leaves it. */
function record(loss: string, value: number, effectiveSamples = 1500): object {
  const summary = { mean: value, lowerQuartile: value, median: value, upperQuartile: value };
  const normaliser = { logZ: 3, effectiveSamples, samples: 2048 };
  const measures = {
    step: 10,
    scoreMatching: summary,
    logDensity: summary,
    importance: normaliser,
    annealed: { ...normaliser, acceptance: 0.7 },
  };
  return {
    dataset: "two-moons",
    loss,
    seed: 0,
    n: 2,
    points: { train: 1620, validation: 180, test: 200 },
    steps: 600,
    stopped: 210,
    seconds: 1,
    chosen: measures,
    chosenByExact: measures,
    curve: { every: 10, loss: Array(60).fill(-1), exact: Array(60).fill(-2) },
  };
}
