/**
 * npm run bench -- sampler: samples per second, and score evaluations to reach a given energy
 * distance, by solver; the bias of steps in y near the boundary; and the extra cost of sampling in y
 * compared with x.
 */
import { additiveLogistic, affine, chain, each } from "diffeo/bijector";
import { sampleFrom } from "diffeo/distribution";
import { evaluate } from "diffeo/engine";
import { expand, mul, sub, type Tensor } from "diffeo/graph";
import { asConstants, type UNet, type UNetOptions, unet, unetInit } from "diffeo/model";
import { key } from "diffeo/random";
import {
  clampToSimplex,
  eulerMaruyama,
  milstein,
  type SampleOptions,
  type Solver,
  type SolverName,
  sample,
  solvers,
} from "diffeo/sampler";
import { type MarginalScore, type Process, reverse, reversePush, vp } from "diffeo/sde";
import { energyDistance } from "diffeo/two-sample";
import {
  occupancy,
  occupied,
  pieces,
  simplex,
  squareScore,
} from "../packages/diffeo/test/sampler/squares.ts";
import { clusters, exactScore } from "../packages/diffeo/test/sampler/tools.ts";
import { median } from "./timing.ts";

const print = (line = ""): void => void process.stdout.write(`${line}\n`);
const columns = (cells: readonly string[], widths: readonly number[]): string =>
  cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join("");

/** A mixture in four dimensions with its exact score, on the simplex. */
async function byMethod(): Promise<void> {
  const [n, count, target] = [4, 20_000, 1e-4];
  const sde = vp();
  const phi = additiveLogistic();
  const process = reversePush(sde, phi, exactScore(sde, clusters(n)));
  const x = sampleFrom(clusters(n), key("exact"), count, "float64");
  const exact = await evaluate((z: Tensor) => phi.forward(z), x);
  print(
    `mixture of Gaussians in ${n} dimensions on the simplex, exact score, ${count} samples, quadratic grid`,
  );
  print(
    `energy distance from exact samples by steps; evaluations to reach ${target} (about 4e-5 by chance alone)`,
  );
  const widths = [22, 11, 11, 11, 11, 11, 11, 13, 14, 9];
  const stepCounts = [10, 20, 40, 80, 160, 320];
  print(
    columns(["solver", ...stepCounts.map(String), "evaluations", "samples/s", "exits"], widths),
  );
  // A step that would leave the simplex is rejected.
  const held: Partial<Record<SolverName, Solver>> = {
    eulerMaruyama: eulerMaruyama({ onExit: "hold" }),
    milstein: milstein({ onExit: "hold" }),
  };
  for (const solver of Object.keys(solvers) as SolverName[]) {
    const cells: string[] = [];
    let reached: { evaluations: number; rate: number } | undefined;
    let exits = 0;
    for (const steps of stepCounts) {
      const start = performance.now();
      const options = {
        solver: held[solver] ?? solver,
        steps,
        count,
        shape: [n],
        key: key("bench"),
        grid: "quadratic",
        tEnd: 1e-4,
      } as const;
      const result = await sample(process, options);
      const seconds = (performance.now() - start) / 1000;
      const { value } = energyDistance(result.samples, exact, { key: key(1), permutations: 0 });
      cells.push(value.toExponential(1));
      exits = result.exits;
      if (value <= target)
        reached ??= { evaluations: result.scoreEvaluations, rate: count / seconds };
    }
    print(
      columns(
        [
          solver,
          ...cells,
          String(reached?.evaluations ?? "–"),
          reached?.rate.toFixed(0) ?? "–",
          String(exits),
        ],
        widths,
      ),
    );
  }
}

