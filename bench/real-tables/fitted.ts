/** A model of a CSV file with the usual settings of `diffeo table fit`, and its rows as CSV. */
import { writeFile } from "node:fs/promises";
import type { Cell } from "diffeo/domain";
import { product } from "diffeo/domain";
import {
  cellLines,
  fitTable,
  inferColumns,
  namedDomains,
  rowsIn,
  type TableModel,
} from "diffeo-tables";
import { readCells } from "diffeo-tables/node";
import { endProgress, printProgress } from "../tables/progress.ts";

export interface FitSettings {
  readonly steps?: number;
  readonly minutes?: number;
  readonly threads: number;
}

export interface FittedFile {
  readonly model: TableModel;
  readonly seconds: number;
}

/** Fits the rows of a file; categories are named as the benchmarks name them, the rest is found. */
export async function fitFile(
  path: string,
  categories: readonly string[],
  options: FitSettings & { readonly seed: number; readonly given: boolean },
): Promise<FittedFile> {
  const table = await readCells(path);
  const columns = namedDomains(
    inferColumns(
      table,
      categories.map((name) => `${name}=category`),
    ),
  );
  const rows = rowsIn(table, product(columns));
  const began = performance.now();
  const model = await fitTable(rows, {
    columns,
    ...options,
    onProgress: (progress) => printProgress(progress.network, progress),
  });
  endProgress();
  return { model, seconds: (performance.now() - began) / 1000 };
}

export async function writeRows(
  path: string,
  columns: readonly string[],
  rows: readonly (readonly Cell[])[],
): Promise<string> {
  await writeFile(path, [...cellLines([columns]), ...cellLines(rows)]);
  return path;
}
