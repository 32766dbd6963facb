/**
 * Boards as SVG: one, or a sheet of several with captions. A board is 64 classes, or a mixture of
 * 64 × 13 probabilities, such as a frame of a diffusion; the opacity of a piece is its probability.
 */

import { fail } from "diffeo/graph";
import { escapeText, FONT, INK } from "diffeo-picture";
import { pieceSvg } from "../board/pieces.ts";
import { CLASSES, EMPTY, isLight, PIECES, SQUARES, UNKNOWN } from "../board/position.ts";

/** A board with its caption. */
export interface Picture {
  /** 64 classes, or 64 × 13 probabilities with 'empty' last. */
  readonly board: ArrayLike<number>;
  /** Text under the board; may have line breaks. */
  readonly caption?: string;
  /** Squares to mark, for example known ones. */
  readonly marked?: Iterable<number>;
}

/** The layout of boards on a sheet. */
export interface SheetOptions {
  /** Boards per row. Default about the number of rows, at most 6. */
  readonly columns?: number;
  /** The side of a board in pixels. Default 240. */
  readonly size?: number;
  readonly title?: string;
  /** Whether to show letters and numbers at the edges. Default false. */
  readonly coordinates?: boolean;
}

const COLOURS = {
  paper: "#ffffff",
  light: "#ebe5d6",
  dark: "#9db1c0",
  unknown: "#c9c2d6",
  marked: "#b5651d",
  ink: INK,
  faint: "#5b6470",
};
/** Pieces of a mixture with a smaller probability are left out. */
const LEAST_OPACITY = 0.02;

/** One board as SVG. */
export const boardSvg = (picture: Picture, options: SheetOptions = {}): string =>
  sheetSvg([picture], { coordinates: true, ...options, columns: 1 });

/** A sheet of boards as SVG, row after row. */
export function sheetSvg(pictures: readonly Picture[], options: SheetOptions = {}): string {
  if (pictures.length === 0) fail("usage", "the sheet has no boards", "give at least one");
  const { size = 240, title, coordinates = false } = options;
  const columns = options.columns ?? Math.min(6, Math.ceil(Math.sqrt(pictures.length)));
  const gap = Math.round(size / 12);
  const edge = coordinates ? Math.round(size / 16) : 0;
  const text = Math.max(9, Math.round(size / 18));
  const lines = Math.max(...pictures.map(({ caption }) => caption?.split("\n").length ?? 0));
  const cell = {
    width: size + edge + gap,
    height: size + edge + Math.round(lines * text * 1.35) + gap,
  };
  const top = gap + (title ? Math.round(2.4 * text) : 0);
  const shown = Math.min(columns, pictures.length);
  const width = gap + shown * cell.width;
  const height = top + Math.ceil(pictures.length / columns) * cell.height;
  const boards = pictures.map((picture, i) => {
    const x = gap + (i % columns) * cell.width + edge;
    const y = top + Math.floor(i / columns) * cell.height;
    return `<g transform="translate(${x} ${y})">${drawBoard(picture, size, edge, text)}</g>`;
  });
  const heading = title
    ? `<text x="${gap}" y="${gap + text}" ${FONT} font-size="${Math.round(1.3 * text)}" ` +
      `font-weight="bold" fill="${COLOURS.ink}">${escapeText(title)}</text>`
    : "";
  const used = new Set(pictures.flatMap(({ board }) => classesIn(board)));
  const pieces = [...used].sort((a, b) => a - b).map((k) => pieceSvg(k, pieceId(k)));
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
    `viewBox="0 0 ${width} ${height}" ` +
    `role="img"><title>${escapeText(title ?? "Chess positions")}</title>` +
    `<defs>${pieces.join("")}</defs>` +
    `<rect width="${width}" height="${height}" fill="${COLOURS.paper}"/>` +
    `${heading}${boards.join("")}</svg>\n`
  );
}

const pieceId = (k: number): string =>
  `diffeo-${k < 6 ? "white" : "black"}-${PIECES[k % 6].toLowerCase()}`;

const isMixture = (board: ArrayLike<number>): boolean => board.length === SQUARES * CLASSES;

