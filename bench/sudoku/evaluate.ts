/**
 * Evaluates a model of Sudokus: the share of unconditional samples that are valid, by solver and
 * evaluations, and the share of puzzles that one sample solves, by clues.
 *
 *   npx tsx --conditions=diffeo-source bench/sudoku/evaluate.ts MODEL --count 1000 --evaluations
 *   50,100
 *
 * Samples are used without search or repair. `--tries n` also counts the puzzles that at least one
 * of n samples solves.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { type ClassArray, fittedTimes, openGrids } from "diffeo/categorical";
import { loadModel } from "diffeo/node";
import { fold, key } from "diffeo/random";
import type { GridName, SolverName } from "diffeo/sampler";
import { textOptions } from "../text-options.ts";
import { BLANK, formatGrid, isSolved, layoutOf, parseGrid } from "./layout.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    ...textOptions({
      count: "256",
      evaluations: "50,100",
      solvers: "dpmSolver2MSde,ancestral",
      w: "1",
      "puzzle-w": "1",
      "puzzle-grid": "uniform",
      "puzzle-evaluations": "50",
      tries: "4",
      batch: "64",
      device: "cpu",
      seed: "5",
    }),
    puzzles: { type: "string" },
    threads: { type: "string" },
  },
});
const layout = layoutOf([3, 3]);
const { sites } = layout;
const model = await loadModel(positionals[0]);
const seed = key(Number(values.seed));
const batch = Number(values.batch);
const engine = {
  device: values.device,
  ...(values.threads && { threads: Number(values.threads) }),
};
const at = (grids: ClassArray, i: number): ClassArray => grids.subarray(i * sites, (i + 1) * sites);
/** A share with one standard error. */
const share = (hits: number, of: number): string => {
  const p = hits / of;
  return `${p.toFixed(4)} ± ${Math.sqrt(Math.max(p * (1 - p), 0) / of).toFixed(4)} (${hits} of ${of})`;
};
const numbers = (text: string): number[] => text.split(",").map(Number);

async function timed<T>(work: () => Promise<T>): Promise<[T, wall: number, processor: number]> {
  const [wall, processor] = [performance.now(), process.cpuUsage()];
  const result = await work();
  const { user, system } = process.cpuUsage(processor);
  return [result, (performance.now() - wall) / 1000, (user + system) / 1e6];
}

const count = Number(values.count);
if (count > 0)
  for (const solver of values.solvers.split(",") as SolverName[]) {
    const draw = await openGrids(model, { solver, ...engine });
    await draw({ count: Math.min(batch, count), key: seed, steps: 2, batch });
    const runs = numbers(values.w).flatMap((w) =>
      numbers(values.evaluations).map((evaluations) => [w, evaluations]),
    );
    for (const [w, evaluations] of runs) {
      // A drift scale changes the process; the times are still those of the model.
      const [steps, grid] = [evaluations - 1, fittedTimes(model, evaluations - 1)];
      const [drawn, wall, processor] = await timed(() =>
        draw({ count, key: seed, steps, grid, batch, driftScale: w }),
      );
      const valid = Array.from({ length: count }, (_, i) => at(drawn, i)).filter((grid) =>
        isSolved(layout, grid),
      );
      const distinct = new Set(valid.map(formatGrid)).size;
      console.log(
        `${solver} ${evaluations} evaluations, w = ${w}: valid ${share(valid.length, count)}, ${distinct} distinct; ` +
          `${(wall / count).toFixed(4)} s per grid, ${(processor / count).toFixed(4)} s of processors`,
      );
    }
    await draw.dispose();
  }

/** Puzzles that samples solve, by clues. */
async function solve(puzzles: readonly Uint8Array[], w: number): Promise<void> {
  const gridName = values["puzzle-grid"];
  const tries = Number(values.tries);
  const steps = Number(values["puzzle-evaluations"]) - 1;
  const draw = await openGrids(model, { solver: "dpmSolver2MSde", ...engine });
  const solved = puzzles.map(() => [] as boolean[]);
  let [wall, processor] = [0, 0];
  for (let attempt = 0; attempt < tries; attempt++) {
    const classes = Uint8Array.from(puzzles.flatMap((puzzle) => [...puzzle]));
    const [drawn, seconds, processors] = await timed(() =>
      draw({
        ...{ count: puzzles.length, key: fold(seed, attempt), steps, batch, driftScale: w },
        grid: gridName === "fitted" ? fittedTimes(model, steps) : (gridName as GridName),
        known: { classes },
      }),
    );
    wall += seconds;
    processor += processors;
    puzzles.forEach((puzzle, i) => {
      const grid = at(drawn, i);
      if (puzzle.some((k, s) => k !== BLANK && k !== grid[s]))
        throw new Error(`internal: a clue of puzzle ${i} has changed`);
      solved[i].push(isSolved(layout, grid));
    });
  }
  await draw.dispose();
  const clues = puzzles.map((puzzle) => puzzle.filter((k) => k !== BLANK).length);
  console.log(`puzzles, ${steps + 1} evaluations per sample, w = ${w}:`);
  const report = (name: string, own: readonly boolean[][]): void =>
    console.log(
      `  ${name}: one sample ${share(own.flat().filter(Boolean).length, own.length * tries)}; ` +
        `one of ${tries} ${share(own.filter((all) => all.includes(true)).length, own.length)}`,
    );
  for (const n of [...new Set(clues)].sort((a, b) => a - b))
    report(
      `${n} clues`,
      solved.filter((_, i) => clues[i] === n),
    );
  report("all", solved);
  const all = puzzles.length * tries;
  console.log(
    `  ${(wall / all).toFixed(4)} s per sample, ${(processor / all).toFixed(4)} s of processors`,
  );
}

if (values.puzzles) {
  const puzzles = readFileSync(values.puzzles, "utf8")
    .split("\n")
    .filter((line) => /^[1-9.]{81}$/.test(line))
    .map((line) => parseGrid(layout, line));
  for (const w of numbers(values["puzzle-w"])) await solve(puzzles, w);
}
