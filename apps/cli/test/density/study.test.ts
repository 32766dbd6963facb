/** Runs of a study: the records of fits, and failed records and workers. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { quantile } from "diffeo/host";
import { inputOf } from "diffeo/job";
import { fold, key } from "diffeo/random";
import { descriptionOf, digestOf, sha256 } from "diffeo-queue";
import {
  type FitTask,
  type Fitted,
  generate,
  isUci,
  measurePoints,
  prepare,
  type RunRecord,
  recordOf,
  runDensity,
} from "diffeo-tables/density";
import { densityFitJob } from "diffeo-tables/node";
import { describe, expect, it } from "vitest";
import { record } from "../../../../packages/tables/test/records.ts";
import { testFolder } from "../../../../test/folder.ts";
import { version } from "../../src/shell/version.ts";
import { diffeo } from "../run.ts";

const { at, folder } = testFolder("study");

it("records both states of a fit with their measures, and every tenth step of its curves", async () => {
  const data = prepare(generate("two-moons", 60, fold(key(0), "two-moons")), key(1));
  const run = await runDensity(data, {
    loss: "gssm",
    seed: 1,
    inducing: 6,
    batch: 8,
    points: 40,
    epochs: 8,
    ridgeSteps: 20,
    samples: 1000,
    both: true,
  });
  const found = run.fit;
  const states = { chosen: found.chosen, chosenByExact: found.chosenByExact as Fitted };
  expect([found.steps, states.chosen.step === states.chosenByExact.step]).toEqual([48, false]);
  const task = { dataset: "two-moons", loss: "gssm", seed: 1 } as const;
  const kept = recordOf(task, data, run);
  for (const which of ["chosen", "chosenByExact"] as const) {
    const { scoreMatching, logDensity } = await measurePoints(states[which], data.test);
    expect(kept[which].step).toBe(states[which].step);
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
  expect([kept.chosen.importance?.samples, kept.chosenByExact.importance]).toEqual([
    1000,
    undefined,
  ]);
  const { loss, exact } = found.curve;
  const rounded = (v: number): number => Number(v.toPrecision(6));
  // Steps 10, 20, 30, 40: the loss is that of every step, exact score matching that of every fifth.
  expect(kept.curve).toEqual({
    every: 10,
    loss: [loss[9], loss[19], loss[29], loss[39]].map(rounded),
    exact: [exact[1], exact[3], exact[5], exact[7]].map(rounded),
  });
  expect(kept).toMatchObject({ ...task, n: 2, points: { train: 49, validation: 5, test: 6 } });
});

/** A record as a worker would give it, in the folder where shards leave their jobs. */
function give(out: string, task: FitTask, record: RunRecord): void {
  const file = isUci(task.dataset) ? inputOf(readFileSync(at("winequality-red.csv"))) : undefined;
  const job = descriptionOf(densityFitJob(task, 2000, file), version);
  const bytes = Buffer.from(`${JSON.stringify(record)}\n`);
  const head = { job: digestOf(job), sha256: sha256(bytes), seconds: 1, worker: "a test" };
  mkdirSync(`${out}.jobs`, { recursive: true });
  writeFileSync(join(`${out}.jobs`, `${head.job}.job`), `${JSON.stringify(head)}\n${bytes}`);
}

const study = (...words: string[]) =>
  diffeo("density", "study", "--datasets", "two-moons", "--samples", "2000", ...words);
const answering = (task: FitTask): RunRecord => ({
  ...record({ loss: "sm" }, { scoreMatching: -15 }),
  ...task,
});

describe("a study", () => {
  it("continues and reports if a record is invalid or a run fails, and accepts any time limit", async () => {
    const out = at("unwritten");
    const task = (loss: FitTask["loss"], dataset: FitTask["dataset"]): FitTask => ({
      dataset,
      loss,
      seed: 0,
    });
    for (const loss of ["ssm", "gssm"] as const)
      give(out, task(loss, "two-moons"), answering(task(loss, "two-moons")));
    // A table that is too small: its fits fail.
    writeFileSync(at("winequality-red.csv"), '"a";"b"\n1;2\n3;5\n');
    // A name that is none: its file would lie elsewhere. And a record of another run.
    const own = task("ssm", "red-wine");
    give(out, own, { ...answering(own), dataset: "../../evil" as FitTask["dataset"] });
    give(out, task("gssm", "red-wine"), answering(own));
    const { stdout, stderr, code } = await study(
      ...[
        "--out",
        out,
        "--losses",
        "ssm,gssm",
        "--seeds",
        "1",
        "--minutes",
        "40000",
        "--workers",
        "1",
      ],
      ...["--data", folder, "--datasets", "two-moons,red-wine"],
    );
    expect(stderr).toMatch(/^1\/4 two-moons-g?ssm-0: /m);
    expect(stderr).toMatch(/ is not used: .* is not a record of a run: .*evil/);
    expect(stderr).toMatch(
      / is not used: it is a record of red-wine-ssm-0, but the job is red-wine-gssm-0/,
    );
    expect(stderr).toMatch(/^red-wine-ssm-0: /m);
    expect(stdout).toMatch(/\| score matching \| -15.00 \|/);
    expect(stdout).toMatch(/\n2 runs are not done. Repeat the command to resume\n$/);
    expect(stderr).toMatch(/2 jobs failed\. Repeat the command to try again/);
    expect(code).toBe(2);
  });

  it("does not continue with another number of draws", async () => {
    const out = at("other");
    mkdirSync(out);
    const plain = { likelihood: -2, effective: 900, samples: 5000 };
    writeFileSync(
      join(out, "two-moons.json"),
      JSON.stringify([record({ loss: "ssm" }, { scoreMatching: -9, plain })]),
    );
    const words = ["--out", out, "--losses", "ssm", "--seeds", "1"];
    const refused = await study(...words);
    expect(refused.stderr).toMatch(
      /two-moons-ssm-0 in .* has 5000 samples .*, not 2000. Use --samples 5000/,
    );
    expect((await study(...words, "--samples", "5000")).code).toBe(0);
    expect((await study(...words, "--datasets", "rings", "--dry-run")).stdout).toMatch(
      /^density\/fit, .*: 1 jobs, 1 fits/,
    );
  });
});
