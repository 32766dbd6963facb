/**
 * Tables by name. The three of the study come from the UCI Machine Learning Repository (CC BY 4.0) and are read from a
 * folder; files that are not there can be fetched, and are used only if their checksum is the known one.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DiffeoError, fail } from "../graph/index.ts";
import { fold, key } from "../random/index.ts";
import { writeFileAtomic } from "../train/index.ts";
import { type Prepared, type PrepareOptions, prepare, prune } from "./prepare.ts";
import { generate, type SyntheticName, synthetics } from "./synthetic.ts";
import { allColumns, readTable, selected, type Table, without } from "./table.ts";

interface UciSet {
  readonly file: string;
  readonly address: string;
  readonly sha256: string;
  readonly drop: readonly string[];
  readonly prune?: number;
  readonly options: PrepareOptions;
}

const UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases";

export const uciSets = {
  "red-wine": {
    file: "winequality-red.csv",
    address: `${UCI}/wine-quality/winequality-red.csv`,
    sha256: "4a402cf041b025d4566d954c3b9ba8635a3a8a01e039005d97d6a710278cf05e",
    drop: ["quality"],
    options: { dequantise: true },
  },
  "white-wine": {
    file: "winequality-white.csv",
    address: `${UCI}/wine-quality/winequality-white.csv`,
    sha256: "76c3f809815c17c07212622f776311faeb31e87610d52c26d87d6e361b169836",
    drop: ["quality"],
    options: { dequantise: true },
  },
  parkinsons: {
    file: "parkinsons_updrs.data",
    address: `${UCI}/parkinsons/telemonitoring/parkinsons_updrs.data`,
    sha256: "f2c7d5025dec4e92e7feae367a5f7ccf58789a10ac6b54bdf15976c599f9dd39",
    drop: ["subject#", "age", "sex"],
    prune: 0.98,
    options: {},
  },
} as const satisfies Readonly<Record<string, UciSet>>;

export type UciName = keyof typeof uciSets;
export type DatasetName = UciName | SyntheticName;

export const isUci = (name: string): name is UciName => Object.hasOwn(uciSets, name);
export const isSynthetic = (name: string): name is SyntheticName => Object.hasOwn(synthetics, name);

/** Fetches a file into the folder if it is not there. */
async function fetched(set: UciSet, folder: string): Promise<string> {
  const path = join(folder, set.file);
  if (existsSync(path)) return path;
  const remedy = `put ${set.file} into ${folder} by hand`;
  const response = await fetch(set.address).catch((error: unknown) => {
    throw new DiffeoError("data", `${set.address} cannot be reached`, remedy, { cause: error });
  });
  if (!response.ok) fail("data", `${set.address} answered ${response.status}`, remedy);
  const bytes = new Uint8Array(await response.arrayBuffer());
  const found = createHash("sha256").update(bytes).digest("hex");
  if (found !== set.sha256) fail("data", `${set.address} has checksum ${found}, not the known ${set.sha256}`, remedy);
  await writeFileAtomic(path, bytes);
  return path;
}

/** A named UCI table with its own columns dropped, from a folder that holds the file or will. */
export async function uciTable(name: UciName, folder: string): Promise<Table> {
  const set: UciSet = uciSets[name];
  const kept = await readTable(await fetched(set, folder), without(set.drop));
  return set.prune === undefined ? kept : prune(kept, set.prune);
}

export interface TableOptions {
  /** Where the UCI files are, or are fetched to. */
  readonly folder: string;
  /** Rows of a generated table. Default 2,000. */
  readonly rows?: number;
  /** Whether the first line of a file is names. Default: if it holds no number. */
  readonly header?: boolean;
}

/** What a table may be called beside the path of a file. */
export const tableNames: readonly string[] = [...Object.keys(uciSets), ...Object.keys(synthetics)];

/** The table that a name or the path of a CSV file stands for. Like the files, a generated one is always the same. */
export async function tableOf(data: string, options: TableOptions, select = allColumns): Promise<Table> {
  const { folder, rows = 2000, header } = options;
  if (isUci(data)) return selected(await uciTable(data, folder), select);
  if (isSynthetic(data)) return selected(generate(data, rows, fold(key(0), data)), select);
  if (!existsSync(data))
    fail(
      "data",
      `${data} is neither a file nor the name of a table`,
      `give a CSV file, or one of ${tableNames.join(", ")}`,
    );
  return readTable(data, select, header);
}

/** How a table of that name is prepared unless told otherwise. */
export const preparationOf = (data: string): PrepareOptions => (isUci(data) ? uciSets[data].options : {});

/** A built-in dataset, prepared for one run's seed. */
export async function prepareNamed(name: DatasetName, seed: number, folder: string, rows?: number): Promise<Prepared> {
  const table = await tableOf(name, { folder, ...(rows !== undefined && { rows }) });
  return prepare(table, fold(key(seed), "data"), preparationOf(name));
}
