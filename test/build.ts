/**
 * The packages and the studio as they are published, built once for all tests that need them: the projects `built` and
 * `studio` of vitest call them before their first tests. A build is kept under the digest of what it was made of, so that
 * nothing is built twice.
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
const packages = [
  ...readdirSync(join(house, "packages")).map((name) => join("packages", name)),
  join("apps", "cli"),
].filter((name) => existsSync(join(house, name, "src")));

/** Of every file that a build depends on: its name and its content. */
function digest(folders: readonly string[], others: readonly string[]): string {
  const hash = createHash("sha256");
  const add = (path: string): void => {
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(house, path)))
      .update("\0");
  };
  for (const name of ["package-lock.json", ...others]) add(name);
  for (const name of folders) {
    add(join(name, "package.json"));
    const files = readdirSync(join(house, name, "src"), { recursive: true, encoding: "utf8" }).sort();
    for (const file of files.filter((path) => /\.([jt]s|svelte|css|svg)$/.test(path))) add(join(name, "src", file));
  }
  return hash.digest("hex").slice(0, 16);
}

/** A folder that `make` fills, unless it is there; older ones of the name are removed. */
function kept(name: string, digested: string, make: (folder: string) => void): string {
  const cache = join(house, "node_modules", ".cache", name);
  const folder = join(cache, digested);
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  const made = mkdtempSync(join(cache, "new-"));
  make(made);
  for (const old of readdirSync(cache)) if (join(cache, old) !== made) rmSync(join(cache, old), { recursive: true });
  renameSync(made, folder);
  return folder;
}

function node(script: string, words: readonly string[], cwd: string): void {
  execFileSync(process.execPath, [join(house, "node_modules", script), ...words], {
    cwd,
    stdio: ["ignore", "ignore", "inherit"],
  });
}

/** The folder of the packages, laid out as the house: each with its package.json and dist, and they find each other. */
export const built = (): string =>
  kept("diffeo-build", digest(packages, ["tsdown.config.ts", "tsconfig.json"]), (made) => {
    node("tsdown/dist/run.mjs", ["--logLevel", "error"], house);
    mkdirSync(join(made, "node_modules"));
    for (const name of packages) {
      cpSync(join(house, name, "dist"), join(made, name, "dist"), { recursive: true });
      copyFileSync(join(house, name, "package.json"), join(made, name, "package.json"));
      const { name: published } = JSON.parse(readFileSync(join(house, name, "package.json"), "utf8"));
      symlinkSync(join("..", name), join(made, "node_modules", published));
    }
  });

const studio = join("apps", "studio");
const studioFiles = ["vite.config.ts", "index.html"].map((name) => join(studio, name));
const documents = ["guide.md", "paper.md", "performance.md", "tables.md"].map((name) => join("docs", name));
const models = ["chess.safetensors", "chess.calibration.json"].map((name) => join("models", name));

/** The folder of the studio's static files. */
export const builtStudio = (): string =>
  kept("diffeo-studio", digest([...packages, studio], [...studioFiles, ...documents, ...models]), (made) =>
    node("vite/bin/vite.js", ["build", "--logLevel", "error", "--outDir", made], join(house, studio)),
  );

export default function setup(): void {
  built();
}
