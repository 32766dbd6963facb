/** What `--help` and the reference of the command line promise. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { printed } from "./run.ts";

const root = join(import.meta.dirname, "..", "..", "..");

it("every command has an example, every example is a valid call, and docs/reference/cli.md is current", () => {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ["--conditions=diffeo-source", "--import", "tsx", "apps/cli/test/reference.ts", "--check"],
    { cwd: root, encoding: "utf8" },
  );
  expect({ stdout, stderr, status }).toEqual({ stdout: "", stderr: "", status: 0 });
});

it("the help of a command ends with examples", async () => {
  expect(await printed("queue", "--help")).toMatch(
    /\nExample:\n {2}diffeo queue --queue redis:\/\/host:6379\n$/,
  );
});
