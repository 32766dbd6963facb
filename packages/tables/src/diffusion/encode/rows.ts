/** Texts of a table as rows of cells in their domains, and the rows that have no missing values. */
import type { Cell, Domain, Product, ProductPart } from "diffeo/domain";
import { fail } from "diffeo/graph";
import { type CellTable, isEmpty, isMissingNumber } from "../../table/cells.ts";
import { parseDate } from "../../table/dates.ts";
import { quote } from "../../table/quote.ts";
import { numberOf } from "../../table/table.ts";
import { type Atoms, EMPTY_OR_DROP, strangers } from "./atoms.ts";
import { isHole, type OpenCell, tornFault, WHOLE_GROUPS } from "./points.ts";
import { type Related, relatedColumns } from "./related.ts";
import { settledCells } from "./related-settled.ts";

/** The label that a cell's text says: as it is, or as a number where labels are. */
const labelOf = ({ domain }: ProductPart, text: string, commas?: boolean): OpenCell =>
  domain.fault([text]) === undefined ? text : (numberOf(text, commas) ?? text);

/** How the cells of a domain are written, where they are dates. */
export const dateFormatOf = ({ spec }: Domain): string | undefined =>
  spec?.kind === "date" ? spec.format : undefined;

/** What rows may lack. */
export interface RowsOptions {
  /** Whether the table may lack columns, whose cells are then missing values. Default no. */
  readonly lacking?: boolean;
  /**
   * All columns, where some follow from others: rows have the cells of all, and one whose cells do
   * not go together is an error. The table may lack those of them that it does not know.
   */
  readonly related?: Related;
  /**
   * Whether a group of columns may have missing values in some of them and not in others. Default
   * yes: all are then missing values.
   */
  readonly torn?: boolean;
  /**
   * The atoms of a model that rows with missing values are to be completed by: integers beyond them
   * are an error.
   */
  readonly atoms?: Atoms;
}

/** The cell that a text says: null where it is empty. @param where names its place in errors */
function cellIn(
  part: ProductPart,
  text: string,
  commas: boolean | undefined,
  where: () => string,
): OpenCell {
  if (isEmpty(text)) return null;
  if (part.domain.spec?.kind === "category") return labelOf(part, text, commas);
  if (isMissingNumber(text)) return null;
  const format = dateFormatOf(part.domain);
  const value = format === undefined ? numberOf(text, commas) : parseDate(text, format);
  return (
    value ??
    fail(
      "data",
      `${where()}: ${quote(text)} is not a ` +
        (format === undefined ? "number" : `date written as ${format}`),
      "fix the cell, or drop the row",
    )
  );
}

/**
 * The rows of a table as cells of a product of domains, null where they are empty; one that is
 * outside is an error that says where.
 */
export function rowsIn(
  table: CellTable,
  learned: Product,
  options: RowsOptions = {},
): (readonly OpenCell[])[] {
  const { source, columns, lines, commas } = table;
  const { related } = options;
  const domain = related?.domain ?? learned;
  const isMade = new Set(
    related?.helpers.flatMap(({ from }) => from.map((k) => related.domain.parts[k].name)),
  );
  const places = domain.parts.map((part) =>
    part.columns.map((name) => {
      const at = columns.indexOf(name);
      if (at < 0 && !options.lacking && !isMade.has(name))
        fail(
          "data",
          `${source} has no column ${quote(name)}`,
          "give the columns that the model has",
        );
      return at;
    }),
  );
  return table.rows.map((row, i) => {
    const where = (j: number): string =>
      `${source}, line ${lines[i]}, column ${j + 1} (${quote(columns[j])})`;
    const cells = domain.parts.flatMap((part, k) => {
      const own = places[k].map((j) =>
        j < 0 ? null : cellIn(part, row[j], commas, () => where(j)),
      );
      const fault = own.some(isHole) ? undefined : part.domain.fault(own as (string | number)[]);
      if (fault !== undefined)
        fail(
          "data",
          `${where(places[k][0])}: ${fault}`,
          "fix or drop the row, or fit with another domain of the column",
        );
      return own;
    });
    const settled = related ? settledCells(related, cells) : cells;
    if (typeof settled === "string")
      return fail("data", `${source}, line ${lines[i]}: ${settled}`, "fix or drop the row");
    const half = options.torn === false ? tornFault(learned, settled) : undefined;
    if (half !== undefined) fail("data", `${source}, line ${lines[i]}: ${half}`, WHOLE_GROUPS);
    const [far] = options.atoms ? strangers(learned, options.atoms, settled) : [];
    if (far)
      fail("data", `${where(columns.indexOf(far.part.columns[0]))}: ${far.fault}`, EMPTY_OR_DROP);
    return settled;
  });
}

/** The rows of a table in all columns that have domains, those that follow from others included. */
export function rowsOf(
  table: CellTable,
  columns: Readonly<Record<string, Domain>>,
): (readonly OpenCell[])[] {
  const { domain, related } = relatedColumns(columns);
  return rowsIn(table, domain, { related });
}

/** The rows that have no missing values. */
export const wholeRows = (rows: readonly (readonly OpenCell[])[]): (readonly Cell[])[] =>
  rows.filter((row): row is readonly Cell[] => !row.some(isHole));
