/** A model of a CSV file with the usual settings of `diffeo table fit`, and its rows as CSV. */
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

/**
 * What a model is for: that its rows are near to rows of the table, and whether it learns from all.
 */
export interface Aim {
  readonly choose?: WeightChoice;
  readonly allRows?: boolean;
}

export interface FittedFile {
  readonly model: TableModel;
  /** Of the processor. */
  readonly seconds: number;
}

/** Seconds of the processor that this process has spent. */
const processorSeconds = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

/** Fits the rows of a file; categories are named as the benchmarks name them, the rest is found. */
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
