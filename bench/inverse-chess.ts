/**
 * npm run bench -- inverse-chess FILE [boards] [particles] [steps]: real positions with half of their squares hidden, completed by guidance and by
 * particles of the shipped model. Each board is completed as often by either; shares are of all completions.
 */
import { loadModel } from "diffeo/node";
import { fold, key, permutation } from "diffeo/random";
import {
  completeBoards,
  completeByParticles,
  completionMeasures,
  hideSquares,
  openBoards,
  SQUARES,
  select,
} from "diffeo-chess";
import { readPositions, shippedModel } from "diffeo-chess/node";

const out = (cells: readonly string[]): void => void process.stdout.write(`| ${cells.join(" | ")} |\n`);

export async function run(): Promise<void> {
  const [file = "", ...numbers] = process.argv.slice(3);
  const [boards = 4, particles = 8, steps = 60] = numbers.map(Number);
  const { positions } = await readPositions(file, {});
  const order = permutation(fold(key(7), "boards"), positions.count).data;
  const model = await loadModel(shippedModel);
  const draw = await openBoards(model, { threads: 1 });
  out([
    "board",
    "by",
    "legal",
    "one king each",
    "squares recovered",
    "pieces recovered",
    "known held",
    "ESS",
    "seconds",
  ]);
  out(["---", "---", ...new Array(7).fill("---:")]);
  for (let b = 0; b < boards; b++) {
    const one = select(positions, order.slice(b, b + 1));
    const partial = hideSquares(one, 0.5, fold(fold(key(7), "hidden"), b));
    const truth = select(positions, new Array(particles).fill(order[b]));
    const all = new Uint8Array(particles * SQUARES);
    for (let i = 0; i < particles; i++) all.set(partial, i * SQUARES);
    const row = (by: string, made: Parameters<typeof completionMeasures>[0], rest: readonly string[]): void => {
      const m = completionMeasures(made, all, truth);
      out([
        String(b + 1),
        by,
        ...[m.legal, m.oneKingEach, m.squaresRecovered, m.piecesRecovered].map((v) => v.toFixed(2)),
        ...rest,
      ]);
    };
    let began = performance.now();
    const took = (): string => ((performance.now() - began) / 1000).toFixed(0);
    const options = { key: fold(key(7), b), steps, grid: "quadratic" } as const;
    const guided = await completeBoards(draw, all, { ...options, completion: "guided", batch: particles });
    row("guidance", guided.positions, ["set", "", took()]);
    began = performance.now();
    const found = await completeByParticles(model, partial, { ...options, particles, guidance: 3, threads: 1 });
    row("particles", found.positions, [found.kept.toFixed(3), found.ess.toFixed(1), took()]);
  }
  await draw.dispose();
}
