/**
 * Real processes whose streams break, whose terminal goes away, or that meet in one folder: no step
 * and no sheet is lost.
 */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { testFolder } from "../../../../test/folder.ts";
import { diffeo, diffeoUnder, startDiffeo } from "../run.ts";
import { checkpointsOf, outcomeOf, STEPS, trainWords, until, writeBoards } from "./train-run.ts";

const { folder } = testFolder("streams");
let data: string;
let expected: Record<string, Buffer>;
const whole = (): string => join(folder, "whole");
const words = (out: string, ...more: readonly string[]): string[] =>
  trainWords(data, join(folder, out), "--save-every", "20", "--samples-every", `${STEPS}`, ...more);

beforeAll(async () => {
  data = writeBoards(folder);
  expect(await diffeo(...words("whole"))).toMatchObject({ code: 0 });
  expected = outcomeOf(whole());
});

describe("training continues to its end", () => {
  const bare = ["--samples-every", "0"];
  it("if stderr is full", () => {
    expect(diffeoUnder('exec "$@" 2>/dev/full', ...words("full", ...bare))).toMatchObject({
      code: 0,
      stderr: "",
    });
    expect(outcomeOf(join(folder, "full"))).toEqual(expected);
  });

  it("if the reader of stderr has closed it", async () => {
    const { child, ended } = startDiffeo(...words("unread", ...bare));
    child.stderr?.destroy();
    expect((await ended).code).toBe(0);
    expect(outcomeOf(join(folder, "unread"))).toEqual(expected);
  });
});

describe("a closed terminal, or a request to end", () => {
  it.each(["SIGHUP", "SIGTERM"] as const)(
    "stops training with a checkpoint (%s)",
    async (signal) => {
      const out = join(folder, signal);
      const run = words(signal, "--steps", "100000");
      const { child, ended } = startDiffeo(...run);
      await until(() => existsSync(join(out, "step-20.safetensors")), 10);
      // While it runs, nobody else enters its folder.
      const second = await diffeo(...run, "--resume");
      expect([second.code, second.stderr]).toEqual([
        2,
        expect.stringContaining(`in use by process ${child.pid}. Wait`),
      ]);
      child.kill(signal);
      const { code, stdout } = await ended;
      expect(code).toBe(130);
      expect(stdout).toBe(
        `stopped at step ${checkpointsOf(out).at(-1)} of 100000; continue with the same command and --resume\n`,
      );
      expect(readdirSync(out)).not.toContain(".lock");
    },
  );
});

describe("a folder with a run", () => {
  it("receives the model and the sheet of boards that a killed process did not write", async () => {
    const run = join(folder, "bare");
    cpSync(whole(), run, { recursive: true });
    const sheet = join(run, `samples-0000${STEPS}.svg`);
    const drawn = readFileSync(sheet);
    rmSync(sheet);
    rmSync(join(run, "model.safetensors"));
    expect(await diffeo(...words("bare", "--resume"))).toMatchObject({ code: 0 });
    expect(outcomeOf(run)).toEqual(expected);
    expect(readFileSync(sheet)).toEqual(drawn);
  });
});

describe("standard output", () => {
  const list = ["chess", "data", "--playouts", "20", "--json"];
  // All of it would fit into a pipe that is read later: who has gone has read none.
  it("may be closed early", () => {
    const { code, stderr } = diffeoUnder('set -o pipefail; "$@" | head -c 0', ...list);
    expect([code, stderr]).toEqual([0, ""]);
  });

  it("causes a failure with a message if it is full", () => {
    const { code, stderr } = diffeoUnder('exec "$@" >/dev/full', ...list);
    expect([code, stderr]).toEqual([1, "diffeo: cannot write standard output (ENOSPC)\n"]);
  });
});
