/**
 * The text formats of positions, each a walk over lines that hands rows to a sink:
 *
 *   csv   the Kaggle layout: a header with a FEN column (`FEN,Evaluation`), one position per line
 *   fen   FEN or EPD, one position per line; empty lines and lines that begin with # are skipped
 *   pgn   games, replayed (pgn.ts)
 */

import { scanFen, sideOf, type TextProblem } from "./fen.ts";
import { type Board, SQUARES } from "./position.ts";

/** Consecutive lines of a file, the first of them line number `first`, counted from 1. */
export interface LineBatch {
  readonly first: number;
  readonly lines: readonly string[];
}

export type TextFormat = "csv" | "fen" | "pgn";

/**
 * Receives the rows. `bad` throws or counts, as the caller chose; `full` tells the walk to stop.
 */
export interface Sink {
  readonly full: boolean;
  /** @param game a number shared by the positions of a game, if games are known */
  row(board: Board, side: "w" | "b" | undefined, game?: number): void;
  bad(line: number, problem: TextProblem): void;
}

export type LineWalk = (batches: AsyncIterable<LineBatch>, sink: Sink) => Promise<void>;

/** Rows of the CSV are split at commas: neither a FEN nor an evaluation contains one. */
export const walkCsv: LineWalk = async (batches, sink) => {
  const board = new Uint8Array(SQUARES);
  let fenColumn = -1;
  for await (const { first, lines } of batches)
    for (let i = 0; i < lines.length; i++) {
      if (sink.full) return;
      const line = lines[i];
      if (line === "") continue;
      if (fenColumn < 0) {
        fenColumn = line.split(",").findIndex((name) => /^"?fen"?$/i.test(name.trim()));
        if (fenColumn >= 0) continue;
        sink.bad(first + i, {
          column: 1,
          cause:
            "the header " +
            `${JSON.stringify(line.length > 60 ? `${line.slice(0, 60)}…` : line)} has no column ` +
            "FEN",
          remedy:
            "begin the file with FEN,Evaluation; for a list of FENs without a header use the " +
            "format fen",
        });
        return;
      }
      let from = 0;
      for (let skip = fenColumn; skip > 0 && from >= 0; skip--)
        from = line.indexOf(",", from) + 1 || -1;
      if (from < 0) {
        const remedy = `give each row at least ${fenColumn + 1} fields`;
        sink.bad(first + i, { column: line.length + 1, cause: "the row has no FEN field", remedy });
        continue;
      }
      const comma = line.indexOf(",", from);
      let to = comma < 0 ? line.length : comma;
      if (line[from] === '"' && line[to - 1] === '"') {
        from++;
        to--;
      }
      scanRow(line.slice(from, to), from, first + i, board, sink, false);
    }
};

export const walkFen: LineWalk = async (batches, sink) => {
  const board = new Uint8Array(SQUARES);
  for await (const { first, lines } of batches)
    for (let i = 0; i < lines.length; i++) {
      if (sink.full) return;
      const line = lines[i].trimEnd();
      if (line !== "" && line[0] !== "#") scanRow(line, 0, first + i, board, sink, true);
    }
};

function scanRow(
  fen: string,
  offset: number,
  line: number,
  board: Board,
  sink: Sink,
  operations: boolean,
): void {
  const problem = scanFen(fen, board, { operations });
  if (problem) sink.bad(line, { ...problem, column: problem.column + offset });
  else sink.row(board, sideOf(fen));
}

/** The format of a text, by its file name or else by its first line. */
export function textFormat(name: string, head: string): TextFormat | undefined {
  const extension = /\.(csv|fen|epd|pgn)(\.gz)?$/i.exec(name)?.[1]?.toLowerCase();
  if (extension) return extension === "epd" ? "fen" : (extension as TextFormat);
  const line =
    head.split(/\r\n|\r|\n/).find((l) => l.trim() !== "" && l[0] !== "#" && l[0] !== "%") ?? "";
  if (/^\[\w+\s+"/.test(line) || /^1\.\s*\S/.test(line)) return "pgn";
  if (/(^|,)\s*"?fen"?\s*(,|$)/i.test(line)) return "csv";
  return /^([^\s/,]+\/){3}/.test(line) ? "fen" : undefined;
}
