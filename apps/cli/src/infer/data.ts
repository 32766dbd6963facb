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

async function ofCsv(bytes: Uint8Array, path: string, say: (line: string) => void): Promise<Data> {
  // Loaded here because JSON data do without this package, a quarter of what the command loads.
  const { numberColumns, parseCells } = await import("diffeo-tables");
  const columns = Object.entries(numberColumns(parseCells(text(bytes), path)));
  return Object.fromEntries(
    columns.map(([name, { values, labels = [] }]) => {
      const shown = labels.slice(0, 4).map((label, k) => `${label} = ${k}`);
      if (labels.length > 0)
        say(
          `${path}: ${name} has ${labels.length} labels: ${shown.join(", ")}${labels.length > 4 ? ", …" : ""}`,
        );
      return [name, values];
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
