/** Tables of text: what files of all forms are read as. */

/** A table of cells as they are written. */
export interface CellTable {
  /** What errors call it: a path or a name. */
  readonly source: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** The line of each row. */
  readonly lines: readonly number[];
  /** Numbers may have a comma before their fraction: no cell ends with one. Default no. */
  readonly commas?: boolean;
  /** The file has no line of names: columns are numbered. Default no. */
  readonly isUnnamed?: boolean;
  /**
   * Of each column whether all its values are numbers, or true and false, in a file that tells them
   * from texts: JSON, Parquet. Default no.
   */
  readonly literals?: readonly boolean[];
}
