/** The package as its users get it: built, with its own package.json, in the node_modules of an empty project. */
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

/** The package, and the house it stands in. */
export const root = resolve(import.meta.dirname, "../..");
export const house = resolve(root, "../..");

const { dependencies, optionalDependencies } = createRequire(import.meta.url)("../../package.json") as Record<
  "dependencies" | "optionalDependencies",
  Record<string, string>
>;

/** Builds into a temporary project and gives its folder. */
export function packed({ types }: { readonly types: boolean }): { readonly folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), "diffeo-"));
  const diffeo = join(folder, "node_modules", "diffeo");
  mkdirSync(diffeo, { recursive: true });
  copyFileSync(join(root, "package.json"), join(diffeo, "package.json"));
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    mkdirSync(dirname(join(folder, "node_modules", name)), { recursive: true });
    symlinkSync(join(house, "node_modules", name), join(folder, "node_modules", name));
  }
  const tsdown = join(house, "node_modules", "tsdown", "dist", "run.mjs");
  const flags = [
    "--filter",
    "packages/diffeo",
    "--out-dir",
    join(diffeo, "dist"),
    "--logLevel",
    "error",
    ...(types ? [] : ["--no-dts"]),
  ];
  execFileSync(process.execPath, [tsdown, ...flags], { cwd: house, stdio: ["ignore", "ignore", "inherit"] });
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
