/**
 * The normaliser by annealed importance sampling (R. Neal, 2001). Particles drawn from a normalised q walk through
 *
 *   log p_β = β log p̃ + (1 − β) log q,   β: 0 → 1,   log w = Σ_k (β_{k+1} − β_k)(log p̃ − log q)(x_k),   E[w] = ∫p̃
 *
 * one transition at each β. E[w] is right whatever q and the transitions are, if they do not depend on the particles that
 * are weighed; all that is adapted here is adapted on particles of its own, before:
 *
 *   centres   chains at β = 1 from the inducing points and from training points find where p̃ has its mass
 *   weights   rounds of plain importance sampling from q set π_c to the share of mass that component c explains
 *   schedule  a pilot walk measures sd_β(log p̃ − log q) and the step size; β is placed at equal steps of ∫ sd_β dβ, which
 *             gives log w the least variance, (∫ sd_β dβ)²/K, that K steps of fast transitions can have
 */
import { compile } from "diffeo/engine";
import { fail, jacobian, type NdArray, softmax, sub, type Tensor } from "diffeo/graph";
import { BASE_VARIANCE, dkefScore, logDensity } from "diffeo/model";
import { choice, fold, type Key } from "diffeo/random";
import { type Normaliser, normaliserOf } from "./evaluate.ts";
import type { Fitted } from "./fit.ts";
import { type Walk, walkOf } from "./hamiltonian.ts";
import {
  localMixture,
  logComponents,
  logMixture,
  type Mixture,
  type MixtureInputs,
  mixtureInputs,
  mixtureShapes,
  reweighted,
  sampleMixture,
} from "./mixture.ts";
import { parametersOf } from "./steps.ts";

export interface AnnealOptions {
  /** Default 2,048; doubled, up to six times, while fewer than `enough` are effective. */
  readonly particles?: number;
  readonly enough?: number;
  /** K. Default 10: q is close to p̃ already. */
  readonly temperatures?: number;
  readonly key: Key;
  readonly signal?: AbortSignal;
}

export interface Annealed extends Normaliser {
  /** Share of transitions accepted. */
  readonly acceptance: number;
}

const CHUNK = 512;
const LEAPFROG = 3;
const ACCEPTANCE = 0.75;
/** Training points among the starts of the chains, beside all inducing points. */
const STARTS = 300;
const CHAIN = 100;
const ROUNDS = 4;
const ROUND_SAMPLES = 16_384;
/** Share of a round's verdict in the new weights; the rest stays as at the start. */
const TRUST = 0.75;

const adapted = (size: number, accepted: number): number =>
  Math.min(2, Math.max(1e-3, size * Math.exp(0.4 * (accepted - ACCEPTANCE))));

const lost = (what: string): never =>
  fail("numerical", `the normaliser cannot be found: ${what}`, "whiten the table, and look for outliers in it");

/** Ends of chains that leave p̃ as it is, from inducing and training points. */
async function centresOf(fitted: Fitted, train: NdArray, key: Key, signal?: AbortSignal): Promise<Float32Array> {
  const { inducing } = fitted.parameters;
  const [rows, n] = train.shape;
  const chosen = choice(fold(key, "rows"), rows, Math.min(STARTS, rows), { replace: false }).data;
  const starts = new Float32Array(inducing.data.length + chosen.length * n);
  starts.set(inducing.data as Float32Array);
  chosen.forEach((row, i) => {
    starts.set((train.data as Float32Array).subarray(row * n, (row + 1) * n), inducing.data.length + i * n);
  });
  // At β = 1 the other end of the path does not matter.
  const walk = walkOf(fitted, localMixture(new Float32Array(0), [], n, BASE_VARIANCE), LEAPFROG);
  try {
    let particles = await walk.start(starts);
    let size = 0.2;
    for (let i = 0; i < CHAIN; i++) {
      signal?.throwIfAborted();
      const moved = await walk.move(particles, 1, size, fold(fold(key, "chain"), i));
      particles = moved.particles;
      size = adapted(size, moved.accepted);
    }
    return particles.x.data as Float32Array;
  } finally {
    await walk.dispose();
  }
}

/** Local Gaussians at the ends of chains, under weights that importance sampling has set. */
export async function adaptedMixture(fitted: Fitted, train: NdArray, key: Key, signal?: AbortSignal): Promise<Mixture> {
  const { theta, parameters } = fitted;
  const alpha = Float32Array.from(fitted.alpha);
  const n = train.shape[1];
  const centres = await centresOf(fitted, train, key, signal);
  const hessian = compile(
    (t: Tensor, a: Tensor, x: Tensor) => jacobian(dkefScore(parametersOf(t, parameters), a), x),
    [[theta.length], [alpha.length], [null, n]],
    { threads: 1 },
  );
  const hessians = (await hessian(theta, alpha, centres)).data as Float32Array;
  await hessian.dispose();
  if (!hessians.every(Number.isFinite)) lost("the second derivatives of the log-density are not finite");
  const first = localMixture(centres, hessians, n, BASE_VARIANCE);

  const explain = compile(
    (t: Tensor, a: Tensor, m: MixtureInputs<Tensor>, x: Tensor) => ({
      logWeight: sub(logDensity(parametersOf(t, parameters), a, x), logMixture(m, x)),
      shares: softmax(logComponents(m, x), -1),
    }),
    [[theta.length], [alpha.length], mixtureShapes(first), [null, n]],
    { threads: 1 },
  );
  let mixture = first;
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const inputs = mixtureInputs(mixture);
      const mass = new Float64Array(first.weights.length);
      let largest = Number.NEGATIVE_INFINITY;
      for (let from = 0; from < ROUND_SAMPLES; from += CHUNK) {
        signal?.throwIfAborted();
        const x = sampleMixture(mixture, CHUNK, fold(fold(fold(key, "round"), round), from));
        const { logWeight, shares } = await explain(theta, alpha, inputs, x);
        const weights = logWeight.data as Float32Array;
        const top = weights.reduce((a, b) => Math.max(a, b), largest);
        for (let c = 0; c < mass.length; c++) mass[c] *= Math.exp(largest - top);
        largest = top;
        for (let i = 0; i < CHUNK; i++) {
          const w = Math.exp(weights[i] - largest);
          for (let c = 0; c < mass.length; c++) mass[c] += w * (shares.data[i * mass.length + c] as number);
        }
      }
      const total = mass.reduce((a, b) => a + b, 0);
      if (!(total > 0)) lost("the log-density is not finite where the mass should be");
      mixture = reweighted(
        first,
        first.weights.map((w, c) => (TRUST * mass[c]) / total + (1 - TRUST) * w),
      );
    }
  } finally {
    await explain.dispose();
  }
  return mixture;
}

