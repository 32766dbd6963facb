/**
 *   u = (2m + 1)·2⁻⁵³,  m uniform on 0 … 2⁵² − 1          the open unit interval
 *   z = Φ⁻¹(u)                                           the normal
 *
 * With the inverse of Φ, unlike rejection methods, every element needs exactly one number, so
 * element j does not depend on element j − 1. Every engine gives the same numbers: see
 * `graph/normal.ts`.
 */

/**
 * A uniform number from two random words: an odd multiple of 2⁻⁵³, hence exact, never 0 or 1, and
 * symmetric about ½
 * (1 − u is on the grid and exact too).
 */
export const unit = (high: number, low: number): number =>
  ((high >>> 0) * 0x100000 + (low >>> 12) + 0.5) / 0x10000000000000;
