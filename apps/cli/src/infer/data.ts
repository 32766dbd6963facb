/**
 * Data of a model from files: JSON with numbers and arrays by name, or CSV with one array per
 * column. A column of labels becomes integers from 0 in the order of the labels, as `take` counts
 * them. Several files are merged into one set of names.
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
      "correct the file",
      { cause: error },
    );
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    fail("data", `${path} is not an object of data by name`, 'write it as in {"y": [1.2, 0.7]}');
  return value as Data;
}

async function ofCsv(bytes: Uint8Array, path: string, say: (line: string) => void): Promise<Data> {
  // Loaded here because JSON data do not need this package, a quarter of what the command loads.
  const { numberColumns, parseCells } = await import("diffeo-tables");
  const columns = Object.entries(numberColumns(parseCells(text(bytes), path)));
  return Object.fromEntries(
    columns.map(([name, { values, labels = [] }]) => {
      const shown = labels.slice(0, 4).map((label, k) => `${label} = ${k}`);
      if (labels.length > 0)
        say(
          `${path}: ${name} has ${labels.length} labels: ` +
            `${shown.join(", ")}${labels.length > 4 ? ", …" : ""}`,
        );
      return [name, values];
    }),
  );
}

/** Reads files of data. A pipe can be read only once. */
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
      fail("data", `"${twice}" is in ${path} and in an earlier file`, "rename one of them");
    Object.assign(all, found);
  }
  return { value: all, digest: digest.digest("hex").slice(0, 16) };
}
