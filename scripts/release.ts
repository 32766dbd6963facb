/**
 * Writes what a release changes in all packages at once.
 *
 *     npm run release -- version 0.2.0
 *     npm run release -- address https://github.com/OWNER/diffeo https://HOST/diffeo/
 *
 * `version` sets the version of every package and of the packages that it depends on, in the
 * citation, in addresses of CDNs and in jsr.json, and gives the changelog's "Unreleased" the
 * number. `address` sets repository, bugs and homepage, which are empty until the repository has a
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

const writeJson = (path: string, value: unknown): void =>
  writeFileSync(join(root, path), `${JSON.stringify(value, null, 2)}\n`);

/**
 * What JSR reads of the library: the built modules by the paths of its package.json, because the
 * sources find each other by a condition that only this repository sets. Names of JSR have a scope,
 * which the first to publish must register.
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

function setVersion(version: string): void {
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
    throw new Error(`"${version}" is not a version. Give one such as 0.2.0.`);
  const manifests = folders.map((folder) => ({ folder, manifest: readManifest(folder) }));
  const names = new Set(manifests.map(({ manifest }) => manifest.name));
  const old = manifests[0].manifest.version;
  for (const { folder, manifest } of manifests) {
    manifest.version = version;
    for (const [field, list] of Object.entries(manifest)) {
      if (!/ependencies$/.test(field)) continue;
      const versions = list as Record<string, string>;
      for (const name of Object.keys(versions)) if (names.has(name)) versions[name] = version;
    }
    writeJson(join(folder, "package.json"), manifest);
  }
  writeJson("packages/diffeo/jsr.json", jsrOf(readManifest("packages/diffeo")));
  const replace = (path: string, from: string | RegExp, to: string): void =>
    writeFileSync(join(root, path), readFileSync(join(root, path), "utf8").replaceAll(from, to));
  replace("CITATION.cff", `version: ${old}`, `version: ${version}`);
  replace("docs/start/cite.md", `{${old}}`, `{${version}}`);
  replace("docs/how-to/browser.md", `diffeo@${old}`, `diffeo@${version}`);
  const day = new Date().toISOString().slice(0, 10);
  replace("CHANGELOG.md", /^## Unreleased$/gm, `## Unreleased\n\n## ${version} (${day})`);
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
    writeJson(join(folder, "package.json"), manifest);
  }
  console.log(`${folders.length} packages name ${repository}.`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [task, first, second] = process.argv.slice(2);
  if (task === "version" && first !== undefined) setVersion(first);
  else if (task === "address" && first !== undefined) setAddress(first, second);
  else {
    console.error("Usage: npm run release -- version VERSION | address REPOSITORY [HOMEPAGE]");
    process.exitCode = 2;
  }
}
