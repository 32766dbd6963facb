/**
 * Data of a model from files: JSON with numbers and arrays by name, or CSV with one array per
 * column. A column of labels becomes integers from 0 in the order of the labels, as `take` counts
 * them; data at which a model predicts get the codes of the data that it was fitted to. Several
 * files are merged into one set of names.
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

/** The labels of each column of a CSV file in the order of their codes; none of numbers. */
export type Labels = Readonly<Record<string, readonly string[]>>;

/** The first labels with their codes, for a message. */
const shown = (labels: readonly string[]): string =>
  labels
    .slice(0, 4)
    .map((label, code) => `${label} = ${code}`)
    .join(", ") + (labels.length > 4 ? ", …" : "");

interface Column {
  readonly values: readonly number[];
  readonly labels?: readonly string[];
}

/** The values of a column in the codes of another file. */
function recoded({ values, labels }: Column, known: readonly string[], what: string): number[] {
  const codes = new Map(known.map((label, code) => [label, code]));
  return values.map((value) => {
    const label = labels?.[value] ?? String(value);
    return (
      codes.get(label) ??
      fail(
        "data",
        `${what} has the label ${label}, which is not in the data of the model`,
        `use its labels: ${shown(known)}`,
      )
    );
  });
}

async function ofCsv(
  bytes: Uint8Array,
  path: string,
  say: (line: string) => void,
  known: Labels | undefined,
): Promise<{ readonly data: Data; readonly labels: Labels }> {
  // Loaded here because JSON data do not need this package, a quarter of what the command loads.
  const { numberColumns, parseCells } = await import("diffeo-tables");
  const columns = Object.entries(numberColumns(parseCells(text(bytes), path)));
  const coded = columns.map(([name, column]) => {
    const { values, labels = [] } = column;
    const earlier = known && Object.hasOwn(known, name) ? known[name] : undefined;
    if (earlier && earlier.length > 0) return [name, recoded(column, earlier, `${path}: ${name}`)];
    if (earlier && labels.length > 0)
      fail(
        "data",
        `${path}: ${name} has the label ${labels[0]}, but numbers in the data of the model`,
        "write numbers",
      );
    if (labels.length > 0) say(`${path}: ${name} has ${labels.length} labels: ${shown(labels)}`);
    return [name, values];
  });
  return {
    data: Object.fromEntries(coded) as Data,
    labels: Object.fromEntries(columns.map(([name, { labels = [] }]) => [name, labels])),
  };
}

/** Data of files, and the labels of their columns. */
export interface ReadData extends Digested<Data> {
  readonly labels: Labels;
}

/**
 * Reads files of data. A pipe can be read only once.
 *
 * @param known - the labels of data that were read before, whose codes labels get here too
 */
export async function readData(
  paths: readonly string[],
  say: (line: string) => void,
  known?: Labels,
): Promise<ReadData> {
  const all: Record<string, Data[string]> = {};
  const labels: Record<string, readonly string[]> = {};
  const digest = createHash("sha256");
  for (const path of paths) {
    const bytes = await readBytes(path);
    digest.update(bytes);
    const isCsv = /\.(csv|tsv)$/i.test(path);
    const csv = isCsv ? await ofCsv(bytes, path, say, known) : undefined;
    const found = csv?.data ?? ofJson(bytes, path);
    Object.assign(labels, csv?.labels);
    const twice = Object.keys(found).find((name) => Object.hasOwn(all, name));
    if (twice !== undefined)
      fail("data", `"${twice}" is in ${path} and in an earlier file`, "rename one of them");
    Object.assign(all, found);
  }
  return { value: all, labels, digest: digest.digest("hex").slice(0, 16) };
}