/** One square of a chess board, whose logits lie close to the faces of the simplex. */
async function atTheBoundary(): Promise<void> {
  const sde = vp();
  const process = reversePush(sde, simplex, squareScore(sde));
  const count = 4000;
  const deviation = Math.sqrt((occupied * (1 - occupied)) / count);
  print(
    `\nsquares of a chess board (ε = 0.01, n = 12), exact score, ${count} samples: share of occupied squares`,
  );
  print(`exact ${occupied.toFixed(3)} ± ${deviation.toFixed(3)}`);
  const widths = [44, 8, 10, 12, 12];
  print(columns(["solver", "steps", "occupied", "exits", "clamps"], widths));
  const runs: readonly (readonly [string, Pick<SampleOptions, "solver">, number])[] = [
    ["domain-preserving", { solver: "domainPreserving" }, 100],
    ["domain-preserving", { solver: "domainPreserving" }, 250],
    ...[250, 1000, 4000].map(
      (steps) =>
        [
          "Euler–Maruyama in y, clamped at 1e-6",
          { solver: eulerMaruyama({ onExit: clampToSimplex(1e-6) }) },
          steps,
        ] as const,
    ),
  ];
  for (const [name, options, steps] of runs) {
    const result = await sample(process, {
      ...options,
      steps,
      count,
      shape: [pieces],
      key: key("squares"),
    });
    const cells = [
      occupancy(result.samples).toFixed(3),
      String(result.exits),
      String(result.clamps),
    ];
    print(columns([name, String(steps), ...cells], widths));
  }
}

const network: UNetOptions = {
  channels: 12,
  width: 32,
  multipliers: [1, 2, 2],
  blocks: 2,
  groups: 8,
};

/**
 * The prior's score plus a small multiple of an untrained U-Net of 1.1 M parameters, which has the
 * cost of a trained one.
 */
function networkScore(): MarginalScore {
  const parameters = asConstants<UNet<Tensor>>(unetInit(key(1), network));
  return (x, t) => sub(mul(unet(parameters, x, expand(t, x.shape.slice(0, 1)), network), 0.01), x);
}

/** Milliseconds of each step. */
async function stepTimes(
  process: Process,
  options: Pick<SampleOptions, "solver" | "driftScale">,
  steps: number,
): Promise<number[]> {
  const stamps: number[] = [];
  await sample(process, {
    ...options,
    steps,
    count: 64,
    shape: [8, 8, 12],
    key: key("overhead"),
    threads: 2,
    onStep: () => void stamps.push(performance.now()),
  });
  return stamps.slice(1).map((t, i) => t - stamps[i]);
}

/** The chess map on a board: a step in x, the same step for the process in y, and a step in y. */
async function overhead(): Promise<void> {
  const sde = vp({ eventRank: 3 });
  const standard = affine({ scale: new Array(12).fill(2.5), shift: new Array(12).fill(-1) });
  const phi = each(chain(standard, additiveLogistic()), 2);
  print("\nmilliseconds per step, 64 boards [8, 8, 12], 2 threads, medians of interleaved runs");
  const widths = [40, 22, 22];
  const scores: readonly [string, MarginalScore, number][] = [
    ["bare (score −x)", (x) => mul(x, -1), 60],
    ["U-Net of 1.1 M", networkScore(), 8],
  ];
  const rows: readonly [
    string,
    (s: MarginalScore) => Process,
    Pick<SampleOptions, "solver" | "driftScale">,
  ][] = [
    ["in x", (s) => reverse(sde, s), { solver: "domainPreserving" }],
    [
      "in y, domain-preserving, w = 1",
      (s) => reversePush(sde, phi, s),
      { solver: "domainPreserving" },
    ],
    [
      "in y, domain-preserving, w = 0.98",
      (s) => reversePush(sde, phi, s),
      { solver: "domainPreserving", driftScale: 0.98 },
    ],
    [
      "in y, Euler–Maruyama in y",
      (s) => reversePush(sde, phi, s),
      { solver: eulerMaruyama({ onExit: "hold" }) },
    ],
  ];
  print(columns(["", ...scores.map(([name]) => name)], widths));
  const cells = rows.map((): string[] => []);
  for (const [, score, steps] of scores) {
    const times = rows.map((): number[] => []);
    for (let round = 0; round < 5; round++)
      for (const [i, [, make, options]] of rows.entries())
        times[i].push(...(await stepTimes(make(score), options, steps)));
    const base = median(times[0]);
    times.forEach((t, i) => {
      cells[i].push(`${median(t).toFixed(2)} (${(100 * (median(t) / base - 1)).toFixed(0)} %)`);
    });
  }
  rows.forEach(([name], i) => {
    print(columns([name, ...cells[i]], widths));
  });
}

export async function run(): Promise<void> {
  await byMethod();
  await atTheBoundary();
  await overhead();
}
