/**
 * npm run bench -- few-steps [boards] [evaluations]: the shipped chess model with few evaluations of its network. Share of boards that are
 * strictly legal, by method, time grid and evaluations; every run starts from the same noise. The last evaluation of each is
 * that of the final denoising.
 */
import { loadModel } from "diffeo/node";
import { key } from "diffeo/random";
import { type GridName, type MethodName, samplers } from "diffeo/sampler";
import { legalityShares, materialOf, meanAndSd, openBoards } from "diffeo-chess";
import { shippedModel } from "diffeo-chess/node";

const METHODS: readonly MethodName[] = ["exponential", "exponentialSde", "heun", "domainPreserving"];
const GRIDS: readonly GridName[] = ["logSnr", "quadratic", "uniform"];

const print = (cells: readonly string[]): void =>
  void process.stdout.write(`${cells.map((cell, i) => (i < 2 ? cell.padEnd(18) : cell.padStart(10))).join("")}\n`);

export async function run(): Promise<void> {
  const count = Number(process.argv[3] ?? 200);
  const budgets = process.argv[4] === undefined ? [15, 25, 50] : [Number(process.argv[4])];
  const model = await loadModel(shippedModel);
  print(["method", "grid", "network", "steps", "legal", "one king", "pieces", "seconds"]);
  const open = await Promise.all(METHODS.map((method) => openBoards(model, { method })));
  for (const evaluations of budgets)
    for (const grid of GRIDS)
      for (const [i, method] of METHODS.entries()) {
        const steps = Math.floor((evaluations - 1) / samplers[method]().evaluations);
        const began = performance.now();
        const { positions, scoreEvaluations } = await open[i]({ count, key: key(7), steps, grid });
        const { legal, oneKingEach } = legalityShares(positions);
        const { mean } = meanAndSd(materialOf(positions).pieces);
        const seconds = (performance.now() - began) / 1000;
        const shown = [legal.toFixed(3), oneKingEach.toFixed(3), mean.toFixed(1), seconds.toFixed(0)];
        print([method, grid, String(scoreEvaluations), String(steps), ...shown]);
      }
  for (const draw of open) await draw.dispose();
}
