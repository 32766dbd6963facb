/**
 * Solutions of a puzzle by search: the site with the fewest digits left is tried first. It makes
 * puzzles and checks answers; the model does not call it.
 */
import { BLANK, type Layout } from "./layout.ts";

const bits = (mask: number): number => {
  let count = 0;
  for (let rest = mask; rest !== 0; rest &= rest - 1) count++;
  return count;
};

/** The groups of each site, and the digits of each group as bits. */
function groupsOf({ rows, columns, boxes, sites }: Layout) {
  const groups = [...rows, ...columns, ...boxes];
  const own = Array.from({ length: sites }, () => [] as number[]);
  for (const [g, group] of groups.entries()) for (const s of group) own[s].push(g);
  return { count: groups.length, own };
}

/**
 * Up to `most` solutions of a puzzle, none if its clues contradict each other.
 *
 * @param order The order in which the digits of a site are tried; default ascending
 */
export function solutions(
  layout: Layout,
  puzzle: ArrayLike<number>,
  most = 2,
  order: (digits: number[]) => number[] = (digits) => digits,
): Uint8Array[] {
  const { sites, size } = layout;
  const { count, own } = groupsOf(layout);
  const full = 2 ** size - 1;
  const used = new Int32Array(count);
  const grid = Uint8Array.from({ length: sites }, (_, s) => puzzle[s]);
  const open: number[] = [];
  const put = (site: number, bit: number): void => {
    for (const g of own[site]) used[g] ^= bit;
  };
  const left = (site: number): number => {
    let taken = 0;
    for (const g of own[site]) taken |= used[g];
    return full & ~taken;
  };
  for (let s = 0; s < sites; s++) {
    if (grid[s] === BLANK) {
      open.push(s);
      continue;
    }
    const bit = 1 << grid[s];
    if ((left(s) & bit) === 0) return [];
    put(s, bit);
  }
  const found: Uint8Array[] = [];
  const search = (depth: number): void => {
    if (depth === open.length) {
      found.push(grid.slice());
      return;
    }
    let [best, fewest, mask] = [-1, size + 1, 0];
    for (let i = depth; i < open.length; i++) {
      const free = left(open[i]);
      const n = bits(free);
      if (n < fewest) [best, fewest, mask] = [i, n, free];
      if (n <= 1) break;
    }
    if (fewest === 0) return;
    [open[depth], open[best]] = [open[best], open[depth]];
    const site = open[depth];
    const digits: number[] = [];
    for (let k = 0; k < size; k++) if (mask & (1 << k)) digits.push(k);
    for (const k of order(digits)) {
      grid[site] = k;
      put(site, 1 << k);
      search(depth + 1);
      put(site, 1 << k);
      if (found.length >= most) break;
    }
    [open[depth], open[best]] = [open[best], open[depth]];
  };
  search(0);
  return found;
}
