/**
 * Copies the licence into every package, and into the library also the README, the documents and
 * the examples with their figures. The last step of `npm run build`: packing then needs no script,
 * so that `.npmrc` can turn off install scripts.
 */
import { cpSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const folders = [
  ...["packages", "apps"].flatMap((group) =>
    readdirSync(join(root, group)).map((name) => join(root, group, name)),
  ),
  join(root, "models"),
];

/**
 * The files of studies that documents show: tables and pictures, not the records.
 * @param {string} path
 */
const shown = (path) => !/\.(json|svg)$|\/runs$/.test(path);

/**
 * The pages of documents, without the code of the site and generated files.
 * @param {string} path
 */
const pages = (path) => !/\/docs\/(\.vitepress|public|repository|reference\/api)$/.test(path);

/** @type {Readonly<Record<string, (path: string) => boolean>>} */
const filters = { docs: pages, studies: shown };

for (const folder of folders) {
  const { name } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const files =
    name === "diffeo"
      ? ["LICENSE", "README.md", "SECURITY.md", "docs", "examples", "studies"]
      : ["LICENSE"];
  for (const file of files)
    cpSync(join(root, file), join(folder, file), {
      recursive: true,
      filter: filters[file] ?? (() => true),
    });
}
