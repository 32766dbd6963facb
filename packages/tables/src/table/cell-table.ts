/** Tables of text, as read from files of all formats. */

/** A table of cells as they are written in a file. */
export interface CellTable {
  /** Its name in errors: a path or a name. */
  readonly source: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** The line of each row. */
  readonly lines: readonly number[];
  /** Whether numbers may have a decimal comma: no cell ends with a comma. Default: no. */
  readonly commas?: boolean;
  /** Whether the file has no line of names, so that columns are numbered. Default: no. */
  readonly isUnnamed?: boolean;
  /**
   * For each column whether all its values are numbers or booleans in a format that distinguishes
   * them from texts: JSON, Parquet. Default: no.
   */
  readonly literals?: readonly boolean[];
}
