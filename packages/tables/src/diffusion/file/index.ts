/**
 * File: a model as bytes.
 *
 * In: a model. Out: the bytes of a safetensors file, or of ONNX files. And back.
 */
export {
  type ExportTableOptions,
  exportedTable,
  exportTable,
  type TableExportName,
  tableExports,
} from "./export.ts";
export { type OpenTableOptions, parseTableModel, serializeTableModel } from "./model-bytes.ts";
