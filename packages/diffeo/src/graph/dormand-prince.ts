/**
 * The pair of orders 5 and 4 of Dormand and Prince (1980). The last slope of a step is the first of
 * the next one.
 */

/** Times of the seven slopes, in steps. */
export const nodes: readonly number[] = [0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1];
/** The state of each slope, as weights of the slopes before it; the last row is y₅. */
export const stages: readonly (readonly number[])[] = [
  [],
  [1 / 5],
  [3 / 40, 9 / 40],
  [44 / 45, -56 / 15, 32 / 9],
  [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
  [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
  [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
];
/** Weights of y₅ − ŷ₄. */
export const errors: readonly number[] = [
  71 / 57600,
  0,
  -71 / 16695,
  71 / 1920,
  -17253 / 339200,
  22 / 525,
  -1 / 40,
];
