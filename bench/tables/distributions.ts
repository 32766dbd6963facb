/**
 * The distributions of the benchmark of tables, after that of Mirror Diffusion Models (G.-H. Liu et
 * al., NeurIPS 2023), and the results of its authors' code.
 */
import { ball, between, type Domain, simplex } from "diffeo/domain";
import { fold, type Key, normal, uniform } from "diffeo/random";

/** Streams of numbers from a key, drawn in blocks. */
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
type Sampler = (draw: Stream) => number[];

const inside = (y: readonly number[]): boolean => y.reduce((s, v) => s + v * v, 0) < 1;

/** The distribution given that a row is in the unit ball. */
const kept =
  (distribution: Sampler): Sampler =>
  (draw) => {
    for (;;) {
      const y = distribution(draw);
      if (inside(y)) return y;
    }
  };

/** A Gaussian around one of several centres. */
const around =
  (centres: readonly (readonly number[])[], deviation: number): Sampler =>
  (draw) =>
    centres[Math.floor(draw.uniform() * centres.length)].map((c) => c + deviation * draw.normal());

const axes = (n: number): number[][] =>
  Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => (i === j ? 1 : 0)));

const spiralAt = (u: number, draw: Stream): number[] => {
  const [radius, angle] = [0.95 * u, (1000 * Math.PI * u) / 180];
  return [
    radius * Math.cos(angle) + 0.025 * draw.normal(),
    radius * Math.sin(angle) + 0.025 * draw.normal(),
  ];
};

/**
 * log of a gamma variable: G. Marsaglia and W. Tsang (2000) for a + 1, and γ(a) = γ(a + 1) U^{1/a}.
 */
function logGamma({ normal: z, uniform: u }: Stream, a: number): number {
  const d = a + 1 - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = z();
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(u()) < 0.5 * x * x + d - d * v + d * Math.log(v))
      return Math.log(d * v) + Math.log(u()) / a;
  }
}

const dirichlet =
  (alpha: readonly number[]): Sampler =>
  (draw) => {
    const logs = alpha.map((a) => logGamma(draw, a));
    const most = Math.max(...logs);
    const weights = logs.map((l) => Math.exp(l - most));
    const total = weights.reduce((s, w) => s + w, 0);
    return weights.map((w) => w / total);
  };

/** Reflected at 0 and 1. */
const reflected =
  (distribution: Sampler): Sampler =>
  (draw) =>
    distribution(draw).map((v) => {
      const turned = Math.abs(v) % 2;
      return turned > 1 ? 2 - turned : turned;
    });

export interface Task {
  readonly distribution: Sampler;
  /**
   * The result of the peer's code with 1,000 evaluations per row; its rows are those of `laid` if
   * that is given.
   */
  readonly peer: number;
  /** A sample for a position on a grid instead of a random one. */
  readonly laid?: (place: number) => Sampler;
  readonly columns: Readonly<Record<string, Domain>>;
  /** The number of coordinates that are compared: those that the others do not determine. */
  readonly compared: number;
  readonly inside: (row: readonly number[]) => boolean;
}

const ballTask = (distribution: Sampler, n: number, peer: number): Task => ({
  distribution: kept(distribution),
  peer,
  columns: { y: ball(n) },
  compared: n,
  inside,
});

const simplexTask = (alpha: readonly number[], peer: number): Task => ({
  peer,
  distribution: dirichlet(alpha),
  columns: { y: simplex(alpha.length, { map: "isometricLogRatio" }) },
  compared: alpha.length - 1,
  inside: (y) => y.every((v) => v > 0) && Math.abs(y.reduce((s, v) => s + v, 0) - 1) < 1e-12,
});

const cubeTask = (n: number, peer: number): Task => ({
  peer,
  distribution: reflected(around(axes(n), 0.2)),
  columns: Object.fromEntries(Array.from({ length: n }, (_, i) => [`y${i + 1}`, between(0, 1)])),
  compared: n,
  inside: (y) => y.every((v) => v > 0 && v < 1),
});

const ring = Array.from({ length: 8 }, (_, i) => [
  0.8 * Math.cos((2 * Math.PI * i) / 8),
  0.8 * Math.sin((2 * Math.PI * i) / 8),
]);

export const tasks: Readonly<Record<string, Task>> = {
  "ball-spiral": {
    ...ballTask((draw) => spiralAt(draw.uniform(), draw), 2, 0.00977),
    laid: (place) => kept((draw) => spiralAt(place, draw)),
  },
  "ball-gmm2": ballTask(around(ring, 0.05), 2, 0.02001),
  "ball-gmm20": ballTask(around(axes(20), 0.05), 20, 0.00862),
  "simplex-3": simplexTask([1, 0.1, 5], 0.00354),
  "simplex-9": simplexTask([1, 0.5, 2, 0.3, 0.6, 4, 8, 8, 2], 0.0021),
  "simplex-20": simplexTask(
    Array.from({ length: 20 }, (_, i) => (i + 1) / 5),
    0.00199,
  ),
  "cube-6": cubeTask(6, 0.00806),
  "cube-20": cubeTask(20, 0.00658),
};

/** Rows of a task, determined by the key and their index. */
export const rowsOf = ({ distribution }: Task, count: number, from: Key): number[][] => {
  const draw = stream(from);
  return Array.from({ length: count }, () => distribution(draw));
};

/** Rows at evenly spaced positions if the task has `laid`, else random rows. */
export const laidRowsOf = (task: Task, count: number, from: Key): number[][] => {
  const draw = stream(from);
  return Array.from({ length: count }, (_, i) =>
    (task.laid?.((i + 0.5) / count) ?? task.distribution)(draw),
  );
};
