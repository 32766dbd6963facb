/**
 * npm run bench -- tables [TASK …] [--steps N] [--rows N] [--threads N] [--seed N]: eight laws on constrained sets, after the
 * benchmark of Mirror Diffusion Models (G.-H. Liu et al., NeurIPS 2023). A model is fitted to rows of each, 10,000 rows are drawn
 * with 50 evaluations of the network, and their sliced Wasserstein distance to fresh rows is measured beside the distance between
 * two sets of fresh rows.
 */
import { parseArgs } from "node:util";
import { ball, between, type Domain, simplex } from "diffeo/domain";
import type { NdArray } from "diffeo/graph";
import { fold, type Key, key, normal, uniform } from "diffeo/random";
import { energyDistance } from "diffeo/sampler";
import { drawRows, fitTable } from "diffeo-tables";

/** Numbers one by one out of a key, drawn in blocks. */
function stream(from: Key): { readonly normal: () => number; readonly uniform: () => number } {
  const blocks = (draw: (k: Key) => Float64Array): (() => number) => {
    let block: Float64Array = new Float64Array(0);
    let [at, drawn] = [0, 0];
    return () => {
      if (at === block.length) [block, at] = [draw(fold(from, drawn++)), 0];
      return block[at++];
    };
  };
  const size = 1 << 14;
  return {
    normal: blocks((k) => normal(fold(k, "normal"), size, { dtype: "float64" }).data),
    uniform: blocks((k) => uniform(fold(k, "uniform"), size, { dtype: "float64" }).data),
  };
}

type Stream = ReturnType<typeof stream>;
type Law = (draw: Stream) => number[];

const inside = (y: readonly number[]): boolean => y.reduce((s, v) => s + v * v, 0) < 1;

/** The law given that a row is in the unit ball. */
const kept =
  (law: Law): Law =>
  (draw) => {
    for (;;) {
      const y = law(draw);
      if (inside(y)) return y;
    }
  };

/** A Gaussian around one of several centres. */
const around =
  (centres: readonly (readonly number[])[], deviation: number): Law =>
  (draw) =>
    centres[Math.floor(draw.uniform() * centres.length)].map((c) => c + deviation * draw.normal());

const axes = (n: number): number[][] =>
  Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => (i === j ? 1 : 0)));

const spiral: Law = (draw) => {
  const u = draw.uniform();
  const [radius, angle] = [0.95 * u, (1000 * Math.PI * u) / 180];
  return [radius * Math.cos(angle) + 0.025 * draw.normal(), radius * Math.sin(angle) + 0.025 * draw.normal()];
};

/** log of a gamma variable: G. Marsaglia and W. Tsang (2000) for a + 1, and γ(a) = γ(a + 1) U^{1/a}. */
function logGamma({ normal: z, uniform: u }: Stream, a: number): number {
  const d = a + 1 - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = z();
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(u()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return Math.log(d * v) + Math.log(u()) / a;
  }
}

const dirichlet =
  (alpha: readonly number[]): Law =>
  (draw) => {
    const logs = alpha.map((a) => logGamma(draw, a));
    const most = Math.max(...logs);
    const weights = logs.map((l) => Math.exp(l - most));
    const total = weights.reduce((s, w) => s + w, 0);
    return weights.map((w) => w / total);
  };

/** Reflected at 0 and 1. */
const reflected =
  (law: Law): Law =>
  (draw) =>
    law(draw).map((v) => {
      const turned = Math.abs(v) % 2;
      return turned > 1 ? 2 - turned : turned;
    });

interface Task {
  readonly law: Law;
  readonly columns: Readonly<Record<string, Domain>>;
  /** Coordinates that are compared: those that the others do not settle. */
  readonly compared: number;
  readonly inside: (row: readonly number[]) => boolean;
}

const ballTask = (law: Law, n: number): Task => ({ law: kept(law), columns: { y: ball(n) }, compared: n, inside });

const simplexTask = (alpha: readonly number[]): Task => ({
  law: dirichlet(alpha),
  columns: { y: simplex(alpha.length, { map: "isometricLogRatio" }) },
  compared: alpha.length - 1,
  inside: (y) => y.every((v) => v > 0) && Math.abs(y.reduce((s, v) => s + v, 0) - 1) < 1e-12,
});

const cubeTask = (n: number): Task => ({
  law: reflected(around(axes(n), 0.2)),
  columns: Object.fromEntries(Array.from({ length: n }, (_, i) => [`y${i + 1}`, between(0, 1)])),
  compared: n,
  inside: (y) => y.every((v) => v > 0 && v < 1),
});

const ring = Array.from({ length: 8 }, (_, i) => [
  0.8 * Math.cos((2 * Math.PI * i) / 8),
  0.8 * Math.sin((2 * Math.PI * i) / 8),
]);

const tasks: Readonly<Record<string, Task>> = {
  "ball-spiral": ballTask(spiral, 2),
  "ball-gmm2": ballTask(around(ring, 0.05), 2),
  "ball-gmm20": ballTask(around(axes(20), 0.05), 20),
  "simplex-3": simplexTask([1, 0.1, 5]),
  "simplex-9": simplexTask([1, 0.5, 2, 0.3, 0.6, 4, 8, 8, 2]),
  "simplex-20": simplexTask(Array.from({ length: 20 }, (_, i) => (i + 1) / 5)),
  "cube-6": cubeTask(6),
  "cube-20": cubeTask(20),
};

