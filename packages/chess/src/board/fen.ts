/**
 * FEN, the text form of a position:  placement [side [castling [en passant [half-moves [moves]]]]]
 *
 *   parseFen("8/8/8/4k3/8/8/4P3/4K3 w - - 0 1") ↔ formatFen(board) = "8/8/8/4k3/8/8/4P3/4K3"
 *
 * Only the placement becomes a position; the other fields are checked if present. `scanFen` returns
 * a problem with its column, so that a reader of files can add the file and the line, or skip the
 * row; `parseFen` throws it.
 */
import { fail } from "diffeo/graph";
import { type Board, EMPTY, PIECES, SQUARES, UNKNOWN } from "./position.ts";

/** A problem with a text: where (columns count from 1), the cause, and what to do. */
export interface TextProblem {
  readonly column: number;
  readonly cause: string;
  readonly remedy: string;
}

/** How to read a placement. */
export interface FenOptions {
  /** Whether `?` may stand for an unknown square. Default false. */
  readonly unknown?: boolean;
  /** Whether EPD operations may follow the fourth field. Default false. */
  readonly operations?: boolean;
}

const problem = (column: number, cause: string, remedy: string): TextProblem => ({
  column,
  cause,
  remedy,
});

/** The class of a character code, or 255. */
const classOfCode = new Uint8Array(128).fill(255);
for (let k = 0; k < PIECES.length; k++) classOfCode[PIECES.charCodeAt(k)] = k;

/** Reads a FEN into `board`. Returns the problem if the text is not a FEN. */
export function scanFen(
  text: string,
  board: Board,
  options: FenOptions = {},
): TextProblem | undefined {
  const end = scanPlacement(text, board, options.unknown ?? false);
  return typeof end === "number" ? scanFields(text, end, options.operations ?? false) : end;
}

/** Reads the placement and returns its end. */
function scanPlacement(text: string, board: Board, unknown: boolean): number | TextProblem {
  const ranks = "give eight ranks, the eighth first, separated by /";
  let square = 0;
  let at = 0;
  let rankEnd = 8;
  let afterDigit = false;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 32) break;
    const column = at + 1;
    const rank = 9 - rankEnd / 8;
    if (code === 47) {
      if (square !== rankEnd)
        return problem(column, `rank ${rank} has ${square - rankEnd + 8} squares, not 8`, ranks);
      if (rankEnd === SQUARES) return problem(column, "a ninth rank begins", ranks);
      rankEnd += 8;
      afterDigit = false;
      continue;
    }
    const digit = code - 48;
    const piece = code < 128 ? classOfCode[code] : 255;
    if (digit >= 1 && digit <= 8) {
      if (afterDigit) return problem(column, "two numbers are adjacent", "write their sum");
      if (square + digit > rankEnd)
        return problem(
          column,
          `rank ${rank} has more than 8 squares`,
          "shorten it to 8, or begin the next rank with /",
        );
      for (let i = 0; i < digit; i++) board[square++] = EMPTY;
      afterDigit = true;
      continue;
    }
    if (piece === 255 && !(unknown && code === 63))
      return problem(
        column,
        `${JSON.stringify(String.fromCodePoint(text.codePointAt(at) as number))} is not a piece`,
        `use ${PIECES} for pieces, 1 to 8 for empty ` +
          `squares${unknown ? ", ? for unknown ones" : ""}`,
      );
    if (square === rankEnd)
      return problem(
        column,
        `rank ${rank} has more than 8 squares`,
        "shorten it to 8, or begin the next rank with /",
      );
    board[square++] = piece === 255 ? UNKNOWN : piece;
    afterDigit = false;
  }
  if (at === 0)
    return problem(1, text === "" ? "the FEN is empty" : "the FEN begins with a space", ranks);
  if (square !== SQUARES) {
    const rank = 9 - rankEnd / 8;
    const short = square - rankEnd + 8;
    return short < 8 && short > 0
      ? problem(at + 1, `rank ${rank} has ${short} squares, not 8`, ranks)
      : problem(at + 1, `the placement ends after ${Math.ceil(square / 8)} ranks`, ranks);
  }
  return at;
}

