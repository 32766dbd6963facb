/**
 * Fits of a density that differ only in their seed. The best one has the largest likelihood of
 * validation rows. Each seed prepares the table differently, so likelihoods are compared in the
 * table's units.
 */
import { fail } from "diffeo/graph";
import { fold, key } from "diffeo/random";
import type { Prepared } from "../table/prepare.ts";
import {
  type DensityEvaluation,
  evaluateDensity,
  validationLikelihood,
} from "./density-evaluation.ts";
import { type DensityRun, type DensityRunOptions, runDensity } from "./density-run.ts";

/** The seeds, and the options of each fit. */
export interface DensitySeedsOptions<P> extends DensityRunOptions {
  /** Number of seeds, starting at `seed`. */
  readonly seeds: number;
  /** The table as prepared with a seed. */
  readonly prepare: (seed: number) => Promise<P>;
}

/** The fit with one seed. */
export interface DensityCandidate<P> {
  readonly seed: number;
  readonly prepared: P;
  readonly run: DensityRun;
  /** Mean log-likelihood of the validation rows, in the table's units. */
  readonly validation: number;
}

/** Fits of several seeds and the best of them. */
export interface DensitySeeds<P> {
  readonly best: DensityCandidate<P>;
  readonly tried: readonly Pick<DensityCandidate<P>, "seed" | "validation">[];
}

/** Fits once per seed, and keeps the best. */
export async function fitDensitySeeds<P extends { readonly data: Prepared }>({
  seeds,
  prepare,
  ...options
}: DensitySeedsOptions<P>): Promise<DensitySeeds<P>> {
  if (!(Number.isInteger(seeds) && seeds >= 1))
    fail("usage", `\`seeds\` is ${seeds}`, "give an integer, at least 1");
  const { seed: first } = options;
  const candidates: DensityCandidate<P>[] = [];
  for (let seed = first; seed < first + seeds; seed++) {
    const prepared = await prepare(seed);
    const run = await runDensity(prepared.data, { ...options, seed });
    const validation = await validationLikelihood(run, prepared.data);
    candidates.push({ seed, prepared, run, validation });
  }
  return {
    best: candidates.reduce((best, one) => (one.validation > best.validation ? one : best)),
    tried: candidates.map(({ seed, validation }) => ({ seed, validation })),
  };
}

/** Compares a fit with a Gaussian; undefined if the fit lost numbers. */
export async function evaluateDensityFit<P extends { readonly data: Prepared }>(
  { seed, prepared, run: { fit, measures, spec } }: DensityCandidate<P>,
  signal?: AbortSignal,
): Promise<DensityEvaluation | undefined> {
  if (!measures || fit.failure !== undefined) return undefined;
  const setting = { key: fold(key(seed), "worth"), signal };
  return evaluateDensity({ spec, fitted: fit.chosen }, prepared.data, setting);
}
