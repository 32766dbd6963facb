/** A study's runs: what is kept of a fit, and what becomes of records and workers that fail. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { quantile } from "diffeo/host";
import { fold, key } from "diffeo/random";
import { generate, measurePoints, prepare, recordOf, runDensity } from "diffeo-tables";
import { afterAll, describe, expect, it } from "vitest";
import { record } from "../../../../packages/tables/test/records.ts";

const folder = mkdtempSync(join(tmpdir(), "diffeo-study-"));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string): string => join(folder, name);

it("keeps both states of a fit, each measured itself, and every tenth step of its curves", async () => {
  const data = prepare(generate("two-moons", 500, fold(key(0), "two-moons")), key(1));
  const run = await runDensity(data, {
    loss: "gssm",
    seed: 1,
    inducing: 20,
    batch: 60,
    points: 100,
    epochs: 8,
    ridgeSteps: 20,
    samples: 1000,
    both: true,
  });
  const found = run.fit;
  expect([found.steps, found.chosen.step === found.chosenByExact.step]).toEqual([48, false]);
  const task = { dataset: "two-moons", loss: "gssm", seed: 1 } as const;
  const kept = recordOf(task, data, { ...run, seconds: 2.5 });
  for (const which of ["chosen", "chosenByExact"] as const) {
    const { scoreMatching, logDensity } = await measurePoints(found[which], data.test);
    expect(kept[which].step).toBe(found[which].step);
    for (const [summary, values] of [
      [kept[which].scoreMatching, scoreMatching],
      [kept[which].logDensity, logDensity],
    ] as const)
      expect(summary).toEqual({
        mean: values.reduce((a, b) => a + b, 0) / values.length,
        lowerQuartile: quantile(values, 0.25),
        median: quantile(values, 0.5),
        upperQuartile: quantile(values, 0.75),
      });
  }
  expect([kept.chosen.importance?.samples, kept.chosenByExact.importance]).toEqual([1000, undefined]);
  const { loss, exact } = found.curve;
  const rounded = (v: number): number => Number(v.toPrecision(6));
  // Steps 10, 20, 30, 40: the loss is that of every step, exact score matching that of every fifth.
  expect(kept.curve).toEqual({
    every: 10,
    loss: [loss[9], loss[19], loss[29], loss[39]].map(rounded),
    exact: [exact[1], exact[3], exact[5], exact[7]].map(rounded),
  });
  expect(kept).toMatchObject({ ...task, n: 2, points: { train: 405, validation: 45, test: 50 }, seconds: 2.5 });
});

const main = JSON.stringify(new URL("../../src/main.ts", import.meta.url).href);

/** A study of two moons by one worker, of which the text is the program. */
function studyBy(worker: string, ...args: readonly string[]): { stdout: string; stderr: string; code: number | null } {
  writeFileSync(at("main.mjs"), `if (process.argv[3] === "worker") { ${worker} } else await import(${main});`);
  const words = ["--datasets", "two-moons", "--seeds", "1", "--workers", "1", "--samples", "2000", ...args];
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ["--conditions=diffeo-source", "--import", "tsx", at("main.mjs"), "density", "study", ...words],
    { encoding: "utf8" },
  );
  return { stdout, stderr, code: status };
}

/** Answers every task with a record, that of `ssm` under a name that no study has. */
const answering = `
  const record = ${JSON.stringify(record({ loss: "sm" }, { scoreMatching: -15 }))};
  process.on("disconnect", () => process.exit());
  process.on("message", ({ task }) => {
    const dataset = task.loss === "ssm" ? "x".repeat(300) : task.dataset;
    process.send({ kind: "done", record: { ...record, ...task, dataset } });
  });
  process.send({ kind: "ready" });`;

describe("a study", () => {
  it("goes on and reports when a record cannot be kept, runs nothing twice, and takes any time given", () => {
    const lists = ["--losses", "ssm,gssm,ssm", "--datasets", "two-moons,two-moons"];
    const { stdout, stderr, code } = studyBy(answering, "--out", at("unwritten"), "--minutes", "40000", ...lists);
    expect(stderr).toMatch(
      /^1\/2 two-moons-gssm-0: .*\ntwo-moons-ssm-0: what the run gave is no record of a run: "dataset" .*\n$/,
    );
    expect(stdout).toMatch(/\| score matching \| -15.00 \|/);
    expect(stdout).toMatch(/\n1 runs are still open; the same command continues\n$/);
    expect(code).toBe(1);
  });

  it.each([
    ["process.exit(5)", "code 5"],
    ["process.exit(0)", "code 0"],
    ['process.kill(process.pid, "SIGKILL")', "SIGKILL"],
  ])("fails when its worker ends by %s before a task", (worker, how) => {
    const { stdout, stderr, code } = studyBy(worker, "--out", at("dead"), "--losses", "gssm");
    expect([stderr, code]).toEqual([`a worker: its process ended with ${how}\n`, 1]);
    expect(stdout).toBe("1 runs are still open; the same command continues\n");
  });

  it("does not go on with other draws than it began with", () => {
    mkdirSync(at("other"));
    const plain = { likelihood: -2, effective: 900, samples: 5000 };
    writeFileSync(at("other/two-moons.json"), JSON.stringify([record({ loss: "ssm" }, { scoreMatching: -9, plain })]));
    const refused = studyBy(answering, "--out", at("other"), "--losses", "gssm");
    expect(refused.stderr).toMatch(/two-moons-ssm-0 in .* has 5000 draws .*, not 2000. Give --samples 5000/);
    expect(refused.code).toBe(2);
    expect(studyBy(answering, "--out", at("other"), "--losses", "gssm", "--samples", "5000").code).toBe(0);
    expect(studyBy(answering, "--out", at("other"), "--losses", "gssm", "--datasets", "rings").code).toBe(0);
  });
});
