/**
 * Covariance across squares: Σ_{sk,rl} = P(k on s, l on r) − P(k on s)·P(l on r) for different
 * squares s, r and the 12 pieces k, l. These are 768 × 768 numbers, without those of a square with
 * itself. Two sets of positions are compared by
 *
 *   cosine = ⟨Σ, Σ′⟩ / (‖Σ‖ ‖Σ′‖)        error = ‖Σ − Σ′‖ / ‖Σ′‖
 *
 * The cosine of two samples of one distribution grows with their size; that of independent squares
 * is 0 up to noise.
 */
import { EMPTY, type Positions, SQUARES, TYPES, unpack } from "../board/position.ts";

const N = SQUARES * TYPES;

/**
 * The entries with s before r, as a 768 × 768 array of which only those are set; the rest follows
 * by symmetry.
 */
export function crossCovariance(positions: Positions): Float64Array {
  const { count } = positions;
  const boards = unpack(positions);
  const pairs = new Uint32Array(N * N);
  const singles = new Uint32Array(N);
  const here = new Int32Array(SQUARES);
  for (let at = 0; at < boards.length; ) {
    let pieces = 0;
    for (let first = 0; first < N; first += TYPES) {
      const k = boards[at++];
      if (k < EMPTY) here[pieces++] = first + k;
    }
    // A board has one class per square, so each of its P²/2 pairs of pieces is one entry, and no
    // square is paired with itself.
    for (let a = 0; a < pieces; a++) {
      singles[here[a]]++;
      const row = N * here[a];
      for (let b = a + 1; b < pieces; b++) pairs[row + here[b]]++;
    }
  }
  const covariance = new Float64Array(N * N);
  for (let a = 0; a < N; a++)
    for (let b = TYPES * (Math.floor(a / TYPES) + 1); b < N; b++)
      covariance[N * a + b] =
        pairs[N * a + b] / count - (singles[a] / count) * (singles[b] / count);
  return covariance;
}

/** The cosine of the angle between two cross-covariances, 1 where they are proportional. */
export function covarianceCosine(a: Float64Array, b: Float64Array): number {
  return inner(a, b) / Math.sqrt(inner(a, a) * inner(b, b));
}

/**
 * ‖a − b‖² = ‖a‖² − 2⟨a, b⟩ + ‖b‖², whose cancellation at equality is about 1e−8 of ‖b‖: below any
 * sampling error.
 */
export function covarianceError(a: Float64Array, b: Float64Array): number {
  const square = inner(a, a) - 2 * inner(a, b) + inner(b, b);
  return Math.sqrt(Math.max(square, 0) / inner(b, b));
}

function inner(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}
