/** Grids of the Sudoku page. */
import { expect, it } from "vitest";
import {
  conflictsOf,
  entropyOf,
  formatDigits,
  likeliest,
  parseDigits,
} from "../../src/pages/sudoku/grid.ts";
import { puzzles } from "../../src/pages/sudoku/puzzles.ts";

const empty = new Array<number>(81).fill(0);

it("parses and formats grids, and rejects other text", () => {
  for (const { text } of puzzles) {
    const digits = parseDigits(text);
    expect(digits && formatDigits(digits)).toBe(text);
    expect(digits && conflictsOf(digits).size).toBe(0);
  }
  expect(parseDigits("1".repeat(80))).toBeUndefined();
  expect(parseDigits(`0${".".repeat(80)}`)).toBeUndefined();
});

it("finds a digit that occurs twice in a row, a column or a box", () => {
  const with2 = (a: number, b: number): number[] =>
    [...conflictsOf(empty.with(a, 5).with(b, 5))].sort((x, y) => x - y);
  expect(with2(0, 8)).toEqual([0, 8]);
  expect(with2(0, 72)).toEqual([0, 72]);
  expect(with2(60, 80)).toEqual([60, 80]);
  expect(with2(0, 30)).toEqual([]);
  expect(conflictsOf(empty.with(0, 5).with(8, 6)).size).toBe(0);
});

it("takes clues, and the most probable digit elsewhere", () => {
  const mixture = new Uint8Array(729).fill(28);
  mixture[9 + 6] = 100;
  const clues = empty.with(0, 3);
  const [first, second, third] = likeliest(mixture, clues);
  expect([first, second, third]).toEqual([3, 7, 1]);
  // Nine times 28/255 is about a ninth each: log₂ 9 bits per cell.
  expect(entropyOf(new Uint8Array(729).fill(28), clues) / 80).toBeCloseTo(Math.log2(9), 1);
  const sure = new Uint8Array(729);
  for (let site = 0; site < 81; site++) sure[9 * site] = 255;
  expect(entropyOf(sure, empty)).toBeCloseTo(0, 12);
});
