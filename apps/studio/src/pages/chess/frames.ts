/**
 * Frames and what is computed from them. A frame is bytes [boards, 64, 13], p = byte/255: the
 * distribution over classes of each square.
 *
 *   argmax     the most probable class of each square
 *   entropy    −Σ p log₂ p of a square, in bits, summed over the unknown squares of a board
 */
import { type Board, CLASSES, EMPTY, isLegal, SQUARES, UNKNOWN } from "diffeo-chess";

export const BYTES: number = SQUARES * CLASSES;

export interface Frame {
  readonly t: number;
  readonly mixture: Uint8Array;
}

/**
 * A frame with the known squares set to certainty: before the end of the run they are noised too.
 * @param known 64 classes of every board, `UNKNOWN` for squares that are not known
 */
export function withKnown({ t, mixture }: Frame, known: Uint8Array): Frame {
  if (t === 0 || known.every((k) => k === UNKNOWN)) return { t, mixture };
  const shown = mixture.slice();
  for (let at = 0; at < shown.length; at += CLASSES) {
    const k = known[(at / CLASSES) % SQUARES];
    if (k !== UNKNOWN) shown.fill(0, at, at + CLASSES)[at + k] = 255;
  }
  return { t, mixture: shown };
}

/** The quantities of the charts over time, as means over the boards. */
export interface Reading {
  readonly t: number;
  readonly pieces: number;
  readonly entropy: number;
  /** The share of boards whose argmax is legal. */
  readonly legal: number;
}

/** The part of a frame that belongs to one board. */
export const mixtureOf = ({ mixture }: Frame, board: number): Uint8Array =>
  mixture.subarray(board * BYTES, (board + 1) * BYTES);

/** The most probable classes. In a tie 'empty' wins, then the first class, as in decoding. */
export function argmax(mixture: Uint8Array): Board {
  const board = new Uint8Array(SQUARES);
  for (let square = 0; square < SQUARES; square++) {
    let best = EMPTY;
    for (let k = 0; k < EMPTY; k++)
      if (mixture[square * CLASSES + k] > mixture[square * CLASSES + best]) best = k;
    board[square] = best;
  }
  return board;
}

/** −p log₂ p of every byte. */
const BITS = Float64Array.from({ length: 256 }, (_, byte) =>
  byte === 0 ? 0 : (-byte / 255) * Math.log2(byte / 255),
);

/** The entropy of the unknown squares. */
function entropyOf(mixture: Uint8Array, known: Uint8Array): number {
  let bits = 0;
  for (let i = 0; i < mixture.length; i++)
    if (known[Math.floor(i / CLASSES)] === UNKNOWN) bits += BITS[mixture[i]];
  return bits;
}

export function readingOf(frame: Frame, known: Uint8Array): Reading {
  const boards = frame.mixture.length / BYTES;
  const sum = { pieces: 0, entropy: 0, legal: 0 };
  for (let i = 0; i < boards; i++) {
    const mixture = mixtureOf(frame, i);
    const board = argmax(mixture);
    sum.pieces += board.filter((k) => k !== EMPTY).length;
    sum.entropy += entropyOf(mixture, known);
    sum.legal += isLegal(board) ? 1 : 0;
  }
  return {
    t: frame.t,
    pieces: sum.pieces / boards,
    entropy: sum.entropy / boards,
    legal: sum.legal / boards,
  };
}
