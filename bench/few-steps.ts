/**
 * npm run bench -- few-steps [--reference FILE]: a chess model with few evaluations of its network.
 * The quality of boards by solver, time grid and number of evaluations, and their cost in products
 * of the network. Every run starts from the same noise. The last evaluation is the final
 * denoising. The columns are those of `diffeo chess evaluate --reference FILE`, with one standard
 * error.
 *
 *   --boards 200 --evaluations 15,25,50 --device cpu --model FILE    what to sample
 *   --from FOLDER                                                    boards sampled before: METHOD-GRID-EVALUATIONS.fen
 */
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { denoiserPosterior, type Model } from "diffeo/categorical";
import { input, sizeOf, type Tensor } from "diffeo/graph";
import { asConstants } from "diffeo/model";
import { loadModel } from "diffeo/node";
import { fold, key } from "diffeo/random";
import { type SolverName, solvers } from "diffeo/sampler";
import {
  type BoardGrid,
  type BoardMeasures,
  measureAll,
  openBoards,
  type Positions,
  playouts,
} from "diffeo-chess";
import { readPositions, shippedModel } from "diffeo-chess/node";

const SOLVERS: readonly SolverName[] = [
  "dpmSolver2MSde",
  "ancestral",
  "dpmSolver2M",
  "heun",
  "domainPreserving",
];
const GRIDS = ["fitted", "logSnr", "quadratic", "uniform"] as const satisfies readonly BoardGrid[];

/** Multiplications and additions of the products in one evaluation, in GFLOP per board. */
function cost({ denoiser, parameters, encoding: { grid, channels } }: Model): number {
  const x = input("x", [1, ...grid, channels]);
  const root = denoiserPosterior(denoiser, asConstants(parameters))(x, input("t", [1]));
  const seen = new Set<Tensor>();
  const open = [root];
  let total = 0;
  for (let node = open.pop(); node; node = open.pop()) {
    if (seen.has(node)) continue;
    seen.add(node);
    open.push(...node.inputs);
    total += 2 * productsOf(node);
  }
  return total / 1e9;
}

function productsOf({ op, shape, inputs }: Tensor): number {
  const [a, b] = inputs;
  if (op.name === "matmul") return sizeOf(shape) * a.shape[a.shape.length - 1];
  if (op.name === "conv2d") return (sizeOf(shape) / shape[shape.length - 1]) * sizeOf(b.shape);
  // Q Kᵀ, then P V: sites × sites × width each.
  if (op.name === "attention")
    return a.shape[0] * a.shape[1] * b.shape[1] * (a.shape[2] + shape[2]);
  return 0;
}

const print = (cells: readonly string[]): void =>
  void process.stdout.write(`| ${cells.join(" | ")} |\n`);
const within = (value: number | null, error: number | null, digits: number): string =>
  value === null
    ? "–"
    : `${value.toFixed(digits)}${error === null ? "" : ` ± ${error.toFixed(digits)}`}`;

function row({ errors: e, ...m }: BoardMeasures): string[] {
  return [
    within(m.legal, e.legal, 3),
    within(m.oneKingEach, e.oneKingEach, 4),
    within(m.balanceSd, e.balanceSd, 2),
    within(m.bishopPairsOpposite, e.bishopPairsOpposite, 3),
    within(m.auc, e.auc, 3),
    m.piecesDistance.toFixed(2),
    within(m.piecesMean, e.piecesMean, 2),
  ];
}

interface Drawn {
  readonly solver: string;
  readonly grid: string;
  readonly evaluations: number;
  readonly positions: Positions;
}

async function* drawnNow(
  model: Model,
  boards: number,
  budgets: readonly number[],
  device: string,
): AsyncGenerator<Drawn> {
  const grids = model.errors ? GRIDS : GRIDS.slice(1);
  for (const solver of SOLVERS) {
    const draw = await openBoards(model, { solver, device });
    // Where the model learns nothing, a fitted grid has steps that only exponential solvers can take.
    for (const evaluations of budgets)
      for (const grid of grids.filter(
        (name) => name !== "fitted" || solvers[solver]().grid === "logSnr",
      )) {
        const steps = Math.floor((evaluations - 1) / solvers[solver]().evaluations);
        yield {
          solver,
          grid,
          evaluations,
          positions: (await draw({ count: boards, key: key(5), steps, grid })).positions,
        };
      }
    await draw.dispose();
  }
}

async function* drawnBefore(folder: string): AsyncGenerator<Drawn> {
  for (const name of readdirSync(folder).sort((a, b) =>
    a.localeCompare(b, "en", { numeric: true }),
  )) {
    const [, solver, grid, evaluations] = /^(\w+)-(\w+)-(\d+)\.fen$/.exec(basename(name)) ?? [];
    if (solver === undefined) continue;
    const { positions } = await readPositions(join(folder, name), { distinct: false });
    yield { solver, grid, evaluations: Number(evaluations), positions };
  }
}

export async function run(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      reference: { type: "string" },
      boards: { type: "string", default: "200" },
      evaluations: { type: "string", default: "15,25,50" },
      device: { type: "string", default: "cpu" },
      model: { type: "string", default: shippedModel },
      from: { type: "string" },
    },
  });
  const model = await loadModel(values.model);
  const each = cost(model);
  const real = values.reference
    ? (await readPositions(values.reference, {})).positions
    : playouts(20_000, fold(key(0), "playouts"));
  process.stdout.write(`${each.toFixed(3)} GFLOP per board and evaluation\n\n`);
  const columns = ["legal", "one king each", "balance SD", "bishops", "AUC", "W₁", "pieces"];
  print(["solver", "grid", "evaluations", "GFLOP", ...columns]);
  print(["---", "---", ...new Array(columns.length + 2).fill("---:")]);
  const budgets = values.evaluations.split(",").map(Number);
  const all = values.from
    ? drawnBefore(values.from)
    : drawnNow(model, Number(values.boards), budgets, values.device);
  for await (const { solver, grid, evaluations, positions } of all) {
    const { samples } = measureAll(positions, real, {
      key: fold(key(0), "measures"),
      neighbours: 1,
    });
    print([
      solver,
      grid,
      String(evaluations),
      (each * evaluations).toPrecision(3),
      ...row(samples),
    ]);
  }
}
