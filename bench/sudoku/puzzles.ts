/**
 * Puzzles with a unique solution, as lines of 81 characters, a given number for each number of
 * clues:
 *
 *   npx tsx --conditions=diffeo-source bench/sudoku/puzzles.ts 50 > puzzles.txt
 *
 * Puzzles of 23 and more clues are grids of `generate.ts` with clues removed. Random puzzles with
 * fewer clues are rare: those of 17 to 22 are made from the puzzles of 17 clues below, whose
 * solution the search here finds to be unique, and from their neighbours, in which one clue has
 * moved, by adding clues. They are not used in training.
 */
import { fold, key } from "diffeo/random";
import { puzzleOf, randomGrids } from "./generate.ts";
import { BLANK, formatGrid, layoutOf, parseGrid } from "./layout.ts";
import { solutions } from "./solve.ts";

const SEVENTEEN = [
  "000000010400000000020000000000050407008000300001090000300400200050100000000806000",
  "000000010400000000020000000000050604008000300001090000300400200050100000000807000",
  "000000012000035000000600070700000300000400800100000000000120000080000040050000600",
  "000000012003600000000007000410020000000500300700000600280000040000300500000000000",
  "000000012008030000000000040120500000000004700060000000507000300000620000000100000",
  "000000012040050000000009000070600400000100000000000050000087500601000300200000000",
  "000000012050400000000000030700600400001000000000080000920000800000510700000003000",
  "000000012300000060000040000900000500000001070020000000000350400001400800060000000",
  "000000012400090000000000050070200000600000400000108000018000000000030700502000000",
  "000000012500008000000700000600120000700000450000030000030000800000500700020000000",
  "000000012700060000000000050080200000600000400000109000019000000000030800502000000",
];
const layout = layoutOf([3, 3]);
const each = Number(process.argv[2] ?? 50);
const seed = key("puzzles");
const one = (puzzle: Uint8Array): boolean => solutions(layout, puzzle).length === 1;

const seeds = SEVENTEEN.map((line) => parseGrid(layout, line)).filter(one);
process.stderr.write(
  `${seeds.length} of ${SEVENTEEN.length} known puzzles have a unique solution\n`,
);
const few = new Map<string, Uint8Array>(seeds.map((p) => [formatGrid(p), p]));
// Neighbours of neighbours: a clue moves to another site, with the digit of any solution there.
for (const puzzle of few.values()) {
  if (few.size >= each) break;
  for (const [site, k] of puzzle.entries()) {
    if (k === BLANK || few.size >= each) continue;
    const rest = puzzle.slice();
    rest[site] = BLANK;
    const found = solutions(layout, rest, 200);
    for (const to of rest.keys())
      for (const digit of new Set(found.map((grid) => grid[to]))) {
        if (rest[to] !== BLANK || few.size >= each) continue;
        const own = found.filter((grid) => grid[to] === digit);
        if (own.length !== 1) continue;
        const moved = rest.slice();
        moved[to] = digit;
        if (one(moved)) few.set(formatGrid(moved), moved);
      }
  }
}
process.stderr.write(`${few.size} puzzles of 17 clues\n`);
const line = (puzzle: Uint8Array): void => void process.stdout.write(`${formatGrid(puzzle)}\n`);
const seventeen = [...few.values()];
seventeen.forEach(line);
for (const clues of [18, 19, 20, 21, 22])
  for (let i = 0; i < each; i++) {
    const puzzle = seventeen[i % seventeen.length].slice();
    const [grid] = solutions(layout, puzzle, 1);
    const open = [...puzzle.keys()].filter((s) => puzzle[s] === BLANK);
    for (let n = 17; n < clues; n++) {
      const site = open.splice((i * 7919 + n * 104729) % open.length, 1)[0];
      puzzle[site] = grid[site];
    }
    line(puzzle);
  }
for (let clues = 23; clues <= 40; clues++)
  for (let i = 0, made = 0; made < each; i++) {
    const own = fold(fold(seed, clues), i);
    const puzzle = puzzleOf(layout, randomGrids(layout, 1, own), clues, own);
    if (!puzzle) continue;
    line(puzzle);
    made++;
  }
