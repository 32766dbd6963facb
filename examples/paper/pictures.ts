/**
 * The pictures of docs/tutorials/paper-in-ten-pictures.md that need no training:
 *
 *     npx tsx examples/paper/pictures.ts FOLDER [NAME…]
 *
 * writes NAME.svg for each of map, score, norm, reversal and commuting, and of home, the picture of
 * the documentation's first page.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { home } from "./home.ts";
import { map, norm, score } from "./maps.ts";
import { commuting, reversal } from "./processes.ts";

const pictures: Readonly<Record<string, () => Promise<string>>> = {
  map,
  score,
  norm,
  reversal,
  commuting,
  home,
};

/** Rounds coordinates to a tenth of a pixel, which halves the size of the files. */
const shortened = (svg: string): string =>
  svg.replaceAll(/\d+\.\d{2,}/g, (number) => String(Math.round(Number(number) * 10) / 10));

/** The picture with the given name, as SVG. */
export const picture = async (name: string): Promise<string> => shortened(await pictures[name]());

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder = ".", ...names] = process.argv.slice(2);
  for (const name of names.length === 0 ? Object.keys(pictures) : names)
    writeFileSync(join(folder, `${name}.svg`), await picture(name));
}
