/** Old words of the command line work as the new ones do, and say so. */
import { describe, expect, it } from "vitest";
import { diffeo } from "./run.ts";

const missing = ["--model", "/nowhere/at/all"];

describe("an old name does the same as the new one, after a notice", () => {
  it.each([
    [
      ["table", "score", "rows.csv", ...missing],
      ["table", "likelihood", "rows.csv", ...missing],
      "diffeo table score is now called diffeo table likelihood",
    ],
    [
      ["density", "sample", ...missing, "--method", "langevin"],
      ["density", "sample", ...missing, "--method", "mala"],
      "--method langevin is now called --method mala",
    ],
    [
      ["infer", "/nowhere.mjs", "--out", "/nowhere/at/all", "--method", "langevin"],
      ["infer", "/nowhere.mjs", "--out", "/nowhere/at/all", "--method", "ula"],
      "--method langevin is now called --method ula",
    ],
    [
      ["infer", "/nowhere.mjs", "--out", "/nowhere/at/all", "--acceptance", "2"],
      ["infer", "/nowhere.mjs", "--out", "/nowhere/at/all", "--target-acceptance", "2"],
      "--acceptance is now called --target-acceptance",
    ],
    [
      ["chess", "sample", "--method", "exponential", ...missing],
      ["chess", "sample", "--solver", "dpmSolver2M", ...missing],
      "--method is now called --solver",
    ],
    [
      ["table", "sample", "--parts", "folder", ...missing],
      ["table", "sample", "--jobs", "folder", ...missing],
      "--parts is now called --jobs",
    ],
    [
      ["worker", "--parts", "0", "--queue", "unix:///nowhere"],
      ["worker", "--jobs", "0", "--queue", "unix:///nowhere"],
      "--parts is now called --jobs",
    ],
  ])("%j", async (before, now, notice) => {
    const [old, fresh] = [await diffeo(...before), await diffeo(...now)];
    expect(fresh.code).not.toBe(0);
    expect(old).toEqual({
      ...fresh,
      stderr: `${notice}; the old name will be removed in the next release\n${fresh.stderr}`,
    });
  });

  it("and is not in any help", async () => {
    expect((await diffeo("table", "--help")).stdout).not.toMatch(/^ +score/m);
    expect((await diffeo("chess", "sample", "--help")).stdout).not.toContain("--method");
  });
});
