/** Models of tables on disk. */
import { readBytes, writeFileAtomic } from "diffeo/node";
import type { FittedTable } from "../diffusion/model.ts";
import { makeTable, type OwnDomains, parseTableModel } from "../diffusion/model-bytes.ts";
import type { TableModel } from "../diffusion/table-model.ts";

export const saveTableModel = (path: string, model: FittedTable): Promise<void> =>
  writeFileAtomic(path, makeTable(model));

/** The model in a file; `columns` are domains of one's own. */
export const loadTableModel = async (path: string, columns?: OwnDomains): Promise<TableModel> =>
  parseTableModel(await readBytes(path), path, columns);
