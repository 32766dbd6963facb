/**
 * What a browser fetches of the studio, compressed: all but weights, the runtime's binary and
 * fonts, which are compressed as they are.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

/**
 * The most that all of them may have: 400 kB; 40 kB for the compiler of small graphs and its chains,
 * which a page fetches only when it compiles the first one; 20 kB for the page of Sudokus; 70 kB for
 * that of posteriors, whose models may use every distribution, fetched with the first run; and 10 kB
 * for rules between columns and masked cells, fetched with the first table.
 */
export const MOST_BYTES = 540_000;

const isApp = (name: string): boolean => /\.(m?js|css|html)$/.test(name);

/** The files of a built studio, the largest first. */
export const appFiles = (folder: string): { readonly name: string; readonly bytes: number }[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter(isApp)
    .map((name) => ({
      name,
      bytes: gzipSync(readFileSync(join(folder, name)), { level: 9 }).length,
    }))
    .sort((a, b) => b.bytes - a.bytes);
