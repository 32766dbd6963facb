/** Models of tables on disk. */
import { readBytes, writeFileAtomic } from "diffeo/node";
import type { FittedTable } from "../diffusion/model.ts";
import { makeTable, type OpenTableOptions, parseTableModel } from "../diffusion/model-bytes.ts";
import type { TableModel } from "../diffusion/table-model.ts";

export const saveTableModel = (path: string, model: FittedTable): Promise<void> =>
  writeFileAtomic(path, makeTable(model));

/** The model in a file, opened. */
export const loadTableModel = async (
  path: string,
  options?: OpenTableOptions,
): Promise<TableModel> => parseTableModel(await readBytes(path), path, options);
