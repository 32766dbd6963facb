/**
 * Frames of a reverse diffusion: the mixture of the 13 classes of each square, from noise to a
 * board, as bytes, p = byte/255. The file is JSON:
 *
 *   { "format": "diffeo-trace-1", "classes": "PNBRQKpnbrqk.", "grid": [8, 8], "boards": 16,
 *     "times": [0.96, …, 0], "frames": ["base64 of boards × 64 × 13 bytes", …], "fen": ["…", …] }
 *
 * Squares are in FEN's reading order, '.' is empty. The last frame is the board itself, at time 0:
 * the most probable class of a square is the one in `fen`. The largest byte of a square is always
 * that of its most probable class.
 */
import { fail, type NdArray } from "diffeo/graph";
import { concatArrays } from "diffeo/host";
import type { Progress } from "diffeo/sampler";
import { formatFen } from "../board/fen.ts";
import { boardAt, CLASSES, PIECES, type Positions, SQUARES } from "../board/position.ts";

/** Frames of a reverse diffusion: the mixture of classes of each square at some times. */
export interface BoardTrace {
  /** The time of each frame, falling to 0. */
  readonly times: readonly number[];
  /** Bytes [boards, 64, 13] per frame. */
  readonly frames: readonly Uint8Array[];
}

const FORMAT = "diffeo-trace-1";
const BYTES = SQUARES * CLASSES;

/**
 * Probabilities, 13 per square, as bytes. Ties for the largest go to 'empty', then to the first
 * class, as in decoding.
 */
export function quantise(mixture: Float32Array): Uint8Array {
  const bytes = Uint8Array.from(mixture, (p) => Math.round(255 * Math.min(1, Math.max(0, p))));
  for (let at = 0; at < bytes.length; at += CLASSES) {
    let best = at + CLASSES - 1;
    let most = 0;
    for (let i = at; i < at + CLASSES; i++) {
      if (mixture[i] > mixture[best]) best = i;
      most = Math.max(most, bytes[i]);
    }
    // Rounding must not make another class equal to the largest. If two were equal, each would be
    // at most one half, so there is room to adjust.
    const rivals = bytes.subarray(at, at + CLASSES).filter((byte) => byte === most).length;
    if (rivals > 1) bytes[best] = most + 1;
  }
  return bytes;
}

/**
 * Collects frames of a run of `steps` steps on `boards` boards, numbered from `first`.
 */
export function traceRecorder(
  frames: number,
  steps: number,
  boards: number,
  first: number,
  mixture: (points: Float32Array) => Float32Array,
): {
  readonly take: (progress: Progress) => Promise<void>;
  readonly end: (samples: NdArray) => BoardTrace;
} {
  if (!(Number.isInteger(frames) && frames >= 2))
    fail(
      "usage",
      `a trace has at least 2 frames, not ${frames}`,
      "use 2 or more: the first step and the board",
    );
  // All frames but the last are spaced evenly between the first step and the last, with at most one
  // per step.
  const stepOf = (frame: number): number =>
    Math.round(1 + (frame * (steps - 1)) / Math.max(1, frames - 2));
  const wanted = [...new Set(Array.from({ length: frames - 1 }, (_, frame) => stepOf(frame)))];
  const kept = wanted.map(() => new Uint8Array(boards * BYTES));
  const times: number[] = [];
  return {
    take: async (progress) => {
      const frame = wanted.indexOf(progress.step);
      if (frame < 0) return;
      const { data } = await progress.points();
      kept[frame].set(quantise(mixture(data as Float32Array)), (progress.first - first) * BYTES);
      times[frame] = progress.t;
    },
    end: ({ data }) => ({
      times: [...times, 0],
      frames: [...kept, quantise(mixture(data as Float32Array))],
    }),
  };
}

/** The trace of some of the boards. */
export const selectTrace = (
  { times, frames }: BoardTrace,
  boards: readonly number[],
): BoardTrace => ({
  times,
  frames: frames.map((frame) => {
    const out = new Uint8Array(boards.length * BYTES);
    boards.forEach((board, i) => {
      out.set(frame.subarray(board * BYTES, (board + 1) * BYTES), i * BYTES);
    });
    return out;
  }),
});

/** The traces of boards that follow each other, made with the same steps. */
export const joinTraces = (traces: readonly BoardTrace[]): BoardTrace => ({
  times: traces[0].times,
  frames: traces[0].frames.map((_, f) =>
    concatArrays(
      (length) => new Uint8Array(length),
      traces.map(({ frames }) => frames[f]),
    ),
  ),
});

/** The file of a trace. */
export function serializeTrace({ times, frames }: BoardTrace, positions: Positions): string {
  const fen = Array.from({ length: positions.count }, (_, i) => formatFen(boardAt(positions, i)));
  return `${JSON.stringify({
    format: FORMAT,
    classes: `${PIECES}.`,
    grid: [8, 8],
    boards: positions.count,
    times,
    frames: frames.map(base64),
    fen,
  })}\n`;
}

function base64(bytes: Uint8Array): string {
  let text = "";
  // In pieces, because the number of arguments of a call is limited.
  for (let at = 0; at < bytes.length; at += 8192)
    text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text);
}
