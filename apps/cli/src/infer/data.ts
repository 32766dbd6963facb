/**
 * Data of a model from files: JSON, numbers and arrays by name, or CSV, a column an array by its
 * name. A column of labels becomes integers from 0 in the labels' order, as `take` counts them.
 * Several files together are one set of names.
 */
import { createHash } from "node:crypto";
import { DiffeoError, fail } from "diffeo/graph";
import type { Data } from "diffeo/mcmc";
import { readBytes } from "diffeo/node";
import type { Digested } from "./model.ts";

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

function ofJson(bytes: Uint8Array, path: string): Data {
  let value: unknown;
  try {
    value = JSON.parse(text(bytes));
  } catch (error) {
    throw new DiffeoError(
      "data",
      `${path} is not JSON: ${(error as Error).message}`,
      "correct it",
      { cause: error },
    );
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    fail("data", `${path} holds no data by name`, 'write an object, as in {"y": [1.2, 0.7]}');
  return value as Data;
}

/** The numbers of a column, or undefined where it has labels. */
function numbersOf(cells: readonly string[], where: (row: number) => string): number[] | undefined {
  const missing = cells.findIndex((cell) => cell === "" || /^(na|nan|null)$/i.test(cell));
  if (missing >= 0)
    fail(
      "data",
      `${where(missing)}: the cell is ${cells[missing] === "" ? "empty" : cells[missing]}`,
      "fill it in, drop the row, or leave the column out",
    );
  const numbers = cells.map(Number);
  return numbers.every(Number.isFinite) ? numbers : undefined;
}

async function ofCsv(bytes: Uint8Array, path: string, say: (line: string) => void): Promise<Data> {
  // A quarter of what the command would load, and JSON does without it.
  const { parseCells } = await import("diffeo-tables");
  const { columns, rows, lines } = parseCells(text(bytes), path);
  return Object.fromEntries(
    columns.map((name, j) => {
      const cells = rows.map((row) => row[j]);
      const where = (row: number): string => `${path}, line ${lines[row]}, column ${name}`;
      const numbers = numbersOf(cells, where);
      if (numbers) return [name, numbers];
      const labels = [...new Set(cells)].sort();
      const shown = labels.slice(0, 4).map((label, k) => `${label} = ${k}`);
      say(
        `${path}: ${name} has ${labels.length} labels: ${shown.join(", ")}${labels.length > 4 ? ", …" : ""}`,
      );
      const codes = new Map(labels.map((label, k) => [label, k]));
      return [name, cells.map((cell) => codes.get(cell) as number)];
    }),
  );
}

/** Files of data, or pipes, which give their bytes once. */
export async function readData(
  paths: readonly string[],
  say: (line: string) => void,
): Promise<Digested<Data>> {
  const all: Record<string, Data[string]> = {};
  const digest = createHash("sha256");
  for (const path of paths) {
    const bytes = await readBytes(path);
    digest.update(bytes);
    const isCsv = /\.(csv|tsv)$/i.test(path);
    const found = isCsv ? await ofCsv(bytes, path, say) : ofJson(bytes, path);
    const twice = Object.keys(found).find((name) => Object.hasOwn(all, name));
    if (twice !== undefined)
      fail("data", `${path} holds "${twice}", and so does a file before it`, "rename one of them");
    Object.assign(all, found);
  }
  return { value: all, digest: digest.digest("hex").slice(0, 16) };
}
