/**
 * A Sudoku as the page has it: 81 digits 1 to 9 in reading order, 0 where nothing is given, and as
 * text of 81 signs with `.` for a blank. A frame is bytes [grids, 81, 9], p = byte/255.
 */
export const SITES = 81;
export const DIGITS = 9;
const BYTES = SITES * DIGITS;

export type Digits = readonly number[];

/** A grid out of text, if it is one. */
export function parseDigits(text: string): Digits | undefined {
  return /^[1-9.]{81}$/.test(text) ? Array.from(text, (sign) => Number(sign) || 0) : undefined;
}

export const formatDigits = (digits: Digits): string =>
  digits.map((digit) => digit || ".").join("");

/** The row, the column and the box of a site. */
const housesOf = (site: number): readonly number[] => {
  const [row, column] = [Math.floor(site / 9), site % 9];
  return [row, 9 + column, 18 + 3 * Math.floor(row / 3) + Math.floor(column / 3)];
};

/** Sites whose digit stands in one of their houses twice. */
export function conflictsOf(digits: Digits): ReadonlySet<number> {
  const first = new Map<number, number>();
  const found = new Set<number>();
  for (const [site, digit] of digits.entries())
    for (const house of digit ? housesOf(site) : []) {
      const other = first.get(10 * house + digit);
      if (other === undefined) first.set(10 * house + digit, site);
      else found.add(site).add(other);
    }
  return found;
}

export interface Frame {
  readonly t: number;
  readonly mixture: Uint8Array;
}

/** One grid's part of a frame. */
export const mixtureOf = ({ mixture }: Frame, grid: number): Uint8Array =>
  mixture.subarray(grid * BYTES, (grid + 1) * BYTES);

/** The likeliest digit of every site; the clue where there is one. */
export const likeliest = (mixture: Uint8Array, clues: Digits): Digits =>
  clues.map((clue, site) => {
    if (clue) return clue;
    const own = mixture.subarray(site * DIGITS, (site + 1) * DIGITS);
    return own.indexOf(Math.max(...own)) + 1;
  });

/** Σ −p log₂ p over the sites without a clue, in bits. */
export function entropyOf(mixture: Uint8Array, clues: Digits): number {
  let bits = 0;
  for (const [i, byte] of mixture.entries())
    if (byte > 0 && clues[Math.floor(i / DIGITS)] === 0)
      bits -= (byte / 255) * Math.log2(byte / 255);
  return bits;
}
