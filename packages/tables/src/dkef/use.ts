/**
 * A fitted density on raw rows y, x = (y − mean) W being what it was fitted on:
 *
 *   log q(y) = log p̃(x) − log Ẑ + log|det W|      ∇_y log q = W ∇_x log p̃      (Theorem 1 with a linear map)
 */
import { compile } from "diffeo/engine";
import { fail, gradEach, type Tensor } from "diffeo/graph";
import { partsOf, rightSvd } from "diffeo/host";
import { logDensity } from "diffeo/model";
import { fold, type Key, uniform } from "diffeo/random";
import { type Whitening, whitened } from "../table/prepare.ts";
import { type Selection, selected, type Table } from "../table/table.ts";
import { adaptedMixture } from "./annealed.ts";
import { PART, walkOf } from "./hamiltonian.ts";
import { sampleMixture } from "./mixture.ts";
import type { DensityModel } from "./model-bytes.ts";
import { parametersOf } from "./steps.ts";

export interface RowScores {
  readonly logDensity: Float64Array;
  /** ∇ log q, one row a row. */
  readonly score: Float64Array;
}

/** The columns a model was fitted on, in its order. */
export const modelColumns =
  ({ spec }: DensityModel): Selection =>
  ({ source, columns }) =>
    spec.columns.map((name) => {
      const at = columns.indexOf(name);
      if (at < 0)
        fail("data", `${source} has no column "${name}", which the model was fitted on`, "give a table with it");
      return at;
    });

export async function scoreRows(model: DensityModel, table: Table): Promise<RowScores> {
  const { spec, fitted } = model;
  const { logZ } = spec;
  if (logZ === undefined)
    fail("data", "the model has no normaliser, for its fit was lost", "fit again; sample needs none");
  const { matrix, logDet } = spec.whitening;
  const n = spec.columns.length;
  const x = whitened(selected(table, modelColumns(model)).values, spec.whitening);
  const evaluate = compile(
    (t: Tensor, a: Tensor, points: Tensor) => {
      const p = parametersOf(t, fitted.parameters);
      const density = (y: Tensor): Tensor => logDensity(p, a, y);
      return { value: density(points), score: gradEach(density)(points) };
    },
    [[fitted.theta.length], [fitted.alpha.length], [null, n]],
    { type: "float64", threads: 1 },
  );
  try {
    const theta = Float64Array.from(fitted.theta);
    const found = { logDensity: new Float64Array(table.rows), score: new Float64Array(x.length) };
    for (const [from, to] of partsOf(table.rows, PART)) {
      const { value, score } = await evaluate(theta, fitted.alpha, x.slice(from * n, to * n));
      for (let row = from; row < to; row++) {
        found.logDensity[row] = (value.data[row - from] as number) - logZ + logDet;
        for (let i = 0; i < n; i++)
          for (let j = 0; j < n; j++)
            found.score[row * n + i] += matrix[i * n + j] * (score.data[(row - from) * n + j] as number);
      }
    }
    return found;
  } finally {
    await evaluate.dispose();
  }
}

/** y = x W⁻¹ + mean. */
export function unwhitened(points: ArrayLike<number>, { mean, matrix }: Whitening): Float64Array {
  const n = mean.length;
  // W V = U Σ gives W⁻¹ = V Σ⁻¹ Uᵀ = V Σ⁻² (W V)ᵀ.
  const { values, vectors } = rightSvd(Float64Array.from(matrix), n);
  const inverse = new Float64Array(n * n);
  for (let k = 0; k < n; k++)
    for (let j = 0; j < n; j++) {
      let wv = 0;
      for (let i = 0; i < n; i++) wv += matrix[j * n + i] * vectors[i * n + k];
      for (let i = 0; i < n; i++) inverse[i * n + j] += (vectors[i * n + k] * wv) / values[k] ** 2;
    }
  const out = new Float64Array(points.length);
  for (let row = 0; row < points.length; row += n)
    for (let j = 0; j < n; j++) {
      let total = mean[j];
      for (let i = 0; i < n; i++) total += points[row + i] * inverse[i * n + j];
      out[row + j] = total;
    }
  return out;
}

export interface SampleOptions {
  /** Hamiltonian Monte Carlo, or Langevin steps with a Metropolis test. Default hmc. */
  readonly method?: "hmc" | "langevin";
  /** Transitions of every chain. Default 200. */
  readonly steps?: number;
  readonly key: Key;
  readonly signal?: AbortSignal;
}

const LEAPFROG = { hmc: 5, langevin: 1 } as const;
const ACCEPTANCE = { hmc: 0.75, langevin: 0.6 } as const;
/** Draws of the mixture a start is chosen from. */
const CANDIDATES = 8;

/** Rows drawn from the density: chains that start at draws of the adapted mixture, chosen by their weight. */
export async function sampleRows(model: DensityModel, count: number, options: SampleOptions): Promise<Table> {
  const { method = "hmc", steps = 200, key, signal } = options;
  const { fitted, spec } = model;
  const n = spec.columns.length;
  const mixture = await adaptedMixture(fitted, fitted.parameters.inducing, fold(key, "mixture"), signal);
  const walk = walkOf(fitted, mixture, LEAPFROG[method]);
  try {
    const candidates = await walk.start(sampleMixture(mixture, CANDIDATES * count, fold(key, "start")));
    const weights = Float64Array.from(
      candidates.logP.data as Float32Array,
      (v, i) => v - (candidates.logQ.data[i] as number),
    );
    const starts = new Float32Array(count * n);
    resample(weights, count, fold(key, "resample")).forEach((from, i) => {
      starts.set((candidates.x.data as Float32Array).subarray(from * n, (from + 1) * n), i * n);
    });
    let particles = await walk.start(starts);
    let size = 0.2;
    for (let k = 0; k < steps; k++) {
      signal?.throwIfAborted();
      const moved = await walk.move(particles, 1, size, fold(fold(key, "move"), k));
      particles = moved.particles;
      // The size settles in the first half and is fixed in the second.
      if (2 * k < steps) size *= Math.exp(0.3 * (moved.accepted - ACCEPTANCE[method]));
    }
    return {
      source: "samples",
      columns: spec.columns,
      rows: count,
      values: unwhitened(particles.x.data as Float32Array, spec.whitening),
    };
  } finally {
    await walk.dispose();
  }
}

/** Systematic resampling: one uniform number places `count` equidistant marks on the cumulated weights. */
function resample(logWeights: Float64Array, count: number, key: Key): Int32Array {
  const top = logWeights.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const weights = logWeights.map((w) => Math.exp(w - top));
  const total = weights.reduce((a, b) => a + b, 0);
  const offset = uniform(key, [1], { dtype: "float64" }).data[0];
  const out = new Int32Array(count);
  let at = 0;
  let reached = weights[0];
  for (let i = 0; i < count; i++) {
    const mark = ((i + offset) / count) * total;
    while (reached < mark && at < weights.length - 1) reached += weights[++at];
    out[i] = at;
  }
  return out;
}
