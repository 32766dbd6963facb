/**
 * Files of table models. Their code is loaded with the first model, because densities do not need
 * it.
 */
import { readBytes, writeFileAtomic } from "diffeo/node";
import type { OpenTableOptions } from "../diffusion/file/index.ts";
import type { FittedTable } from "../diffusion/network/index.ts";
import type { TableModel } from "../diffusion/query/index.ts";

const modelBytes = () => import("../diffusion/file/index.ts");

/** Writes a model of a table atomically. */
export const saveTableModel = async (path: string, model: FittedTable): Promise<void> =>
  writeFileAtomic(path, (await modelBytes()).serializeTableModel(model));

/** The model in a file, opened. */
export const loadTableModel = async (
  path: string,
  options?: OpenTableOptions,
): Promise<TableModel> =>
  (await modelBytes()).parseTableModel(await readBytes(path), path, options);
