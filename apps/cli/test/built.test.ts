/** The command line as it is published: built, and quick to answer. */
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { built } from "../../../test/build.ts";

const { bin } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

const clock =
  'process.on("exit", () => { const { user, system } = process.cpuUsage(); console.error((user + system) / 1e6); });';

/** What the built command prints, and the seconds of a processor that it took. */
function run(...words: string[]): {
  readonly stdout: string;
  readonly seconds: number;
  readonly code: number | null;
} {
  const main = join(built(), "apps", "cli", bin.diffeo);
  const flags = ["--import", `data:text/javascript,${encodeURIComponent(clock)}`];
  const { stdout, stderr, status } = spawnSync(process.execPath, [...flags, main, ...words], {
    encoding: "utf8",
  });
  return { stdout, seconds: Number(stderr.trim().split("\n").at(-1)), code: status };
}

describe("diffeo", () => {
  it("prints its help and its version in 0.3 s, without loading a command", () => {
    const { stdout, seconds, code } = run("--help");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Usage: diffeo .*check.*devices.*chess.*density/s);
    expect(seconds).toBeLessThan(0.3);
    expect(run("--version").seconds).toBeLessThan(0.3);
    expect(run("chess", "--help").stdout).toContain("sample chess positions from a trained model");
  });

  it("runs a command", () => {
    const { stdout, code } = run("chess", "data", "--playouts", "20", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout).statistics.positions).toBe(20);
  });

  it("exists before the build, so that npm links it, and then says what to do", () => {
    const folder = mkdtempSync(join(tmpdir(), "diffeo-unbuilt-"));
    const file = join(folder, bin.diffeo);
    mkdirSync(dirname(file), { recursive: true });
    copyFileSync(new URL(`../${bin.diffeo}`, import.meta.url), file);
    const { stderr, status } = spawnSync(process.execPath, [file, "--help"], { encoding: "utf8" });
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/is not built\. Run npm run build/),
    ]);
    expect(bin.diffeo).not.toMatch(/dist/);
    rmSync(folder, { recursive: true });
  });

  it("starts the workers of a study", () => {
    const words = [
      "density",
      "study",
      "--datasets",
      "two-moons",
      "--losses",
      "gssm",
      "--seeds",
      "2",
      "--workers",
      "2",
      "--samples",
      "1000",
    ];
    const out = join(mkdtempSync(join(tmpdir(), "diffeo-built-")), "study");
    // Workers that did not start would be missed at once, and the command fail.
    const { stdout, code } = run(...words, "--minutes", "0.02", "--out", out);
    expect([code, stdout]).toEqual([0, "2 runs are not done. Repeat the command to resume\n"]);
    expect(existsSync(out)).toBe(false);
    rmSync(dirname(out), { recursive: true });
  });
});
