/**
 * A mixture that follows a fitted density p̃, constructed in two steps:
 *
 *   centres   chains on p̃ from the inducing points and from training points find where its mass is;
 *             a local Gaussian at the end of each
 *   weights   rounds of plain importance sampling from q set π_c to the share of mass that component
 *             c explains
 */
import { type Compiled, compile } from "diffeo/engine";
import { fail, jacobian, type NdArray, softmax, sub, type Tensor } from "diffeo/graph";
import { runWalk } from "diffeo/mcmc";
import { BASE_VARIANCE, dkefLogDensity, dkefScore } from "diffeo/model";
import { choice, fold, type Key } from "diffeo/random";
import type { Fitted } from "./fitted.ts";
import {
  localMixture,
  logComponents,
  logMixture,
  type Mixture,
  type MixtureInputs,
  mixtureInputs,
  reweight,
  sampleMixture,
} from "./mixture.ts";
import { openDensity } from "./path.ts";
import { parametersOf } from "./steps.ts";

/** Leapfrog steps per transition, and how the step size adapts to the acceptance. */
export const LEAPFROG = 3;
export const SIZES = { targetAcceptance: 0.75, gain: 0.4, least: 1e-3, most: 2 } as const;
/** Particles per call. */
export const CHUNK = 512;

/** Number of training points at which chains start, in addition to all inducing points. */
const STARTS = 300;
const CHAIN = 100;
const ROUNDS = 4;
const ROUND_SAMPLES = 16_384;
/** Share of the latest round in the new weights; the rest keeps the initial weights. */
const TRUST = 0.75;

export const lost = (what: string): never =>
  fail(
    "numerical",
    `the normaliser cannot be computed: ${what}`,
    "whiten the table, and check it for outliers",
  );

/** End points of chains with target p̃, started at inducing and training points. */
async function centresOf(
  fitted: Fitted,
  train: NdArray,
  key: Key,
  signal?: AbortSignal,
): Promise<Float32Array> {
  const { inducing } = fitted.parameters;
  const [rows, n] = train.shape;
  const chosen = choice(fold(key, "rows"), rows, Math.min(STARTS, rows), { replace: false }).data;
  const starts = new Float32Array(inducing.data.length + chosen.length * n);
  starts.set(inducing.data as Float32Array);
  chosen.forEach((row, i) => {
    starts.set(
      (train.data as Float32Array).subarray(row * n, (row + 1) * n),
      inducing.data.length + i * n,
    );
  });
  const walk = openDensity(fitted, LEAPFROG);
  try {
    const { chains } = await runWalk(walk, await walk.start(starts), {
      steps: CHAIN,
      stepSize: 0.2,
      key: fold(key, "chain"),
      ...SIZES,
      ...(signal && { signal }),
    });
    return chains.x.data as Float32Array;
  } finally {
    await walk.dispose();
  }
}

/** ∇²log p̃ at points. */
async function hessiansAt({ theta, alpha, parameters }: Fitted, points: Float32Array, n: number) {
  const hessian = compile(
    (t: Tensor, a: Tensor, x: Tensor) => jacobian(dkefScore(parametersOf(t, parameters), a), x),
    [[theta.length], [alpha.length], [null, n]],
    { threads: 1 },
  );
  try {
    const { data } = await hessian(theta, Float32Array.from(alpha), points);
    if (!(data as Float32Array).every(Number.isFinite))
      lost("the second derivatives of the log-density are not finite");
    return data as Float32Array;
  } finally {
    await hessian.dispose();
  }
}

/**
 * log p̃ − log q of points sampled from q, and the share of each component in q at these points.
 */
type Explain = Compiled<
  [Tensor, Tensor, MixtureInputs<Tensor>, Tensor],
  { readonly logWeight: Tensor; readonly shares: Tensor }
>;

function openExplain(
  { theta, alpha, parameters }: Fitted,
  { n, weights: { length: count } }: Mixture,
): Explain {
  return compile(
    (t: Tensor, a: Tensor, m: MixtureInputs<Tensor>, x: Tensor) => ({
      logWeight: sub(dkefLogDensity(parametersOf(t, parameters), a, x), logMixture(m, x)),
      shares: softmax(logComponents(m, x), -1),
    }),
    [
      [theta.length],
      [alpha.length],
      { whitener: [n, count * n], offset: [count * n], logWeights: [count] },
      [null, n],
    ],
    { threads: 1 },
  );
}

/**
 * The share of p̃'s mass that each component explains, up to a factor, from points sampled from the
 * mixture.
 */
async function massOf(
  explain: Explain,
  { theta, alpha }: Fitted,
  mixture: Mixture,
  key: Key,
  signal?: AbortSignal,
): Promise<Float64Array> {
  const inputs = mixtureInputs(mixture);
  const mass = new Float64Array(mixture.weights.length);
  let largest = Number.NEGATIVE_INFINITY;
  for (let from = 0; from < ROUND_SAMPLES; from += CHUNK) {
    signal?.throwIfAborted();
    const x = sampleMixture(mixture, CHUNK, fold(key, from));
    const { logWeight, shares } = await explain(theta, Float32Array.from(alpha), inputs, x);
    const [weights, explained] = [logWeight.data as Float32Array, shares.data as Float32Array];
    const top = weights.reduce((a, b) => Math.max(a, b), largest);
    for (let c = 0; c < mass.length; c++) mass[c] *= Math.exp(largest - top);
    largest = top;
    addExplained(mass, weights, explained, largest);
  }
  return mass;
}

/**
 * mass_c ← mass_c + Σ_i e^{w_i − largest} share_ic. A separate function, because loops within an
 * async function are slow.
 */
function addExplained(
  mass: Float64Array,
  weights: Float32Array,
  shares: Float32Array,
  largest: number,
): void {
  const count = mass.length;
  for (let i = 0; i < weights.length; i++) {
    const w = Math.exp(weights[i] - largest);
    for (let c = 0; c < count; c++) mass[c] += w * shares[i * count + c];
  }
}

/** Local Gaussians at the ends of chains, with weights from importance sampling. */
export async function adaptedMixture(
  fitted: Fitted,
  train: NdArray,
  key: Key,
  signal?: AbortSignal,
): Promise<Mixture> {
  const n = train.shape[1];
  const centres = await centresOf(fitted, train, key, signal);
  const first = localMixture(centres, await hessiansAt(fitted, centres, n), n, BASE_VARIANCE);
  const explain = openExplain(fitted, first);
  let mixture = first;
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const mass = await massOf(explain, fitted, mixture, fold(fold(key, "round"), round), signal);
      const total = mass.reduce((a, b) => a + b, 0);
      if (!(total > 0)) lost("the log-density is not finite where the mass should be");
      mixture = reweight(
        first,
        first.weights.map((w, c) => (TRUST * mass[c]) / total + (1 - TRUST) * w),
      );
    }
  } finally {
    await explain.dispose();
  }
  return mixture;
}
