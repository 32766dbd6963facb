/**
 * npm run bench -- inverse-chess --reference FILE: real positions with half of their squares
 * hidden, completed by guidance and by particles on the same time grid. Both complete each board
 * equally often. Shares are of all completions, with one standard error over boards.
 *
 *   --boards 40 --particles 8 --steps 24 --guidance 3 --model FILE --device cpu
 */
import { parseArgs } from "node:util";
import { loadModel } from "diffeo/node";
import { fold, key, permutation } from "diffeo/random";
import {
  type CompletionMeasures,
  completeBoards,
  completionMeasures,
  hideSquares,
  openBoards,
  openParticleBoards,
  type Positions,
  range,
  SQUARES,
  select,
} from "diffeo-chess";
import { readPositions, shippedModel } from "diffeo-chess/node";

const out = (cells: readonly string[]): void =>
  void process.stdout.write(`| ${cells.join(" | ")} |\n`);

const SHOWN = ["legal", "oneKingEach", "squaresRecovered", "piecesRecovered"] as const;

/** The mean over boards of a measure of their completions, and its standard error. */
function summed(of: readonly CompletionMeasures[]): string[] {
  return SHOWN.map((name) => {
    const values = of.map((m) => m[name]);
    const mean = values.reduce((a, b) => a + b, 0) / values.length;
    const spread = values.reduce((a, v) => a + (v - mean) ** 2, 0) / Math.max(1, values.length - 1);
    return `${mean.toFixed(3)} ± ${Math.sqrt(spread / values.length).toFixed(3)}`;
  });
}

export async function run(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      reference: { type: "string" },
      boards: { type: "string", default: "40" },
      particles: { type: "string", default: "8" },
      steps: { type: "string", default: "24" },
      guidance: { type: "string", default: "3" },
      model: { type: "string", default: shippedModel },
      device: { type: "string", default: "cpu" },
    },
  });
  const [boards, particles, steps, guidance] = [
    values.boards,
    values.particles,
    values.steps,
    values.guidance,
  ].map(Number);
  const { positions } = await readPositions(values.reference ?? "", {});
  const order = permutation(fold(key(7), "boards"), positions.count).data;
  const truth = select(positions, order.slice(0, boards));
  const partial = hideSquares(truth, 0.5, fold(key(7), "hidden"));
  const squaresOf = (b: number): Uint8Array => partial.slice(b * SQUARES, (b + 1) * SQUARES);
  const model = await loadModel(values.model);
  const measured = (made: Positions, b: number): CompletionMeasures =>
    completionMeasures(
      made,
      repeated(squaresOf(b), particles),
      select(truth, new Array(particles).fill(b)),
    );

  out([
    "by",
    "legal",
    "one king each",
    "squares recovered",
    "pieces recovered",
    "known held",
    "ESS",
    "seconds per board",
  ]);
  out(["---", ...new Array(7).fill("---:")]);
  const engine = { device: values.device };
  let began = performance.now();
  const took = (): string => ((performance.now() - began) / 1000 / boards).toFixed(1);
  const draw = await openBoards(model, engine);
  const all = new Uint8Array(boards * particles * SQUARES);
  for (let b = 0; b < boards; b++)
    all.set(repeated(squaresOf(b), particles), b * particles * SQUARES);
  const guided = await completeBoards(draw, all, {
    key: key(7),
    steps,
    grid: "quadratic",
    completion: "guided",
    guidance,
  });
  await draw.dispose();
  const own = Array.from({ length: boards }, (_, b) =>
    measured(range(guided.positions, b * particles, (b + 1) * particles), b),
  );
  out(["guidance", ...summed(own), "set", "", took()]);

  began = performance.now();
  const complete = openParticleBoards(model, { ...engine, guidance });
  const found: CompletionMeasures[] = [];
  let [kept, ess] = [0, 0];
  for (let b = 0; b < boards; b++) {
    const weighed = await complete(squaresOf(b), {
      key: fold(key(7), b),
      steps,
      grid: "quadratic",
      particles,
    });
    found.push(measured(weighed.positions, b));
    kept += weighed.kept / boards;
    ess += weighed.ess / boards;
  }
  await complete.dispose();
  out(["particles", ...summed(found), kept.toFixed(3), ess.toFixed(1), took()]);
}

function repeated(board: Uint8Array, times: number): Uint8Array {
  const all = new Uint8Array(times * SQUARES);
  for (let i = 0; i < times; i++) all.set(board, i * SQUARES);
  return all;
}
