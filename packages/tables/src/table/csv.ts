/**
 * CSV according to RFC 4180, in one pass over the text: cells between delimiters, records between
 * line ends (\n, \r\n or \r). A quoted cell may contain both, and "" in it stands for a quote.
 * White space around cells and blank lines are ignored. If the delimiter is a space, consecutive
 * spaces count as one.
 */
import { fail } from "diffeo/graph";
import { quote } from "./quote.ts";

/** Maximum number of cells in a line. */
const MOST_CELLS = 100_000;

const [NEWLINE, RETURN, QUOTE, SPACE] = [10, 13, 34, 32];
const isBreak = (code: number): boolean => code === NEWLINE || code === RETURN;
const isBlank = (code: number): boolean =>
  code === SPACE || code === 9 || code === 0xa0 || code === 0xfeff;

/** The position in the text being read. */
interface Cursor {
  readonly text: string;
  /** The code of the delimiter. */
  readonly split: number;
  readonly source: string;
  at: number;
  line: number;
}

const codeAt = ({ text, at }: Cursor): number => text.charCodeAt(at);
const atEnd = ({ text, at }: Cursor): boolean => at >= text.length;
const atBreak = (c: Cursor): boolean => isBreak(codeAt(c));

function skipBlanks(c: Cursor): void {
  while (isBlank(codeAt(c)) && (c.split === SPACE || codeAt(c) !== c.split)) c.at++;
}

/** Skips one line end, if there is one here. */
function breakLine(c: Cursor): void {
  if (atEnd(c)) return;
  if (codeAt(c) === RETURN && c.text.charCodeAt(c.at + 1) === NEWLINE) c.at++;
  c.at++;
  c.line++;
}

/** Reads a cell that opens with a quote. */
function quotedCell(c: Cursor, column: number): string {
  const first = c.line;
  const pieces: string[] = [];
  do {
    const close = c.text.indexOf('"', c.at + 1);
    if (close < 0)
      fail("data", `${c.source}: the quote that opens in line ${first} is not closed`, "close it");
    if (pieces.length > 0) pieces.push('"');
    const piece = c.text.slice(c.at + 1, close);
    pieces.push(piece);
    c.line += piece.match(/\r\n?|\n/g)?.length ?? 0;
    c.at = close + 1;
  } while (codeAt(c) === QUOTE);
  const after = c.at;
  skipBlanks(c);
  const ended =
    atEnd(c) || atBreak(c) || codeAt(c) === c.split || (c.split === SPACE && c.at > after);
  if (!ended)
    fail(
      "data",
      `${c.source}, line ${c.line}, column ${column}: text after a closing quote`,
      'write a quote inside a cell as "", or fix the line',
    );
  return pieces.join("");
}

/** Reads a cell without quotes, up to the next delimiter or line end. */
function plainCell(c: Cursor, column: number): string {
  const from = c.at;
  let last = from;
  for (; !atEnd(c); c.at++) {
    const code = codeAt(c);
    if (code === c.split || isBreak(code)) break;
    if (code === QUOTE)
      fail(
        "data",
        `${c.source}, line ${c.line}, column ${column}: a quote follows ` +
          `${quote(c.text.slice(from, c.at))}`,
        "put the whole cell into quotes, or fix the line",
      );
    if (!isBlank(code)) last = c.at + 1;
  }
  return c.text.slice(from, last);
}

function recordAt(c: Cursor): string[] {
  const cells: string[] = [];
  for (;;) {
    skipBlanks(c);
    const column = cells.length + 1;
    if (column > MOST_CELLS)
      fail(
        "data",
        `${c.source}, line ${c.line}: more than ${MOST_CELLS.toLocaleString("en")} cells`,
        "split the line",
      );
    cells.push(codeAt(c) === QUOTE ? quotedCell(c, column) : plainCell(c, column));
    if (c.split === SPACE) skipBlanks(c);
    if (atEnd(c) || atBreak(c)) return cells;
    if (c.split !== SPACE) c.at++;
  }
}

/**
 * Calls `visit` with the cells of each record that is not blank, and the number of its first line;
 * the text begins at line `from`. Returns the number of the line after it.
 */
export function readCsv(
  text: string,
  delimiter: string,
  source: string,
  visit: (cells: readonly string[], line: number) => void,
  from = 1,
): number {
  const c: Cursor = { text, split: delimiter.charCodeAt(0), source, at: 0, line: from };
  while (!atEnd(c)) {
    const first = c.line;
    skipBlanks(c);
    if (!atEnd(c) && !atBreak(c)) visit(recordAt(c), first);
    breakLine(c);
  }
  return c.line;
}

/**
 * Splits text that arrives in pieces after its last complete record. A line end inside quotes does
 * not end a record. A quote is either inside a cell or opens one, so at a position outside of cells
 * the number of quotes before it is even.
 */
export function recordCutter(): {
  readonly add: (piece: string) => string;
  readonly rest: () => string;
} {
  let held = "";
  let isQuoted = false;
  return {
    add: (piece) => {
      const from = held.length;
      held += piece;
      let cut = 0;
      for (let at = from; at < held.length; ) {
        const quote = held.indexOf('"', at);
        const end = quote < 0 ? held.length : quote;
        // A \r at the end may be the first half of a line end.
        if (!isQuoted)
          cut = Math.max(cut, lastBreak(held, at, end === held.length ? end - 1 : end) + 1);
        if (quote >= 0) isQuoted = !isQuoted;
        at = end + 1;
      }
      const whole = held.slice(0, cut);
      held = held.slice(cut);
      return whole;
    },
    rest: () => held,
  };
}

/**
 * The last line end of text at `from` … `to`, where a \r at `to` does not count; −1 if there is
 * none.
 */
function lastBreak(text: string, from: number, to: number): number {
  for (let at = to; at >= from; at--) {
    const code = text.charCodeAt(at);
    if (code === NEWLINE || (code === RETURN && at < to)) return at;
  }
  return -1;
}
