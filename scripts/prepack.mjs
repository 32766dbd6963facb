/**
 * What a package takes along from the house when it is packed: the licence, and for the library its
 * README, documents and examples, with the figures they show. Run by npm in the package's folder.
 */
import { cpSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const house = join(import.meta.dirname, "..");
const { name, files } = JSON.parse(readFileSync("package.json", "utf8"));
if (files.includes("dist") && !existsSync("dist"))
  throw new Error(`${name} is not built. Run npm run build in the folder of the house first.`);
const taken =
  name === "diffeo"
    ? ["LICENSE", "README.md", "SECURITY.md", "docs", "examples", "studies"]
    : ["LICENSE"];
/**
 * Of studies, what documents show: tables and pictures, not the records.
 * @param {string} path
 */
const shown = (path) => !/\.(json|svg)$|\/runs$/.test(path);
for (const file of taken)
  cpSync(join(house, file), file, {
    recursive: true,
    filter: file === "studies" ? shown : () => true,
  });
