/**
 * Samples rows of a fitted density by Markov chains that start at draws of its adapted mixture,
 * selected by their weight.
 */
import type { NdArray } from "diffeo/graph";
import { type Chains, runWalk } from "diffeo/mcmc";
import { fold, type Key, uniform } from "diffeo/random";
import type { Table } from "../table/table.ts";
import { unwhitenRows } from "../table/whitening.ts";
import { adaptedMixture } from "./adapted-mixture.ts";
import { sampleMixture } from "./mixture.ts";
import type { DensityModel } from "./model-bytes.ts";
import { openDensity, openPath } from "./path.ts";

/** Options for sampling rows of a density. */
export interface RowSampleOptions {
  /** Hamiltonian Monte Carlo, or MALA (Langevin steps with a Metropolis test). Default hmc. */
  readonly method?: "hmc" | "mala";
  /** Transitions per chain. Default 200. */
  readonly steps?: number;
  readonly key: Key;
  readonly signal?: AbortSignal;
}

const LEAPFROG = { hmc: 5, mala: 1 } as const;
const ACCEPTANCE = { hmc: 0.75, mala: 0.6 } as const;
/** Draws of the mixture per start. */
const CANDIDATES = 8;

/** Samples rows of a density, in the units of its table. */
export async function sampleRows(
  model: DensityModel,
  count: number,
  options: RowSampleOptions,
): Promise<Table> {
  const { method = "hmc", steps = 200, key, signal } = options;
  const { fitted, spec } = model;
  const mixture = await adaptedMixture(
    fitted,
    fitted.parameters.inducing,
    fold(key, "mixture"),
    signal,
  );
  const path = openPath(fitted, mixture, LEAPFROG[method]);
  const walk = openDensity(fitted, LEAPFROG[method]);
  try {
    const candidates = await path.start(
      sampleMixture(mixture, CANDIDATES * count, fold(key, "start")),
    );
    const starts = await walk.start(chosen(candidates, count, fold(key, "resample")));
    const { chains } = await runWalk(walk, starts, {
      steps,
      // The step size adapts in the first half and is fixed in the second.
      warmup: Math.ceil(steps / 2),
      stepSize: 0.2,
      targetAcceptance: ACCEPTANCE[method],
      gain: 0.3,
      key: fold(key, "move"),
      signal,
    });
    return {
      source: "samples",
      columns: spec.columns,
      rows: count,
      values: unwhitenRows(Float64Array.from(chains.x.data as Float32Array), spec.whitening),
    };
  } finally {
    await path.dispose();
    await walk.dispose();
  }
}

/** Selects `count` of the candidates in proportion to the weights p̃/q. */
function chosen(
  { x, values: [logP, logQ] }: Chains<NdArray>,
  count: number,
  key: Key,
): Float32Array {
  const n = x.shape[1];
  const logWeights = Float64Array.from(
    logP.data as Float32Array,
    (v, i) => v - (logQ.data[i] as number),
  );
  const points = new Float32Array(count * n);
  resample(logWeights, count, key).forEach((from, i) => {
    points.set((x.data as Float32Array).subarray(from * n, (from + 1) * n), i * n);
  });
  return points;
}

/**
 * Systematic resampling: one uniform number places `count` equidistant marks on the cumulated
 * weights.
 */
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
