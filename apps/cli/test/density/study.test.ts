/** A study's runs: what is kept of a fit, and what becomes of records and workers that fail. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { quantile } from "diffeo/host";
import type { Pool } from "diffeo/node";
import { fold, key } from "diffeo/random";
import { generate, measurePoints, prepare, type RunRecord, recordOf, runDensity, type Task } from "diffeo-tables";
import { afterAll, describe, expect, it } from "vitest";
import { record } from "../../../../packages/tables/test/records.ts";
import { type StudyCommand, study } from "../../src/density/study.ts";

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

/** A study of two moons on a pool that answers each task as told. */
async function studyBy(
  answer: (task: Task) => RunRecord | Error,
  given: Partial<StudyCommand>,
): Promise<{ stdout: string; stderr: string; failure: string }> {
  let [stdout, stderr] = ["", ""];
  const io = {
    stdout: {
      write: (text: string | Uint8Array) => {
        stdout += text;
      },
    },
    stderr: {
      write: (text: string | Uint8Array) => {
        stderr += text;
      },
    },
    stdin: Readable.from([]),
    signal: new AbortController().signal,
  };
  const pool: Pool = {
    run: async ({ parameters }) => {
      const found = answer((parameters as { task: Task }).task);
      if (found instanceof Error) throw found;
      return found;
    },
    close: async () => {},
  };
  const options: StudyCommand = {
    ...{ data: "data", out: at("study"), datasets: ["two-moons"], losses: ["gssm"], seeds: 1, workers: 1 },
    samples: 2000,
    ...given,
  };
  const failure = await study(io, options, () => pool).then(
    () => "",
    (error: Error) => error.message,
  );
  return { stdout, stderr, failure };
}

const answering = (task: Task): RunRecord => ({ ...record({ loss: "sm" }, { scoreMatching: -15 }), ...task });

describe("a study", () => {
  it("goes on and reports when a record cannot be kept or a run fails, and takes any time given", async () => {
    // A name that is none: its file would lie elsewhere.
    const dataset = "../../evil" as Task["dataset"];
    const { stdout, stderr, failure } = await studyBy(
      (task) =>
        task.loss === "sm"
          ? new Error("its process ended with SIGKILL")
          : { ...answering(task), ...(task.loss === "ssm" && { dataset }) },
      { out: at("unwritten"), losses: ["ssm", "gssm", "sm"], minutes: 40_000 },
    );
    expect(stderr).toMatch(/^1\/3 two-moons-gssm-0: /m);
    expect(stderr).toMatch(/^two-moons-ssm-0: .* is no record of a run: .*evil/m);
    expect(stderr).toMatch(/^two-moons-sm-0: its process ended with SIGKILL$/m);
    expect(stdout).toMatch(/\| score matching \| -15.00 \|/);
    expect(stdout).toMatch(/\n2 runs are still open; the same command continues\n$/);
    expect(failure).toMatch(/2 runs failed/);
  });

  it("does not go on with other draws than it began with", async () => {
    mkdirSync(at("other"));
    const plain = { likelihood: -2, effective: 900, samples: 5000 };
    writeFileSync(at("other/two-moons.json"), JSON.stringify([record({ loss: "ssm" }, { scoreMatching: -9, plain })]));
    const refused = await studyBy(answering, { out: at("other") });
    expect(refused.failure).toMatch(/two-moons-ssm-0 in .* has 5000 draws .*, not 2000. Give --samples 5000/);
    expect((await studyBy(answering, { out: at("other"), samples: 5000 })).failure).toBe("");
    expect((await studyBy(answering, { out: at("other"), datasets: ["rings"] })).failure).toBe("");
  });
});
