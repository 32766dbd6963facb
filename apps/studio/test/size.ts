/** The compressed size of the studio's files, without weights, the runtime's binary and fonts. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

/**
 * The limit for all of them. A page loads only a part: the compiler of small graphs and its chains
 * (40 kB) with the first graph, the code of posteriors (70 kB) with the first run, the rules between
 * columns (10 kB) with the first table, the reader of Parquet (15 kB) with the first Parquet file.
 */
export const MOST_BYTES = 565_000;

const isApp = (name: string): boolean => /\.(m?js|css|html)$/.test(name);

/** The files of a built studio, largest first. */
export const appFiles = (folder: string): { readonly name: string; readonly bytes: number }[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter(isApp)
    .map((name) => ({
      name,
      bytes: gzipSync(readFileSync(join(folder, name)), { level: 9 }).length,
    }))
    .sort((a, b) => b.bytes - a.bytes);

/** The files that the browser loads for the home page before it computes: scripts and style sheets. */
export function homeFiles(folder: string): readonly string[] {
  const assets = join(folder, "assets");
  const names = readdirSync(assets);
  const isStart = (name: string): boolean => /^(index|Home)-[\w-]+\.(js|css)$/.test(name);
  const found = new Set<string>();
  const visit = (name: string): void => {
    if (found.has(name)) return;
    found.add(name);
    if (!name.endsWith(".js")) return;
    const text = readFileSync(join(assets, name), "utf8");
    for (const [, other] of text.matchAll(/\b(?:from|import)\s*"\.\/([^"]+)"/g)) visit(other);
    // Style sheets of a chunk have its name and another hash.
    const chunk = name.replace(/[\w-]{8}\.js$/, "");
    for (const style of names) if (style.startsWith(chunk) && style.endsWith(".css")) visit(style);
  };
  names.filter(isStart).forEach(visit);
  return [...found].map((name) => `assets/${name}`);
}