/** The pieces that a board shows. */
function classesIn(board: ArrayLike<number>): number[] {
  if (!isMixture(board) && board.length !== SQUARES)
    fail(
      "shape",
      `the board has ${board.length} numbers`,
      "give 64 classes, or 64 × 13 probabilities",
    );
  const classes = Array.from(board);
  if (!isMixture(board)) return classes.filter((k) => k < EMPTY);
  return classes.flatMap((p, i) =>
    i % CLASSES < EMPTY && p >= LEAST_OPACITY ? [i % CLASSES] : [],
  );
}

function drawBoard(
  { board, caption, marked }: Picture,
  size: number,
  edge: number,
  text: number,
): string {
  const parts: string[] = [`<g transform="scale(${size / 800})">`];
  parts.push(`<rect width="800" height="800" fill="${COLOURS.light}"/>`);
  const dark: string[] = [];
  for (let square = 0; square < SQUARES; square++)
    if (!isLight(square)) dark.push(`M${corner(square)}h100v100h-100Z`);
  parts.push(`<path d="${dark.join("")}" fill="${COLOURS.dark}"/>`);
  for (const square of marked ?? [])
    parts.push(
      `<rect x="${100 * (square & 7) + 4}" y="${100 * (square >> 3) + 4}" width="92" ` +
        `height="92" fill="none" stroke="${COLOURS.marked}" stroke-width="7"/>`,
    );
  for (let square = 0; square < SQUARES; square++) parts.push(squareSvg(board, square));
  parts.push(
    `<rect width="800" height="800" fill="none" stroke="${COLOURS.ink}" stroke-width="5"/></g>`,
  );
  if (edge > 0) parts.push(coordinatesSvg(size, edge));
  caption?.split("\n").forEach((line, i) => {
    const y = size + edge + Math.round((1 + 1.35 * i) * text * 1.15);
    parts.push(
      `<text x="${size / 2}" y="${y}" ${FONT} font-size="${text}" text-anchor="middle" ` +
        `fill="${i === 0 ? COLOURS.ink : COLOURS.faint}">${escapeText(line)}</text>`,
    );
  });
  return parts.join("");
}

const corner = (square: number): string => `${100 * (square & 7)} ${100 * (square >> 3)}`;

function squareSvg(board: ArrayLike<number>, square: number): string {
  const use = (k: number, opacity = 1): string =>
    `<use href="#${pieceId(k)}" ` +
    `transform="translate(${corner(square)})"` +
    `${opacity < 1 ? ` opacity="${opacity.toFixed(2)}"` : ""}/>`;
  if (!isMixture(board)) {
    if (board[square] < EMPTY) return use(board[square]);
    if (board[square] !== UNKNOWN) return "";
    const [x, y] = [100 * (square & 7), 100 * (square >> 3)];
    return (
      `<rect x="${x}" y="${y}" width="100" height="100" fill="${COLOURS.unknown}"/><text ` +
      `x="${x + 50}" y="${y + 70}" ${FONT} font-size="56" text-anchor="middle" ` +
      `fill="${COLOURS.faint}">?</text>`
    );
  }
  // The most probable piece is drawn last, on top.
  return Array.from({ length: EMPTY }, (_, k) => ({ k, p: board[square * CLASSES + k] }))
    .filter(({ p }) => p >= LEAST_OPACITY)
    .sort((a, b) => a.p - b.p)
    .map(({ k, p }) => use(k, Math.min(p, 1)))
    .join("");
}

function coordinatesSvg(size: number, edge: number): string {
  const step = size / 8;
  const font =
    `${FONT} font-size="${Math.round(0.66 * edge)}" text-anchor="middle" ` +
    `fill="${COLOURS.faint}"`;
  return Array.from({ length: 8 }, (_, i) => {
    const middle = (i + 0.5) * step;
    const file = `<text x="${middle}" y="${size + 0.85 * edge}" ${font}>${"abcdefgh"[i]}</text>`;
    return `${file}<text x="${-0.55 * edge}" y="${middle + 0.24 * edge}" ${font}>${8 - i}</text>`;
  }).join("");
}
