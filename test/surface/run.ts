/**
 * `npm run symbols` writes the list of public symbols that test/surface.test.ts compares.
 * `npm run symbols -- count [FOLDER]` prints how many there are per package, and which are not
 * documented.
 */
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { readSurface, surfaceList, undocumented } from "./symbols.ts";

const house = join(import.meta.dirname, "..", "..");
const [task = "write", folder = house] = process.argv.slice(2);
const root = resolve(folder);
const surface = readSurface(root);
if (task === "count") {
  const missing = undocumented(root, surface);
  const total = new Map<string, number>();
  for (const { path, symbols } of surface.entries)
    total.set(path.split("/")[0], (total.get(path.split("/")[0]) ?? 0) + symbols.length);
  console.log(missing.join("\n"));
  for (const [name, count] of total) console.log(`${name}: ${count}`);
  console.log(`${missing.length} without documentation`);
} else writeFileSync(join(house, "test", "surface", "public-symbols.txt"), surfaceList(surface));
