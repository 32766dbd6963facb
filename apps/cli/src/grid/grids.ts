/**
 * Grids as text, one per line: a character per site, or names of classes separated by spaces or
 * commas. In grids to complete, . _ * and ? stand for an unknown site.
 */
import { type ClassArray, classArray } from "diffeo/categorical";
import { fail, type Shape, sizeOf } from "diffeo/graph";
import { readBytes } from "diffeo/node";

/** The grids of a file, as the names of their sites. */
export interface GridLines {
  readonly path: string;
  readonly grids: readonly (readonly string[])[];
  /** The line number of each grid, from 1. */
  readonly lines: readonly number[];
}

const BLANKS = new Set([".", "_", "*", "?"]);

const sitesOf = (line: string): string[] =>
  /[\s,]/.test(line) ? line.split(/[\s,]+/).filter((name) => name !== "") : [...line];

/** Reads a file of grids; lines that begin with # are comments. */
export async function readGrids(path: string, grid: Shape): Promise<GridLines> {
  const text = new TextDecoder().decode(await readBytes(path));
  const grids: string[][] = [];
  const lines: number[] = [];
  for (const [i, line] of text.split(/\r?\n/).entries()) {
    const own = line.trim();
    if (own === "" || own.startsWith("#")) continue;
    const sites = sitesOf(own);
    if (sites.length !== sizeOf(grid))
      fail(
        "data",
        `${path}, line ${i + 1}: ${sites.length} sites, but a grid [${grid.join(", ")}] has ` +
          `${sizeOf(grid)}`,
        "write one grid per line",
      );
    grids.push(sites);
    lines.push(i + 1);
  }
  if (grids.length === 0) fail("data", `${path} contains no grid`, "write one grid per line");
  return { path, grids, lines };
}

/** The names of all classes in order: numbers by value, other names by their characters. */
export function symbolsOf({ path, grids }: GridLines): string[] {
  const names = [...new Set(grids.flat())];
  const blank = names.find((name) => BLANKS.has(name));
  if (blank !== undefined)
    fail("data", `${path} has unknown sites ("${blank}")`, "give complete grids");
  const numbers = names.every((name) => /^\d+$/.test(name));
  return names.sort((a, b) => (numbers ? Number(a) - Number(b) : a < b ? -1 : 1));
}

/**
 * The classes of all sites, one grid after the other; an unknown site has the number after the last
 * class.
 */
export function classesOf(
  { path, grids, lines }: GridLines,
  symbols: readonly string[],
  blanks: boolean,
): ClassArray {
  const places = new Map(symbols.map((name, k) => [name, k]));
  const classes = grids.flatMap((sites, i) =>
    sites.map((name) => {
      const k = places.get(name);
      if (k !== undefined) return k;
      if (blanks && BLANKS.has(name)) return symbols.length;
      return fail(
        "data",
        `${path}, line ${lines[i]}: unknown class "${name}"`,
        `use ${symbols.join(", ")}${blanks ? ", or . for an unknown site" : ""}`,
      );
    }),
  );
  const out = classArray(classes.length, symbols.length);
  out.set(classes);
  return out;
}

/** A grid as a line. */
export function formatGrid(classes: ArrayLike<number>, symbols: readonly string[]): string {
  const names = Array.from(classes, (k) => symbols[k] ?? ".");
  return names.join(symbols.every((name) => name.length === 1) ? "" : " ");
}
