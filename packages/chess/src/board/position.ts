/**
 * A chess position is 64 squares in FEN's reading order (a8 … h8, a7 … h7, …, a1 … h1), each one of
 * 13 classes:
 *
 *   class   0 1 2 3 4 5   6 7 8 9 10 11   12
 *           P N B R Q K   p n b r q  k    empty
 *
 * 'Empty' is the last class because the simplex of `sec:chess_diffusion` leaves out the last
 * coordinate. Positions are packed at 32 bytes each, four bits per square:
 *
 *   byte i = class(2i) + 16·class(2i + 1)
 *
 * The side to move, castling rights and counters of a FEN are not part of a position.
 */
import { fail } from "diffeo/graph";

/**
 * The letters of the pieces in the order of their classes, as FEN writes them: capitals are white.
 */
export const PIECES = "PNBRQKpnbrqk";
/** Pieces by type and colour; 'empty' is the class after them. */
export const TYPES = 12;
/** The class of an empty square. */
export const EMPTY = 12;
/** Classes of a square: the 12 pieces and empty. */
export const CLASSES = 13;
/** An unknown square, in a position to complete. Not a class of a packed data set. */
export const UNKNOWN = 13;
/** Squares of a board. */
export const SQUARES = 64;
export const POSITION_BYTES = 32;

/** The classes of 64 squares. */
export type Board = Uint8Array;

/** Packed positions, 32 bytes each. */
export interface Positions {
  readonly count: number;
  readonly bytes: Uint8Array;
}

/** Packs boards that are stored one after the other. */
export function pack(classes: ArrayLike<number>): Positions {
  if (classes.length % SQUARES !== 0)
    fail(
      "shape",
      `pack: ${classes.length} squares are not a multiple of 64`,
      "give 64 classes per board",
    );
  const bytes = new Uint8Array(classes.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = classes[2 * i] | (classes[2 * i + 1] << 4);
  return { count: classes.length / SQUARES, bytes };
}

/** The classes of all squares, 64 per position. */
export function unpack({ bytes }: Positions): Uint8Array {
  const classes = new Uint8Array(2 * bytes.length);
  for (let i = 0; i < bytes.length; i++) {
    classes[2 * i] = bytes[i] & 15;
    classes[2 * i + 1] = bytes[i] >>> 4;
  }
  return classes;
}

/** One position's board. */
export const boardAt = (positions: Positions, index: number): Board =>
  unpack(range(positions, index, index + 1));

/** Positions `from` up to, not including, `to`; a view, not a copy. */
export function range({ count, bytes }: Positions, from: number, to: number): Positions {
  if (!(from >= 0 && from <= to && to <= count))
    fail("usage", `positions ${from} to ${to} of ${count} do not exist`, `use 0 to ${count}`);
  return { count: to - from, bytes: bytes.subarray(from * POSITION_BYTES, to * POSITION_BYTES) };
}

/** The positions of the given indices, in that order. */
export function select({ count, bytes }: Positions, indices: ArrayLike<number>): Positions {
  const out = new Uint8Array(indices.length * POSITION_BYTES);
  for (let i = 0; i < indices.length; i++) {
    const from = indices[i] * POSITION_BYTES;
    if (!(indices[i] >= 0 && indices[i] < count))
      fail("usage", `position ${indices[i]} of ${count} does not exist`, `use 0 to ${count - 1}`);
    for (let j = 0; j < POSITION_BYTES; j++) out[i * POSITION_BYTES + j] = bytes[from + j];
  }
  return { count: indices.length, bytes: out };
}

/** The packed bytes as eight 32-bit words per position, one per rank. */
export function wordsOf({ bytes }: Positions): Uint32Array {
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes);
  return new Uint32Array(aligned.buffer, aligned.byteOffset, aligned.length / 4);
}

/** The name of a square from its index: 0 is a8, 63 is h1. */
export const squareName = (square: number): string =>
  `${"abcdefgh"[square & 7]}${8 - (square >> 3)}`;

/** Whether a square is light: a8 is. */
export const isLight = (square: number): boolean => (((square >> 3) + square) & 1) === 0;