const rowsOf = ({ law }: Task, count: number, from: Key): number[][] => {
  const draw = stream(from);
  return Array.from({ length: count }, () => law(draw));
};

/** The first coordinates of rows. */
const compared = (rows: readonly (readonly number[])[], n: number): NdArray => ({
  shape: [rows.length, n],
  dtype: "float64",
  data: Float64Array.from(rows.flatMap((row) => row.slice(0, n))),
});

const DIRECTIONS = 256;

/** Projections of rows on fixed directions, each sorted. */
function projected({ shape: [rows, n], data }: NdArray): Float64Array[] {
  const along = normal(key("directions"), [DIRECTIONS, n], { dtype: "float64" }).data;
  const values = data as Float64Array;
  return Array.from({ length: DIRECTIONS }, (_, d) => {
    const u = along.subarray(d * n, (d + 1) * n);
    const length = Math.hypot(...u);
    return Float64Array.from({ length: rows }, (_, i) => {
      let total = 0;
      for (let j = 0; j < n; j++) total += values[i * n + j] * u[j];
      return total / length;
    }).sort();
  });
}

/** The root of the mean squared difference of sorted projections. */
function sliced(a: readonly Float64Array[], b: readonly Float64Array[]): number {
  let total = 0;
  for (let d = 0; d < DIRECTIONS; d++) for (let i = 0; i < a[d].length; i++) total += (a[d][i] - b[d][i]) ** 2;
  return Math.sqrt(total / DIRECTIONS / a[0].length);
}

const mean = (values: readonly number[]): number => values.reduce((s, v) => s + v, 0) / values.length;

interface Settings {
  readonly steps?: number;
  readonly rows: number;
  readonly threads: number;
  readonly seed: number;
}

const COUNT = 10_000;
const PAIRS = 6;
/** Sets of fresh rows that the drawn ones are compared with. */
const FRESH = 3;

async function runTask(name: string, { steps, rows: count, threads, seed }: Settings): Promise<readonly string[]> {
  const task = tasks[name];
  const root = fold(key("tables"), name);
  const rows = rowsOf(task, count, fold(root, "train"));
  const fresh = Array.from({ length: 2 * PAIRS }, (_, i) =>
    compared(rowsOf(task, COUNT, fold(fold(root, "fresh"), i)), task.compared),
  );
  const slices = fresh.map(projected);
  const floor = mean(Array.from({ length: PAIRS }, (_, i) => sliced(slices[2 * i], slices[2 * i + 1])));
  const began = performance.now();
  const model = await fitTable(rows, {
    columns: task.columns,
    seed,
    threads,
    ...(steps !== undefined && { steps }),
    onProgress: ({ step, steps: all, loss, validation, secondsLeft }) =>
      process.stderr.write(
        `\r${name}: step ${step} of ${all}, loss ${loss.toFixed(4)}, held out ${validation.toFixed(4)}, ${secondsLeft.toFixed(0)} s left  `,
      ),
  });
  const trained = performance.now();
  const { rows: drawn, evaluations } = await drawRows(model, { count: COUNT, seed, threads });
  const done = performance.now();
  process.stderr.write("\n");
  const numbers = drawn as readonly (readonly number[])[];
  const ours = compared(numbers, task.compared);
  const found = projected(ours);
  const distance = mean(slices.slice(0, FRESH).map((slice) => sliced(found, slice)));
  const energy = energyDistance(ours, fresh[0], { key: key("energy"), permutations: 5 });
  const outside = numbers.filter((row) => !task.inside(row)).length;
  return [
    name,
    distance.toFixed(5),
    floor.toFixed(5),
    (distance / floor).toFixed(2),
    energy.value.toExponential(1),
    energy.chance.mean.toExponential(1),
    String(outside),
    String(evaluations),
    ((trained - began) / 1000).toFixed(0),
    ((done - trained) / 1000).toFixed(1),
    String(model.training.step),
  ];
}

export async function run(): Promise<void> {
  const number = { type: "string" } as const;
  const { values, positionals } = parseArgs({
    args: process.argv.slice(3),
    allowPositionals: true,
    options: { steps: number, rows: number, threads: number, seed: number },
  });
  const unknown = positionals.filter((name) => !(name in tasks));
  if (unknown.length > 0) {
    process.stderr.write(`no task ${unknown.join(", ")}; there are ${Object.keys(tasks).join(", ")}\n`);
    process.exitCode = 2;
    return;
  }
  const settings = {
    rows: Number(values.rows ?? 50_000),
    threads: Number(values.threads ?? 2),
    seed: Number(values.seed ?? 0),
    ...(values.steps !== undefined && { steps: Number(values.steps) }),
  };
  const heading =
    "task | SWD | floor | ratio | energy | floor | outside | evaluations | training s | sampling s | best step";
  process.stdout.write(
    `| ${heading} |\n|${heading
      .split("|")
      .map(() => "---")
      .join("|")}|\n`,
  );
  for (const name of positionals.length > 0 ? positionals : Object.keys(tasks))
    process.stdout.write(`| ${(await runTask(name, settings)).join(" | ")} |\n`);
}
