/**
 * Copies into every package what it is published with: the licence, and into the library also the
 * README, the documents and the examples, with the figures that they show. The last step of
 * `npm run build`: packing needs no script then, so that `.npmrc` can turn off install scripts.
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
 * Of studies, what documents show: tables and pictures, not the records.
 * @param {string} path
 */
const shown = (path) => !/\.(json|svg)$|\/runs$/.test(path);

/**
 * Of documents, the pages: not the machinery of the site, nor what it generates.
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
