/** Models of tables on disk. */
import { readBytes, writeFileAtomic } from "diffeo/node";
import type { TableModel } from "../diffusion/model.ts";
import { makeTable, parseTableModel } from "../diffusion/model-bytes.ts";

export const saveTableModel = (path: string, model: TableModel): Promise<void> =>
  writeFileAtomic(path, makeTable(model));

export const loadTableModel = async (path: string): Promise<TableModel> => parseTableModel(await readBytes(path), path);
