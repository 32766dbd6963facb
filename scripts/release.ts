/**
 * Changes versions and addresses in all packages for a release.
 *
 *     npm run release -- version 0.2.0 [--dry-run]
 *     npm run release -- address https://github.com/OWNER/diffeo https://HOST/diffeo/
 *
 * `version` sets the version of every package and of the packages that it depends on, in the
 * citation, in documents and in jsr.json, and gives the changelog's "Unreleased" the number. With
 * `--dry-run` it lists the files and changes nothing. `address` sets repository, bugs and homepage, which are empty until the repository has a
 * public address.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = join(import.meta.dirname, "..");

type Manifest = Record<string, unknown> & { name: string; version: string };

/** The folders of all packages, relative to the root. */
export const folders: readonly string[] = [
  ...["packages", "apps"].flatMap((group) =>
    readdirSync(join(root, group)).map((name) => join(group, name)),
  ),
  "models",
].filter((folder) => existsSync(join(root, folder, "package.json")));

export const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));

const jsonText = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/**
 * The jsr.json of the library: the built modules by the paths of its package.json, because the
 * sources import each other by a condition that only this repository sets. Names on JSR have a
 * scope, which must be registered before the first release.
 */
export function jsrOf({ version, license, exports }: Manifest): object {
  const modules = Object.entries(exports as Record<string, { readonly default?: string }>)
    .map(([path, target]) => [path, target.default] as const)
    .filter(([, module]) => module !== undefined);
  return {
    name: "@diffeo/diffeo",
    version,
    license,
    exports: Object.fromEntries(modules),
    // "!dist": the build is published although Git ignores it.
    publish: { include: ["dist", "README.md", "LICENSE", "package.json"], exclude: ["!dist"] },
  };
}

/** Which other files state the version, and how. */
const STATEMENTS: readonly (readonly [path: string, statement: (version: string) => string])[] = [
  ["packages/diffeo/jsr.json", (version) => `"version": "${version}"`],
  ["CITATION.cff", (version) => `version: ${version}\n`],
  ["docs/start/cite.md", (version) => `{${version}}`],
  ["docs/how-to/browser.md", (version) => `diffeo@${version}/`],
  ["docs/how-to/queue.md", (version) => `release: "${version}"`],
  ["packages/queue/README.md", (version) => `release: "${version}"`],
];

/** A package's manifest in another version, with the packages that it depends on. */
function manifestOf(manifest: Manifest, version: string, names: ReadonlySet<string>): Manifest {
  const fields = Object.entries(manifest).map(([field, value]) => {
    if (!/ependencies$/.test(field)) return [field, value] as const;
    const needed = Object.entries(value as Record<string, string>);
    return [
      field,
      Object.fromEntries(needed.map(([name, old]) => [name, names.has(name) ? version : old])),
    ] as const;
  });
  return { ...(Object.fromEntries(fields) as Manifest), version };
}

/**
 * The files that a release changes, apart from the lockfile, with their new texts.
 *
 * @param day the date of the release, such as "2026-01-31"
 */
export function filesOfVersion(version: string, day: string): ReadonlyMap<string, string> {
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
    throw new Error(`"${version}" is not a version. Give one such as 0.2.0.`);
  const manifests = folders.map(readManifest);
  const names = new Set(manifests.map(({ name }) => name));
  const old = manifests[0].version;
  const files = new Map(
    folders.map((folder, i) => [
      join(folder, "package.json"),
      jsonText(manifestOf(manifests[i], version, names)),
    ]),
  );
  const replace = (path: string, from: string, to: string): void => {
    const text = readFileSync(join(root, path), "utf8");
    if (!text.includes(from)) throw new Error(`${path} has no ${JSON.stringify(from)}.`);
    files.set(path, text.replaceAll(from, to));
  };
  for (const [path, statement] of STATEMENTS) replace(path, statement(old), statement(version));
  replace("CHANGELOG.md", "\n## Unreleased\n", `\n## Unreleased\n\n## ${version} (${day})\n`);
  return files;
}

function setVersion(version: string, dry: boolean): void {
  const files = filesOfVersion(version, new Date().toISOString().slice(0, 10));
  if (dry) {
    console.log([...files.keys(), "package-lock.json"].join("\n"));
    return;
  }
  for (const [path, text] of files) writeFileSync(join(root, path), text);
  execFileSync("npm", ["install", "--package-lock-only", "--ignore-scripts"], { cwd: root });
  console.log(`All packages have version ${version}. Commit, and push the tag v${version}.`);
}

function setAddress(repository: string, homepage?: string): void {
  for (const address of [repository, homepage ?? repository]) new URL(address);
  for (const folder of folders) {
    const manifest = readManifest(folder);
    const url = `git+${repository.replace(/(\.git)?\/?$/, ".git")}`;
    manifest.repository = { type: "git", url, directory: folder };
    manifest.bugs = `${repository.replace(/\/$/, "")}/issues`;
    if (homepage !== undefined) manifest.homepage = homepage;
    writeFileSync(join(root, folder, "package.json"), jsonText(manifest));
  }
  console.log(`${folders.length} packages name ${repository}.`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const words = process.argv.slice(2);
  const [task, first, second] = words.filter((word) => word !== "--dry-run");
  if (task === "version" && first !== undefined) setVersion(first, words.includes("--dry-run"));
  else if (task === "address" && first !== undefined) setAddress(first, second);
  else {
    console.error(
      "Usage: npm run release -- version VERSION [--dry-run] | address REPOSITORY [HOMEPAGE]",
    );
    process.exitCode = 2;
  }
}
