/**
 * Boards in a terminal, two columns per square: glyphs on coloured squares, or letters and dots
 * without colours. A mixture shows the most probable piece of each square, paler if less probable.
 */
import { CLASSES, EMPTY, isLight, PIECES, SQUARES, UNKNOWN } from "../board/position.ts";
import type { Picture } from "./svg.ts";

/** Options for printing boards on a terminal. */
export interface AnsiOptions {
  /** Colours and chess glyphs; otherwise plain letters. Default true. */
  readonly colour?: boolean;
  /** The terminal's width in columns; as many boards as fit are side by side. Default 80. */
  readonly width?: number;
}

type Rgb = readonly [number, number, number];
const LIGHT: Rgb = [188, 178, 158];
const DARK: Rgb = [104, 129, 149];
const WHITE: Rgb = [255, 255, 255];
const BLACK: Rgb = [20, 22, 26];
/** The filled shapes serve both colours; the ink distinguishes them. */
const GLYPHS = ["♟", "♞", "♝", "♜", "♛", "♚"];
const GAP = 3;

/** The content of a square: a class (or `EMPTY`, `UNKNOWN`) and its probability. */
function shown(
  board: ArrayLike<number>,
  square: number,
): { readonly k: number; readonly p: number } {
  if (board.length === SQUARES) return { k: board[square], p: 1 };
  let k = 0;
  for (let j = 1; j < EMPTY; j++)
    if (board[square * CLASSES + j] > board[square * CLASSES + k]) k = j;
  return { k, p: Math.min(1, Math.max(0, board[square * CLASSES + k])) };
}

const fade = (ink: Rgb, ground: Rgb, p: number): Rgb =>
  [0, 1, 2].map((i) => Math.round(ground[i] + p * (ink[i] - ground[i]))) as unknown as Rgb;
const paint = (ink: Rgb, ground: Rgb, text: string): string =>
  `\u001b[38;2;${ink.join(";")};48;2;${ground.join(";")}m${text}`;

function rankOf(board: ArrayLike<number>, rank: number, colour: boolean): string {
  let text = "";
  for (let square = 8 * rank; square < 8 * rank + 8; square++) {
    const { k, p } = shown(board, square);
    if (!colour) {
      const letter = k === UNKNOWN ? "?" : k === EMPTY || p < 0.5 ? "." : PIECES[k];
      text += `${letter} `;
      continue;
    }
    const ground = isLight(square) ? LIGHT : DARK;
    if (k === EMPTY) text += paint(ground, ground, "  ");
    else if (k === UNKNOWN) text += paint(BLACK, ground, "? ");
    else text += paint(fade(k < 6 ? WHITE : BLACK, ground, p), ground, `${GLYPHS[k % 6]} `);
  }
  return colour ? `${text}\u001b[0m` : text;
}

/** A line as lines no longer than `width`, broken between words. */
function wrapped(text: string, width: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines[lines.length - 1];
    if (last === "") lines[lines.length - 1] = word;
    else if (last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** The text of boards with captions, ready to print. */
export function ansiBoards(
  pictures: readonly Picture[],
  { colour = true, width = 80 }: AnsiOptions = {},
): string {
  const cell = 16;
  const columns = Math.max(1, Math.floor((width + GAP) / (cell + GAP)));
  const rows: string[] = [];
  for (let at = 0; at < pictures.length; at += columns) {
    const row = pictures.slice(at, at + columns);
    for (let rank = 0; rank < 8; rank++)
      rows.push(row.map(({ board }) => rankOf(board, rank, colour)).join(" ".repeat(GAP)));
    const captions = row.map(
      ({ caption }) => caption?.split("\n").flatMap((text) => wrapped(text, cell)) ?? [],
    );
    for (let line = 0; line < Math.max(...captions.map((c) => c.length)); line++)
      rows.push(
        captions
          .map((c) => (c[line] ?? "").padEnd(cell))
          .join(" ".repeat(GAP))
          .trimEnd(),
      );
    rows.push("");
  }
  return rows.join("\n");
}