/** β_0 = 0 … β_K = 1, and the step size of the transition to each. */
interface Schedule {
  readonly betas: readonly number[];
  readonly sizes: readonly number[];
}

function spread(p: ArrayLike<number>, q: ArrayLike<number>): number {
  const values = Float64Array.from(p, (v, i) => v - q[i]);
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  return Math.sqrt(values.reduce((a, b) => a + (b - mean) ** 2, 0) / values.length);
}

const PILOT_PARTICLES = 256;
/** Δβ·sd of the pilot's own steps. */
const PILOT_STEP = 0.15;
/** A path so long, ∫ sd_β dβ ≈ 150, would give log w a variance of 150²/K: one particle would outweigh all others. */
const PILOT_STEPS = 1000;

async function pilot(
  walk: Walk,
  mixture: Mixture,
  temperatures: number,
  key: Key,
  signal?: AbortSignal,
): Promise<Schedule> {
  let particles = await walk.start(sampleMixture(mixture, PILOT_PARTICLES, fold(key, "start")));
  let size = 0.3;
  let beta = 0;
  const seen = [{ beta, along: 0, size }];
  for (let i = 0; beta < 1; i++) {
    signal?.throwIfAborted();
    if (i === PILOT_STEPS) lost(`after ${i} steps of annealing β is ${beta.toPrecision(2)}, not 1`);
    const sd = Math.max(spread(particles.logP.data as Float32Array, particles.logQ.data as Float32Array), 1e-3);
    if (!Number.isFinite(sd)) lost(`the log-density is not finite where β is ${beta.toPrecision(2)}`);
    const next = Math.min(1, beta + Math.min(PILOT_STEP / sd, 0.05));
    const along = seen[seen.length - 1].along + sd * (next - beta);
    beta = next;
    const moved = await walk.move(particles, beta, size, fold(fold(key, "move"), i));
    particles = moved.particles;
    size = adapted(size, moved.accepted);
    seen.push({ beta, along, size });
  }
  const end = seen[seen.length - 1].along;
  const betas: number[] = [];
  const sizes: number[] = [];
  for (let k = 0, at = 0; k <= temperatures; k++) {
    const goal = (end * k) / temperatures;
    while (at < seen.length - 2 && seen[at + 1].along < goal) at++;
    const [a, b] = [seen[at], seen[at + 1]];
    const share = Math.min(1, Math.max(0, (goal - a.along) / (b.along - a.along)));
    betas.push(k === temperatures ? 1 : a.beta + share * (b.beta - a.beta));
    sizes.push(a.size + share * (b.size - a.size));
  }
  return { betas, sizes };
}

/** log ∫p̃. `train` gives some of the chains their starts. */
export async function annealedNormaliser(fitted: Fitted, train: NdArray, options: AnnealOptions): Promise<Annealed> {
  const { particles: wanted = 2048, enough = 1000, temperatures = 10, key, signal } = options;
  const mixture = await adaptedMixture(fitted, train, fold(key, "mixture"), signal);
  const walk = walkOf(fitted, mixture, LEAPFROG);
  const logWeights: number[] = [];
  const shares: number[] = [];
  try {
    const { betas, sizes } = await pilot(walk, mixture, temperatures, fold(key, "pilot"), signal);
    const run = async (index: number): Promise<void> => {
      const own = fold(fold(key, "walk"), index);
      let particles = await walk.start(sampleMixture(mixture, CHUNK, fold(own, "start")));
      const weights = new Float64Array(CHUNK);
      for (let k = 0; k < temperatures; k++) {
        signal?.throwIfAborted();
        for (let i = 0; i < CHUNK; i++)
          weights[i] +=
            (betas[k + 1] - betas[k]) * ((particles.logP.data[i] as number) - (particles.logQ.data[i] as number));
        const moved = await walk.move(particles, betas[k + 1], sizes[k + 1], fold(own, k));
        particles = moved.particles;
        shares.push(moved.accepted);
      }
      logWeights.push(...weights);
    };
    for (let goal = wanted; ; goal *= 2) {
      while (logWeights.length < goal) await run(logWeights.length / CHUNK);
      const found = normaliserOf(logWeights);
      if (!Number.isFinite(found.logZ)) lost("the log-density is not finite on the way");
      if (found.effectiveSamples >= enough || goal >= 64 * wanted)
        return { ...found, acceptance: shares.reduce((a, b) => a + b, 0) / shares.length };
    }
  } finally {
    await walk.dispose();
  }
}
