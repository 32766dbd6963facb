/** A model of a CSV file with the default settings of `diffeo table fit`, and its rows as CSV. */
import { writeFile } from "node:fs/promises";
import type { Cell } from "diffeo/domain";
import {
  cellLines,
  fitTable,
  inferColumns,
  type NetworkKind,
  namedDomains,
  refitTable,
  rowsOf,
  type TableModel,
  type TableProgress,
  type WeightChoice,
} from "diffeo-tables";
import { readCells } from "diffeo-tables/node";
import { endProgress, printProgress } from "../tables/progress.ts";

export interface FitSettings {
  readonly steps?: number;
  readonly minutes?: number;
  readonly threads: number;
  readonly network?: NetworkKind;
}

/** The purpose of a model: how its weights are chosen, and whether it is fitted to all rows. */
export interface Aim {
  readonly choose?: WeightChoice;
  readonly allRows?: boolean;
}

export interface FittedFile {
  readonly model: TableModel;
  /** Processor seconds. */
  readonly seconds: number;
}

/** The processor seconds of this process. */
const processorSeconds = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

/** Fits the rows of a file with the categories of the benchmark; other columns are inferred. */
export async function fitFile(
  path: string,
  categories: readonly string[],
  options: FitSettings & { readonly seed: number; readonly given: boolean } & Aim,
): Promise<FittedFile> {
  const table = await readCells(path);
  const columns = namedDomains(
    inferColumns(
      table,
      categories.map((name) => `${name}=category`),
    ),
  );
  const rows = rowsOf(table, columns);
  const began = processorSeconds();
  const { allRows, ...own } = options;
  const settings = {
    columns,
    ...own,
    onProgress: (progress: TableProgress) => printProgress(progress.network, progress),
  };
  const first = await fitTable(rows, settings);
  const model = allRows ? await refitTable(rows, first, settings) : first;
  endProgress();
  return { model, seconds: processorSeconds() - began };
}

export async function writeRows(
  path: string,
  columns: readonly string[],
  rows: readonly (readonly Cell[])[],
): Promise<string> {
  await writeFile(path, [...cellLines([columns]), ...cellLines(rows)]);
  return path;
}
