/**
 * Sudokus of 4×4 by diffusion: every row, column and box has each of four digits once. There are
 * 288. The model is trained on 200 with the groups of sites, the rows, columns and boxes, but
 * without the rule. The same model completes puzzles: clues are inputs of the network, so one
 * evaluation per step is enough, and several completions of a puzzle show that it has several
 * solutions. The first argument is the number of training steps (default 600).
 *
 * The model of 9×9 is trained by bench/sudoku/train.ts.
 */
import { type ClassArray, openGrids, sudokuGroups, trainGrid } from "diffeo/categorical";
import { key, permutation } from "diffeo/random";

const SIDE = 4;
const SITES = SIDE * SIDE;
const BLANK = 255;
const groups = sudokuGroups(2);

/** Whether a digit is allowed at a site of a partly filled grid. */
const fits = (grid: readonly number[], digit: number, site: number): boolean =>
  groups
    .flat()
    .filter((group) => group.includes(site))
    .every((group) => group.every((s) => s === site || grid[s] !== digit));
const complete = (grid: readonly number[]): number[][] =>
  grid.length === SITES
    ? [[...grid]]
    : [0, 1, 2, 3].filter((k) => fits(grid, k, grid.length)).flatMap((k) => complete([...grid, k]));

const all = complete([]);
const order = permutation(key("order"), all.length).data;
const seen = Array.from(order.slice(0, 200), (i) => all[i]);

const model = await trainGrid(Uint8Array.from(seen.flat()), {
  classes: SIDE,
  grid: [SIDE, SIDE],
  groups,
  steps: Number(process.argv[2] ?? 600),
});
const draw = await openGrids(model, { solver: "dpmSolver2MSde" });
const gridsOf = (drawn: ClassArray): number[][] =>
  Array.from({ length: drawn.length / SITES }, (_, i) => [
    ...drawn.subarray(i * SITES, (i + 1) * SITES),
  ]);
const isValid = (grid: readonly number[]): boolean => grid.every((k, site) => fits(grid, k, site));
const show = (grid: readonly number[]): string => grid.map((k) => "1234"[k] ?? ".").join("");

const known = new Set(seen.map(show));
const drawn = gridsOf(await draw({ count: 200, key: key("grids"), steps: 50 }));
const valid = drawn.filter(isValid);
console.log(
  `valid: ${valid.length} of ${drawn.length}, ${valid.filter((grid) => !known.has(show(grid))).length} of them not among the data`,
);

for (const puzzle of ["1..4........2..1", "1...............", "12..34.........."]) {
  const classes = Uint8Array.from(puzzle, (sign) => (sign === "." ? BLANK : Number(sign) - 1));
  const COUNT = 64;
  const completions = gridsOf(
    await draw({
      count: COUNT,
      key: key(puzzle),
      steps: 50,
      known: { classes: Uint8Array.from({ length: COUNT * SITES }, (_, i) => classes[i % SITES]) },
    }),
  ).filter(isValid);
  const solutions = all.filter((grid) =>
    grid.every((k, s) => classes[s] === BLANK || k === classes[s]),
  );
  console.log(
    `${puzzle}: ${completions.length} of ${COUNT} completions are valid, ` +
      `${new Set(completions.map(show)).size} different ones; there are ${solutions.length} solutions`,
  );
}
await draw.dispose();
