/**
 * The normaliser by annealed importance sampling (R. Neal, 2001). Particles sampled from a
 * normalised q move through
 *
 *   log p_β = β log p̃ + (1 − β) log q,   β: 0 → 1,   log w = Σ_k (β_{k+1} − β_k)(log p̃ − log q)(x_k),   E[w] = ∫p̃
 *
 * one transition at each β. E[w] is exact for any q and any transitions that do not depend on the
 * weighted particles. Everything that is adapted is therefore adapted beforehand, on separate
 * particles: the mixture q (`adapted-mixture.ts`), and
 *
 *   schedule  a pilot walk measures sd_β(log p̃ − log q) and the step size; β is placed at equal
 *             steps of ∫ sd_β dβ, which gives log w the least variance, (∫ sd_β dβ)²/K, that K steps
 *             of fast transitions can have
 */
import type { NdArray } from "diffeo/graph";
import { mean, sumOfSquares } from "diffeo/host";
import { adaptedStepSize, type Chains, type Walk } from "diffeo/mcmc";
import { fold, type Key } from "diffeo/random";
import { adaptedMixture, CHUNK, LEAPFROG, lost, SIZES } from "./adapted-mixture.ts";
import { type Normaliser, normaliserOf } from "./evaluate.ts";
import type { Fitted } from "./fitted.ts";
import { type Mixture, sampleMixture } from "./mixture.ts";
import { openPath, pathWeights } from "./path.ts";

/** The numbers of particles and temperatures that estimate a normaliser. */
export interface AnnealOptions {
  /** Default 2,048. Doubled, up to six times, while the effective number is below `enough`. */
  readonly particles?: number;
  readonly enough?: number;
  /** K. Default 10, because q is already close to p̃. */
  readonly temperatures?: number;
  readonly key: Key;
  readonly signal?: AbortSignal;
}

/** The estimate of a normaliser by annealed importance sampling. */
export interface Annealed extends Normaliser {
  /** Share of transitions accepted. */
  readonly acceptance: number;
}

/** log p̃ − log q of every particle: the logarithm of its weight if it were sampled from q. */
function logRatios({ values: [logP, logQ] }: Chains<NdArray>): Float64Array {
  return Float64Array.from(logP.data as Float32Array, (p, i) => p - (logQ.data[i] as number));
}

/** β_0 = 0 … β_K = 1, and the step size of the transition at each. */
interface Schedule {
  readonly betas: readonly number[];
  readonly sizes: readonly number[];
}

const deviation = (values: Float64Array): number => Math.sqrt(sumOfSquares(values) / values.length);

const PILOT_PARTICLES = 256;
/** Δβ·sd per step of the pilot. */
const PILOT_STEP = 0.15;
/**
 * Maximum path length. With ∫ sd_β dβ ≈ 150, log w would have a variance of 150²/K, so one particle
 * would outweigh all others.
 */
const PILOT_STEPS = 1000;

/** A point of the pilot walk: β, ∫ sd_β dβ up to it, and the step size there. */
interface Seen {
  readonly beta: number;
  readonly along: number;
  readonly size: number;
}

async function pilot(
  walk: Walk,
  mixture: Mixture,
  key: Key,
  signal?: AbortSignal,
): Promise<Seen[]> {
  let chains = await walk.start(sampleMixture(mixture, PILOT_PARTICLES, fold(key, "start")));
  let size = 0.3;
  let beta = 0;
  const seen: Seen[] = [{ beta, along: 0, size }];
  for (let i = 0; beta < 1; i++) {
    signal?.throwIfAborted();
    if (i === PILOT_STEPS)
      lost(`annealing reached only β = ${beta.toPrecision(2)} after ${i} steps`);
    const sd = Math.max(deviation(logRatios(chains)), 1e-3);
    if (!Number.isFinite(sd)) lost(`the log-density is not finite at β = ${beta.toPrecision(2)}`);
    const next = Math.min(1, beta + Math.min(PILOT_STEP / sd, 0.05));
    const along = seen[seen.length - 1].along + sd * (next - beta);
    beta = next;
    const moved = await walk.move(chains, {
      stepSize: size,
      weights: pathWeights(beta),
      key: fold(fold(key, "move"), i),
    });
    chains = moved.chains;
    size = adaptedStepSize(size, moved.share, SIZES);
    seen.push({ beta, along, size });
  }
  return seen;
}

/** K + 1 values of β at equal steps of the pilot's integral, interpolated linearly. */
function placeTemperatures(seen: readonly Seen[], temperatures: number): Schedule {
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

/**
 * Moves one chunk of particles from q to p̃. Returns their log-weights, and the share accepted at
 * every temperature.
 */
async function weigh(
  walk: Walk,
  mixture: Mixture,
  { betas, sizes }: Schedule,
  key: Key,
  signal?: AbortSignal,
): Promise<{ readonly logWeights: Float64Array; readonly shares: readonly number[] }> {
  let chains = await walk.start(sampleMixture(mixture, CHUNK, fold(key, "start")));
  const logWeights = new Float64Array(CHUNK);
  const shares: number[] = [];
  for (let k = 0; k + 1 < betas.length; k++) {
    signal?.throwIfAborted();
    const step = betas[k + 1] - betas[k];
    logRatios(chains).forEach((ratio, i) => {
      logWeights[i] += step * ratio;
    });
    const moved = await walk.move(chains, {
      stepSize: sizes[k + 1],
      weights: pathWeights(betas[k + 1]),
      key: fold(key, k),
    });
    chains = moved.chains;
    shares.push(moved.share);
  }
  return { logWeights, shares };
}

/** log ∫p̃. `train` provides the starts of some chains. */
export async function annealedNormaliser(
  fitted: Fitted,
  train: NdArray,
  options: AnnealOptions,
): Promise<Annealed> {
  const { particles: wanted = 2048, enough = 1000, temperatures = 10, key, signal } = options;
  const mixture = await adaptedMixture(fitted, train, fold(key, "mixture"), signal);
  const walk = openPath(fitted, mixture, LEAPFROG);
  const logWeights: number[] = [];
  const shares: number[] = [];
  try {
    const schedule = placeTemperatures(
      await pilot(walk, mixture, fold(key, "pilot"), signal),
      temperatures,
    );
    for (let goal = wanted; ; goal *= 2) {
      while (logWeights.length < goal) {
        const own = fold(fold(key, "walk"), logWeights.length / CHUNK);
        const found = await weigh(walk, mixture, schedule, own, signal);
        logWeights.push(...found.logWeights);
        shares.push(...found.shares);
      }
      const found = normaliserOf(logWeights);
      if (!Number.isFinite(found.logZ)) lost("the log-density is not finite during annealing");
      if (found.effectiveSamples >= enough || goal >= 64 * wanted)
        return { ...found, acceptance: mean(shares) };
    }
  } finally {
    await walk.dispose();
  }
}
