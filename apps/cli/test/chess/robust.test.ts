/** What can go wrong around a training run: nothing is lost, and the message says what to do. */
import {
  appendFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { RunFolder, readSafetensors, writeSafetensors } from "diffeo/node";
import { beforeAll, describe, expect, it } from "vitest";
import { testFolder } from "../../../../test/folder.ts";
import { diffeo, diffeoUnder, startDiffeo } from "../run.ts";
import {
  checkpointsOf,
  outcomeOf,
  STEPS,
  temporariesOf,
  trainWords,
  until,
  writeBoards,
} from "./train-run.ts";

const { folder } = testFolder("robust");
let data: string;
/** A run that was killed, as it lies on the disk. */
let killed: string;
let expected: Record<string, Buffer>;

const words = (out: string, ...more: readonly string[]): string[] =>
  trainWords(data, out, "--save-every", "4", "--samples-every", "0", ...more);

/**
 * Ends a run at once, with no word of warning, when a checkpoint is being written. Returns whether
 * it caught one.
 */
async function killInCheckpoint(
  run: readonly string[],
  out: string,
  atStep: number,
): Promise<boolean> {
  const { child, ended } = startDiffeo(...run);
  await until(
    () =>
      existsSync(out) && ((checkpointsOf(out).at(-1) ?? 0) >= atStep || child.exitCode !== null),
    10,
  );
  await until(() => temporariesOf(out).length > 0 || child.exitCode !== null, 1);
  child.kill("SIGKILL");
  await ended;
  return temporariesOf(out).length > 0;
}

beforeAll(async () => {
  data = writeBoards(folder);
  const whole = join(folder, "whole");
  expect(await diffeo(...words(whole))).toMatchObject({ code: 0 });
  expected = outcomeOf(whole);
  killed = join(folder, "killed");
});

describe("kill −9", () => {
  it("during a checkpoint loses nothing that was saved, even if repeated", async () => {
    let caught = 0;
    for (let round = 0, before = 0; round < 3; round++) {
      const torn = await killInCheckpoint(
        words(killed, ...(round > 0 ? ["--resume"] : [])),
        killed,
        before + 4,
      );
      if (torn) caught++;
      const steps = checkpointsOf(killed);
      for (const step of steps) {
        const { arrays } = await readSafetensors(join(killed, `step-${step}.safetensors`));
        expect(Object.keys(arrays)).toEqual(["theta", "m", "v", "ema"]);
      }
      expect(steps.at(-1)).toBeGreaterThanOrEqual(before + 4);
      before = steps.at(-1) as number;
    }
    expect(caught).toBeGreaterThan(0);
    // A killed process leaves its lock, which holds nobody off: rounds after the first began with
    // one.
    expect(existsSync(join(killed, ".lock"))).toBe(true);
    expect(checkpointsOf(killed).at(-1)).toBeLessThan(STEPS);
  });

  it("leaves a run that ends like an uninterrupted one", async () => {
    const run = join(folder, "continued");
    cpSync(killed, run, { recursive: true });
    writeFileSync(
      join(run, "step-56.safetensors.4711.tmp"),
      readFileSync(join(run, "config.json")),
    );
    appendFileSync(join(run, "metrics.jsonl"), `{"step":50,"loss":1}\n{"step":6`);
    expect(await diffeo(...words(run, "--resume"))).toMatchObject({ code: 0 });
    expect(outcomeOf(run)).toEqual(expected);
    expect(temporariesOf(run)).toEqual([]);
    expect(existsSync(join(run, ".lock"))).toBe(false);
    const reports = readFileSync(join(run, "metrics.jsonl"), "utf8").trim().split("\n");
    expect(reports.map((line) => JSON.parse(line).step)).toEqual([50, STEPS]);
  });
});

describe("a full disk", () => {
  it("ends a run with a message and leaves it at its last checkpoint", () => {
    const run = join(folder, "full");
    cpSync(killed, run, { recursive: true });
    for (const name of temporariesOf(run)) rmSync(join(run, name));
    rmSync(join(run, ".lock"));
    const [before, steps] = [readdirSync(run).sort(), checkpointsOf(run)];
    const newest = `step-${steps.at(-1)}.safetensors`;
    // A checkpoint has some 800 KiB.
    const { code, stderr } = diffeoUnder('ulimit -f 300; exec "$@"', ...words(run, "--resume"));
    expect(stderr).toMatch(
      /^diffeo: cannot write .*step-\d+\.safetensors \(EFBIG\)\. Free some space on the disk; the previous file is unchanged\.$/m,
    );
    expect(code).toBe(1);
    expect(readdirSync(run).sort()).toEqual(before);
    expect(readFileSync(join(run, newest))).toEqual(readFileSync(join(killed, newest)));
  });
});

describe("a checkpoint of another architecture", () => {
  it("is refused by the settings of its run", async () => {
    const { code, stderr } = await diffeo(...words(killed, "--resume", "--width", "24"));
    expect(stderr).toContain(
      "was started with spec.network.width = 16, but now it is 24. Use the same settings",
    );
    expect(code).toBe(2);
  });

  it("is refused by its size if the settings are right", async () => {
    const run = join(folder, "foreign");
    cpSync(killed, run, { recursive: true });
    const numbers = { shape: [7], dtype: "float32", data: new Float32Array(7) } as const;
    const arrays = { theta: numbers, m: numbers, v: numbers, ema: numbers };
    await writeSafetensors(join(run, "step-58.safetensors"), { arrays, metadata: {} });
    const { code, stderr } = await diffeo(...words(run, "--resume"));
    expect(stderr).toMatch(
      /step-58.*: theta has 7 numbers, this architecture has \d+\. Use the settings/,
    );
    expect(code).toBe(1);
  });

  it("is named if it is damaged", async () => {
    const run = join(folder, "damaged");
    cpSync(killed, run, { recursive: true });
    const newest = join(run, `step-${checkpointsOf(run).at(-1)}.safetensors`);
    writeFileSync(newest, readFileSync(newest).subarray(0, 1000));
    const { version: _, ...config } = JSON.parse(readFileSync(join(run, "config.json"), "utf8"));
    const opened = await RunFolder.open(run, config);
    const [, before] = checkpointsOf(run).reverse();
    await expect(opened.latest()).rejects.toThrow(
      `${newest}, is damaged. Delete it to continue the run from step ${before}.`,
    );
    rmSync(newest);
    expect((await opened.latest())?.step).toBe(before);
  });
});

describe("other data", () => {
  it("are detected, even if their number and the encoding are the same", async () => {
    const init = join(folder, "whole", "model.safetensors");
    const run = join(folder, "from-init");
    const small = ["--batch", "2", "--focus", "0.2,0.5"];
    const from = (file: string, ...more: readonly string[]) =>
      diffeo(
        "chess",
        "train",
        "--data",
        file,
        "--out",
        run,
        "--init",
        init,
        "--steps",
        "2",
        ...small,
        ...more,
      );
    expect(await from(data, "--samples-every", "0")).toMatchObject({ code: 0 });
    const config = JSON.parse(readFileSync(join(run, "config.json"), "utf8"));
    expect(config).toMatchObject({ warmup: 1, focus: { from: 0.2, to: 0.5, share: 0.85 } });
    const [first, ...rest] = readFileSync(data, "utf8").trim().split("\n");
    const [moved, changed] = [join(folder, "moved.fen"), join(folder, "changed.fen")];
    cpSync(data, moved);
    writeFileSync(changed, [first.replace(/^\S+/, "4k3/8/8/8/8/8/8/4K3"), ...rest].join("\n"));
    expect(await from(moved, "--resume")).toMatchObject({ code: 0 });
    const { code, stderr } = await from(changed, "--resume");
    expect(stderr).toMatch(
      /started with data = "64 positions, SHA-256 \w{12}…", but now it is "64 positions, SHA-256/,
    );
    expect(code).toBe(2);
    expect((await from(data, "--resume", "--width", "8")).stderr).toContain(
      "--width cannot be used with --init",
    );
  });
});

describe("a folder that contains a run", () => {
  it("is refused before the data are read", async () => {
    const { code, stderr } = await diffeo(
      "chess",
      "train",
      "--data",
      join(folder, "none.fen"),
      "--out",
      join(folder, "whole"),
    );
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/already contains a run\. Continue it with --resume/),
    ]);
  });
});

describe("a missing device", () => {
  it("leaves no run behind", async () => {
    const out = join(folder, "elsewhere");
    const { code } = await diffeo(...words(out, "--device", "cuda", "--steps", "1"));
    expect(existsSync(out)).toBe(code === 0);
  });
});

describe("bad data", () => {
  it.each([
    [
      "a truncated gzip",
      "a.fen.gz",
      () => gzipSync(readFileSync(data).toString().repeat(50)).subarray(0, 2000),
      "too early",
    ],
    ["an empty file", "b.csv", () => "", "is empty"],
  ])("such as %s ends training before a run starts", async (_, name, content, message) => {
    const path = join(folder, name);
    writeFileSync(path, content());
    const out = join(folder, "never");
    const { code, stderr } = await diffeo("chess", "train", "--data", path, "--out", out);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain("    at ");
    expect(code).toBe(1);
    expect(existsSync(out)).toBe(false);
  });
});
