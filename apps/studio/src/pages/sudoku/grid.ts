/**
 * Sudoku grids: 81 digits in reading order, 0 for a blank, or 81 characters with `.` for a blank. A
 * frame is bytes [grids, 81, 9], p = byte/255.
 */
export const SITES = 81;
export const DIGITS = 9;
const BYTES = SITES * DIGITS;

export type Digits = readonly number[];

/** Parses a grid; undefined if the text is not one. */
export function parseDigits(text: string): Digits | undefined {
  return /^[1-9.]{81}$/.test(text) ? Array.from(text, (sign) => Number(sign) || 0) : undefined;
}

export const formatDigits = (digits: Digits): string =>
  digits.map((digit) => digit || ".").join("");

/** The row, the column and the box of a cell, as numbers from 0 to 26. */
const unitsOf = (site: number): readonly number[] => {
  const [row, column] = [Math.floor(site / 9), site % 9];
  return [row, 9 + column, 18 + 3 * Math.floor(row / 3) + Math.floor(column / 3)];
};

/** Cells whose digit occurs twice in their row, column or box. */
export function conflictsOf(digits: Digits): ReadonlySet<number> {
  const first = new Map<number, number>();
  const found = new Set<number>();
  for (const [site, digit] of digits.entries())
    for (const unit of digit ? unitsOf(site) : []) {
      const other = first.get(10 * unit + digit);
      if (other === undefined) first.set(10 * unit + digit, site);
      else found.add(site).add(other);
    }
  return found;
}

export interface Frame {
  readonly t: number;
  readonly mixture: Uint8Array;
}

/** The part of a frame that belongs to one grid. */
export const mixtureOf = ({ mixture }: Frame, grid: number): Uint8Array =>
  mixture.subarray(grid * BYTES, (grid + 1) * BYTES);

/** The most probable digit of each cell, or its clue. */
export const likeliest = (mixture: Uint8Array, clues: Digits): Digits =>
  clues.map((clue, site) => {
    if (clue) return clue;
    const own = mixture.subarray(site * DIGITS, (site + 1) * DIGITS);
    return own.indexOf(Math.max(...own)) + 1;
  });

/** Σ −p log₂ p over the cells without a clue, in bits. */
export function entropyOf(mixture: Uint8Array, clues: Digits): number {
  let bits = 0;
  for (const [i, byte] of mixture.entries())
    if (byte > 0 && clues[Math.floor(i / DIGITS)] === 0)
      bits -= (byte / 255) * Math.log2(byte / 255);
  return bits;
}
