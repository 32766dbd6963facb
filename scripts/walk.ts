/**
 * `npm run walk -- COMMAND…` runs a built command and prints how many modules of the repository it
 * loads, and in how many of them it calls a function: `npm run walk -- chess sample --count 1`. Run
 * after `npm run build`.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A script as V8 reports its coverage; the first function is the module itself. */
interface Script {
  readonly url: string;
  readonly functions: readonly { readonly ranges: readonly { readonly count: number }[] }[];
}

const root = join(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "diffeo-walk-"));
const main = join(root, "apps", "cli", "dist", "main.js");
const { status } = spawnSync(process.execPath, [main, ...process.argv.slice(2)], {
  env: { ...process.env, NODE_V8_COVERAGE: folder },
  stdio: ["ignore", "ignore", "inherit"],
});

const called = new Map<string, boolean>();
for (const file of readdirSync(folder)) {
  const { result } = JSON.parse(readFileSync(join(folder, file), "utf8")) as { result: Script[] };
  for (const { url, functions } of result) {
    const path = /\/(?:packages|apps)\/[^/]+\/dist\/.*/.exec(url)?.[0];
    if (!path) continue;
    const calls = functions.slice(1).some(({ ranges }) => ranges[0].count > 0);
    called.set(path, calls || (called.get(path) ?? false));
  }
}
rmSync(folder, { recursive: true });
const used = [...called.values()].filter(Boolean).length;
console.log(`exit code ${status}: ${called.size} modules loaded, functions of ${used} called`);
