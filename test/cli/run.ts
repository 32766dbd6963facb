/** The command line as a person runs it: its output, its errors and its exit code. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));

export function diffeo(...args: readonly string[]): { stdout: string; stderr: string; code: number | null } {
  const { stdout, stderr, status } = spawnSync(process.execPath, ["--import", "tsx", main, ...args], {
    encoding: "utf8",
  });
  return { stdout, stderr, code: status };
}