const FIELDS: readonly { readonly name: string; readonly form: RegExp; readonly remedy: string }[] =
  [
    { name: "side to move", form: /^[wb]$/, remedy: "write w or b" },
    {
      name: "castling field",
      form: /^(-|[KQA-H]{0,2}[kqa-h]{0,2})$/,
      remedy: "write letters of KQkq, or -",
    },
    {
      name: "en passant field",
      form: /^(-|[a-h][36])$/,
      remedy: "write a square of rank 3 or 6, or -",
    },
    { name: "half-move count", form: /^\d+$/, remedy: "write an integer" },
    { name: "move number", form: /^\d+$/, remedy: "write an integer" },
  ];

/** An EPD operation: its code, its operands, and the semicolon that ends it. */
const OPERATION = /[a-z]\w*(?: +(?:"[^"]*"|[^\s;"]+))* *; */iy;

/** The index where the first invalid operation begins, or the end. */
function scanOperations(text: string, from: number): number {
  OPERATION.lastIndex = from;
  let at = from;
  while (OPERATION.test(text)) at = OPERATION.lastIndex;
  return at;
}

/**
 * Checks the fields after the placement, which may stop at any point. With `operations`, EPD
 * operations may follow the third field.
 */
function scanFields(text: string, from: number, operations: boolean): TextProblem | undefined {
  let at = from;
  for (let field = 0; at < text.length; field++) {
    while (text.charCodeAt(at) === 32) at++;
    if (at === text.length) return undefined;
    let end = text.indexOf(" ", at);
    if (end < 0) end = text.length;
    const word = text.slice(at, end);
    const rule = FIELDS[field];
    if (operations && field >= 3 && !rule?.form.test(word)) {
      const bad = scanOperations(text, at);
      if (bad === text.length) return undefined;
      const cause = `${JSON.stringify(text.slice(bad).split(" ", 1)[0])} is not an EPD operation`;
      return problem(
        bad + 1,
        cause,
        "write operations as `bm e4;` with a semicolon after each, or end the row before it",
      );
    }
    if (!rule)
      return problem(
        at + 1,
        `${JSON.stringify(word)} follows the sixth field`,
        "end the FEN before it",
      );
    if (!rule.form.test(word))
      return problem(
        at + 1,
        `${JSON.stringify(word)} is not a valid ${rule.name}`,
        `${rule.remedy}, or end the FEN before it`,
      );
    at = end;
  }
  return undefined;
}

/**
 * The board of a FEN.
 *
 * @throws DiffeoError of kind `usage`, with the column of the problem
 */
export function parseFen(text: string, options: FenOptions = {}): Board {
  const board = new Uint8Array(SQUARES);
  const bad = scanFen(text, board, options);
  if (bad)
    fail("usage", `FEN ${JSON.stringify(text)}, column ${bad.column}: ${bad.cause}`, bad.remedy);
  return board;
}

/** The placement field of a board; unknown squares are written as `?`. */
export function formatFen(board: ArrayLike<number>): string {
  let text = "";
  let empty = 0;
  for (let square = 0; square < SQUARES; square++) {
    if (square > 0 && square % 8 === 0) {
      if (empty > 0) text += empty;
      empty = 0;
      text += "/";
    }
    const k = board[square];
    if (k === EMPTY) {
      empty++;
      continue;
    }
    if (empty > 0) text += empty;
    empty = 0;
    text += k === UNKNOWN ? "?" : PIECES[k];
  }
  return empty > 0 ? text + empty : text;
}

/** The side to move of a FEN that has one. */
export function sideOf(text: string): "w" | "b" | undefined {
  return /^\S+ +([wb])(?: |$)/.exec(text)?.[1] as "w" | "b" | undefined;
}
