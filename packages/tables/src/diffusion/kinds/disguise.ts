/** Texts that are dates, or numbers with something around them. */

const isDate = (cell: string): boolean =>
  /^\d{4}-\d{1,2}-\d{1,2}(\D|$)|^\d{1,2}[./]\d{1,2}[./]\d{2,4}(\D|$)/.test(cell);
/** A number with thousands separated, of a currency or in percent. */
const isDressed = (cell: string): boolean => /^[$€£]? ?[+-]?\d[\d.,']* ?[%$€£]?$/.test(cell);

/**
 * What most of a column's texts seem to be, in words that say what to do about it; undefined where
 * they are plain texts.
 */
export function disguiseOf(cells: readonly string[]): string | undefined {
  const are = (test: (cell: string) => boolean): boolean =>
    cells.filter(test).length > cells.length / 2;
  if (are(isDate)) return "write all dates in one format, such as 2024-12-31";
  return are(isDressed) ? "write numbers plainly, as 1234.5" : undefined;
}
