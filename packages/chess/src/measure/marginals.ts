/**
 * The marginal distribution of each square, p_s(k), the share of class k on square s, and the
 * trivial model that samples every square independently from it. That model passes every test of
 * single squares, so measures are compared with it.
 */
import { type Key, uniform } from "diffeo/random";
import { CLASSES, POSITION_BYTES, type Positions, pack, SQUARES } from "../board/position.ts";
import { totalVariation } from "./histogram.ts";

/** 64 × 13 shares. Bytes, of two squares each, are counted first and separated at the end. */
export function squareMarginals({ count, bytes }: Positions): Float64Array {
  const pairs = new Uint32Array(POSITION_BYTES * 256);
  for (let i = 0, row = 0; i < bytes.length; i++) {
    pairs[row + bytes[i]]++;
    row = (row + 256) % pairs.length;
  }
  const shares = new Float64Array(SQUARES * CLASSES);
  pairs.forEach((n, i) => {
    const [byte, first] = [i % 256, 2 * Math.floor(i / 256) * CLASSES];
    if (n === 0) return;
    shares[first + (byte & 15)] += n;
    shares[first + CLASSES + (byte >>> 4)] += n;
  });
  return shares.map((n) => n / count);
}

/** Mean over squares of the total variation between two sets of marginals. */
export function marginalDistance(p: Float64Array, q: Float64Array): number {
  let sum = 0;
  for (let at = 0; at < p.length; at += CLASSES)
    sum += totalVariation(p.subarray(at, at + CLASSES), q.subarray(at, at + CLASSES));
  return sum / SQUARES;
}

/** Positions whose squares are sampled independently, each from its own marginal. */
export function independentSquares(marginals: Float64Array, count: number, key: Key): Positions {
  const draws = uniform(key, [count, SQUARES], { dtype: "float64" }).data;
  const boards = new Uint8Array(count * SQUARES);
  for (let i = 0; i < boards.length; i++) {
    const at = (i % SQUARES) * CLASSES;
    let k = 0;
    for (let sum = marginals[at]; k < CLASSES - 1 && draws[i] >= sum; sum += marginals[at + ++k]);
    boards[i] = k;
  }
  return pack(boards);
}
