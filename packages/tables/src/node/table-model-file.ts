/** Models of tables on disk. */
import { readBytes, writeFileAtomic } from "diffeo/node";
import {
  type OpenTableOptions,
  parseTableModel,
  serializeTableModel,
} from "../diffusion/file/index.ts";
import type { FittedTable } from "../diffusion/network/index.ts";
import type { TableModel } from "../diffusion/query/index.ts";

/** Writes a model of a table, whole or not at all. */
export const saveTableModel = (path: string, model: FittedTable): Promise<void> =>
  writeFileAtomic(path, serializeTableModel(model));

/** The model in a file, opened. */
export const loadTableModel = async (
  path: string,
  options?: OpenTableOptions,
): Promise<TableModel> => parseTableModel(await readBytes(path), path, options);
