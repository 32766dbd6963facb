/**
 * Builds the packages and the studio as they are published, once for all tests that need them. The
 * vitest project `studio` builds both before its first test. Builds are cached by a digest of their
 * inputs. The packages' code takes a second; the types, which one test needs, take ten times as
 * long and are built separately.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const packages = [
  ...readdirSync(join(root, "packages")).map((name) => join("packages", name)),
  join("apps", "cli"),
].filter((name) => existsSync(join(root, name, "src")));

/** A digest of the names and contents of all files that a build depends on. */
function digest(folders: readonly string[], others: readonly string[]): string {
  const hash = createHash("sha256");
  const add = (path: string): void => {
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(root, path)))
      .update("\0");
  };
  for (const name of ["package-lock.json", ...others]) add(name);
  for (const name of folders) {
    add(join(name, "package.json"));
    const files = readdirSync(join(root, name, "src"), {
      recursive: true,
      encoding: "utf8",
    }).sort();
    for (const file of files.filter((path) => /\.([jt]s|svelte|css|svg)$/.test(path)))
      add(join(name, "src", file));
  }
  return hash.digest("hex").slice(0, 16);
}

/** The folder of a build, determined once per process: sources do not change while tests run. */
const once = (make: () => string): (() => string) => {
  let made: string | undefined;
  return () => {
    made ??= make();
    return made;
  };
};

/**
 * The cached folder of a digest, filled by `make` if it does not exist; older ones of the same name
 * are removed.
 */
function kept(name: string, digested: string, make: (folder: string) => void): string {
  const cache = join(root, "node_modules", ".cache", name);
  const folder = join(cache, digested);
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  const made = mkdtempSync(join(cache, "new-"));
  make(made);
  for (const old of readdirSync(cache).map((other) => join(cache, other))) {
    // Another process may be building it, or may have just renamed it.
    const { mtimeMs = Date.now() } = statSync(old, { throwIfNoEntry: false }) ?? {};
    const unfinished = old.startsWith(join(cache, "new-")) && Date.now() - mtimeMs < 3_600_000;
    if (old !== folder && !unfinished) rmSync(old, { recursive: true, force: true });
  }
  if (existsSync(folder)) rmSync(made, { recursive: true });
  else renameSync(made, folder);
  return folder;
}

function node(script: string, words: readonly string[], cwd: string): void {
  execFileSync(process.execPath, [join(root, "node_modules", script), ...words], {
    cwd,
    stdio: ["ignore", "ignore", "inherit"],
    // Tests set another NODE_ENV, with which Svelte would build for development.
    env: { ...process.env, NODE_ENV: "production" },
  });
}

/**
 * Builds packages by tsdown, and lays them out in a folder as in the repository; the results of
 * `npm run build` stay unchanged.
 */
function lay(made: string, names: readonly string[], words: readonly string[]): void {
  const out = join("node_modules", `.built-${process.pid}`);
  node("tsdown/dist/run.mjs", ["--logLevel", "error", "--out-dir", out, ...words], root);
  for (const name of names) {
    mkdirSync(join(made, name), { recursive: true });
    renameSync(join(root, name, out), join(made, name, "dist"));
  }
}

const tools = ["tsdown.config.ts", "tsconfig.json", join("apps", "cli", "bin", "diffeo.js")];

/**
 * The folder of the packages, laid out as in the repository: each with its package.json and dist,
 * so that they find each other.
 */
export const built = once(() =>
  kept("diffeo-build", digest(packages, tools), (made) => {
    lay(made, packages, ["--no-dts"]);
    mkdirSync(join(made, "node_modules"));
    for (const name of packages) {
      for (const file of ["package.json", "bin"])
        if (existsSync(join(root, name, file)))
          cpSync(join(root, name, file), join(made, name, file), { recursive: true });
      const { name: published } = JSON.parse(
        readFileSync(join(root, name, "package.json"), "utf8"),
      );
      symlinkSync(join("..", name), join(made, "node_modules", published));
    }
  }),
);

const library = join("packages", "diffeo");

/** The folder of the library's code and types. */
export const builtLibrary = once(() =>
  join(
    kept("diffeo-library", digest([library], tools), (made) =>
      lay(made, [library], ["--filter", "diffeo"]),
    ),
    library,
    "dist",
  ),
);

const studio = join("apps", "studio");
const studioFiles = ["vite.config.ts", "licences.ts", "index.html"].map((name) =>
  join(studio, name),
);
const models = ["chess.safetensors", "chess-small.safetensors", "sudoku.safetensors"].map((name) =>
  join("models", name),
);

/** The folder of the studio's static files. */
export const builtStudio = once(() =>
  kept("diffeo-studio", digest([...packages, studio], [...studioFiles, ...models]), (made) =>
    node(
      "vite/bin/vite.js",
      ["build", "--logLevel", "error", "--outDir", made],
      join(root, studio),
    ),
  ),
);

export default function setup(): void {
  built();
}
