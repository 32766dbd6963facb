/**
 * Tables by name. The three of the study come from the UCI Machine Learning Repository (CC BY 4.0)
 * and are read from a folder. Missing files can be fetched; a file is used only if its checksum is
 * the known one.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DiffeoError, fail } from "diffeo/graph";
import { readBytes, writeFileAtomic } from "diffeo/node";
import { fold, key } from "diffeo/random";
import { type Prepared, type PrepareOptions, prepare, prune } from "../table/prepare.ts";
import { generate, type SyntheticName } from "../table/synthetic.ts";
import { allColumns, selectColumns, type Table, without } from "../table/table.ts";
import {
  type DatasetName,
  isSynthetic,
  isUci,
  preparationOf,
  tableNames,
  type UciName,
  type UciSet,
  uciSets,
} from "../table/uci.ts";
import { preparedUci, prunedUci } from "../table/uci-table.ts";
import { readTable } from "./table-file.ts";

const pathOf = ({ file }: UciSet, folder: string): string => join(folder, file);

/** The file to read for the name or the path of a table. */
export const sourceFile = (data: string, folder: string): string =>
  isUci(data) ? pathOf(uciSets[data], folder) : data;

/** Fetches a file into the folder if it is not there. */
async function fetched(set: UciSet, folder: string): Promise<string> {
  const path = pathOf(set, folder);
  if (existsSync(path)) return path;
  const remedy = `put ${set.file} into ${folder} yourself`;
  const response = await fetch(set.address).catch((error: unknown) => {
    throw new DiffeoError("data", `${set.address} cannot be reached`, remedy, { cause: error });
  });
  if (!response.ok) fail("data", `${set.address} answered ${response.status}`, remedy);
  const bytes = new Uint8Array(await response.arrayBuffer());
  const found = createHash("sha256").update(bytes).digest("hex");
  if (found !== set.sha256)
    fail("data", `${set.address} has checksum ${found} instead of ${set.sha256}`, remedy);
  await writeFileAtomic(path, bytes);
  return path;
}

/** The bytes of a named UCI table's file, from the folder, which receives it if it is missing. */
export const uciFile = async (name: UciName, folder: string): Promise<Uint8Array> =>
  readBytes(await fetched(uciSets[name], folder));

/**
 * A named UCI table without its dropped columns, from the folder, which receives it if it is
 * missing.
 */
export async function uciTable(name: UciName, folder: string): Promise<Table> {
  const set: UciSet = uciSets[name];
  return prunedUci(await readTable(await fetched(set, folder), without(set.drop)), set);
}

/** Options for reading a table. */
export interface TableOptions {
  /** The folder of the UCI files, which receives missing ones. */
  readonly folder: string;
  /** Rows of a generated table. Default 2,000. */
  readonly rows?: number;
  /** Whether the first line of a file contains names. Default: if it contains no number. */
  readonly header?: boolean;
}

/** A generated table is always the same, like a file. */
const generated = (name: SyntheticName, rows = 2000): Table =>
  generate(name, rows, fold(key(0), name));

/** The table for a name or for the path of a CSV file. */
export async function tableOf(
  data: string,
  options: TableOptions,
  select = allColumns,
): Promise<Table> {
  const { folder, rows, header } = options;
  if (isUci(data)) return selectColumns(await uciTable(data, folder), select);
  if (isSynthetic(data)) return selectColumns(generated(data, rows), select);
  if (!existsSync(data))
    fail(
      "data",
      `${data} is neither a file nor the name of a table`,
      `give a CSV file, or one of ${tableNames.join(", ")}`,
    );
  return readTable(data, select, header);
}

/**
 * The three sets of a table of a study for one run's seed. `file` is the content of its file;
 * generated tables need none.
 */
export function preparedOf(dataset: DatasetName, seed: number, file?: Uint8Array): Prepared {
  if (isUci(dataset))
    return preparedUci(
      dataset,
      seed,
      file ??
        fail("usage", `the table ${dataset} is read from a file`, "give the bytes of the file"),
    );
  return prepare(generated(dataset), fold(key(seed), "data"), preparationOf(dataset));
}

/** Which table to prepare, and with which seed. */
export interface PreparedOptions extends TableOptions {
  readonly seed: number;
  /** Columns to leave out, by name or by number from 1. */
  readonly drop?: readonly string[];
  /** Drop columns that correlate with another beyond this. */
  readonly prune?: number;
  /** Options of the preparation that replace the table's own. */
  readonly preparation?: PrepareOptions;
}

/** A table and its three sets for one run's seed: the input of a fit. */
export async function preparedTable(
  name: string,
  { seed, drop = [], prune: threshold, preparation: own = {}, ...options }: PreparedOptions,
): Promise<{
  readonly table: Table;
  readonly preparation: PrepareOptions;
  readonly data: Prepared;
}> {
  const whole = await tableOf(name, options, without(drop));
  const table = threshold === undefined ? whole : prune(whole, threshold);
  const preparation = { ...preparationOf(name), ...own };
  return { table, preparation, data: prepare(table, fold(key(seed), "data"), preparation) };
}
