/**
 * The packages as they are published, built once for all tests that need them: the project `built` of vitest calls this
 * before its first test. A build is kept under the digest of what it was made of, so that nothing is built twice.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const house = fileURLToPath(new URL("..", import.meta.url));
const cache = join(house, "node_modules", ".cache", "diffeo-build");
const packages = [...readdirSync(join(house, "packages")).map((name) => join("packages", name)), join("apps", "cli")];

/** Of every file that a build depends on: its name and its content. */
function digest(): string {
  const hash = createHash("sha256");
  const add = (path: string): void => {
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(house, path)))
      .update("\0");
  };
  for (const name of ["tsdown.config.ts", "tsconfig.json", "package-lock.json"]) add(name);
  for (const name of packages) {
    add(join(name, "package.json"));
    const files = readdirSync(join(house, name, "src"), { recursive: true, encoding: "utf8" }).sort();
    for (const file of files.filter((path) => /\.[jt]s$/.test(path))) add(join(name, "src", file));
  }
  return hash.digest("hex").slice(0, 16);
}

/** The folder of the build, laid out as the house: packages with their package.json and dist, which find each other. */
export function built(): string {
  const folder = join(cache, digest());
  if (existsSync(folder)) return folder;
  const tsdown = join(house, "node_modules", "tsdown", "dist", "run.mjs");
  execFileSync(process.execPath, [tsdown, "--logLevel", "error"], {
    cwd: house,
    stdio: ["ignore", "ignore", "inherit"],
  });
  mkdirSync(cache, { recursive: true });
  const made = mkdtempSync(join(cache, "new-"));
  mkdirSync(join(made, "node_modules"));
  for (const name of packages) {
    cpSync(join(house, name, "dist"), join(made, name, "dist"), { recursive: true });
    copyFileSync(join(house, name, "package.json"), join(made, name, "package.json"));
    const { name: published } = JSON.parse(readFileSync(join(house, name, "package.json"), "utf8"));
    symlinkSync(join("..", name), join(made, "node_modules", published));
  }
  for (const old of readdirSync(cache)) if (join(cache, old) !== made) rmSync(join(cache, old), { recursive: true });
  renameSync(made, folder);
  return folder;
}

export default function setup(): void {
  built();
}
