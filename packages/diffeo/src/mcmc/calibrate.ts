/**
 * Simulation-based calibration (S. Talts, M. Betancourt, D. Simpson, A. Vehtari, A. Gelman, 2018):
 *
 *   θ ~ p(θ),   y ~ p(y | θ),   θ_1 … θ_L ~ p(θ | y)   ⇒   the rank of θ among θ_1 … θ_L is uniform
 *
 * Datasets run in parallel, one per chain of one graph. With 21 bins the statistic χ² has 20
 * degrees of freedom, P(χ² > x) = e^{−x/2} Σ_{k<10} (x/2)^k/k!.
 */
import { constant, fail, type Tensor, vmap } from "../graph/index.ts";
import { mapValues } from "../host/index.ts";
import { fold, type Key } from "../random/index.ts";
import { type Data, dataArrays } from "./data.ts";
import type { Program } from "./declarations.ts";
import type { PosteriorModel } from "./model.ts";
import type { StatementModel } from "./notation.ts";
import type { Bounded, Parameter, Standardised, Values } from "./parameters.ts";
import { type NamedDraws, priorPredictive } from "./predict.ts";
import { chainsOf, elementNames, openPosteriorSampler } from "./sample-posterior.ts";
import { run } from "./statements.ts";

/** Options of `calibrate`. */
export interface CalibrateOptions {
  readonly key: Key;
  /** Data of the model other than its observations, such as covariates and sizes. */
  readonly data?: Data;
  /** Number of simulated datasets. Default 256, run in rounds of 64. */
  readonly datasets?: number;
  /** Transitions per draw that is kept. Default 5. */
  readonly thin?: number;
  /** Transitions of the warm-up. Default 300. */
  readonly warmup?: number;
  /** The mean acceptance that the step size is adapted to. Default 0.9. */
  readonly targetAcceptance?: number;
  /** The device of the graphs. Default `wasm`, the compiler for small graphs. */
  readonly device?: string;
  /** Called after each round. */
  readonly onRound?: (done: number, of: number) => void;
  readonly signal?: AbortSignal;
}

/** Ranks of the true value of one parameter element. */
export interface Ranks {
  /** How many of the true values fall into each of the 21 bins of ranks. */
  readonly counts: readonly number[];
  /** The p-value of χ² under uniform ranks. */
  readonly p: number;
}

/** The result of `calibrate`. */
export interface Calibration {
  readonly datasets: number;
  /** By parameter element, such as `theta[3]`. */
  readonly ranks: Readonly<Record<string, Ranks>>;
  /** Transitions that diverged, over all datasets. */
  readonly diverged: number;
}

const ROUND = 64;
const BINS = 21;
/** Ranks are 0 … 104, five per bin. */
const DRAWS = 5 * BINS - 1;

/** P(χ²₂₀ > x) */
export function chiSquared20(x: number): number {
  let [term, total] = [1, 1];
  for (let k = 1; k < (BINS - 1) / 2; k++) {
    term *= x / 2 / k;
    total += term;
  }
  return Math.exp(-x / 2) * total;
}

function pOf(counts: readonly number[]): number {
  const all = counts.reduce((a, b) => a + b, 0);
  const expected = all / BINS;
  return chiSquared20(counts.reduce((s, n) => s + (n - expected) ** 2 / expected, 0));
}

/**
 * The parameter with its coordinates evaluated at the given data, without the simulated
 * observations.
 */
function withData(parameter: Parameter, data: Values): Parameter {
  const [place, ...shape] = (Array.isArray(parameter) ? parameter : [parameter]) as [
    Parameter,
    ...number[],
  ];
  if ("map" in place) return parameter;
  const fixed = mapValues(
    place as unknown as Record<string, ((before: Values, data: Values) => Tensor) | undefined>,
    (f) => f && ((before: Values) => f(before, data)),
  );
  return [fixed as Bounded | Standardised, ...shape];
}

/** The program with simulated values in all observe statements, also in those with a value. */
const withObserved =
  (program: Program, simulated: Values): Program =>
  (statements, data) =>
    program(
      {
        ...statements,
        observe: (name, distribution) => statements.observe(name, distribution, simulated[name]),
      },
      data,
    );

/** The model of many datasets: row c of the simulated data belongs to chain c. */
function ofRows(model: StatementModel, shared: Data, first: Data): PosteriorModel {
  const whole = mapValues(dataArrays({ ...shared, ...first }), (a) => constant(a, "float64"));
  const common = mapValues(dataArrays(shared), (a) => constant(a, "float64"));
  const declared = model.parameters as (data: Data) => Readonly<Record<string, Parameter>>;
  return {
    parameters: () =>
      mapValues(declared({ ...shared, ...first }), (parameter) => withData(parameter, whole)),
    logDensity: (values, data) =>
      vmap(
        (one: Values, own: Values) =>
          run(withObserved(model.program, own), { ...common, ...own }, ({ name }) => one[name])
            .logDensity,
      )(values, data),
  };
}

/** The rows of one round, as data by name. */
const rowsAt = (draws: NamedDraws, from: number, count: number): Data =>
  mapValues(draws, ({ shape: [, , ...shape], data }) => {
    const size = shape.reduce((a, b) => a * b, 1);
    return {
      shape: [count, ...shape],
      dtype: "float64" as const,
      data: data.slice(from * size, (from + count) * size),
    };
  });

/** A single dataset. */
const oneOf = (draws: NamedDraws): Data =>
  mapValues(draws, ({ shape: [, , ...shape], data }) => {
    const size = shape.reduce((a, b) => a * b, 1);
    return { shape, dtype: "float64" as const, data: data.slice(0, size) };
  });

/** Adds the ranks of the parameters that a round was simulated from among their draws. */
function countRanks(
  counts: Record<string, number[]>,
  prior: NamedDraws,
  draws: NamedDraws,
  from: number,
  thin: number,
): void {
  for (const [name, own] of Object.entries(draws))
    elementNames(name, own.shape.slice(2)).forEach((element, i, all) => {
      counts[element] ??= new Array<number>(BINS).fill(0);
      const bins = counts[element];
      chainsOf(own, i).forEach((chain, c) => {
        const truth = prior[name].data[(from + c) * all.length + i];
        const rank = chain.filter((v, at) => at % thin === 0 && v < truth).length;
        bins[Math.floor((rank * BINS) / (DRAWS + 1))]++;
      });
    });
}

/**
 * Simulation-based calibration: checks that posteriors of simulated data cover the parameters they
 * were simulated from. It tests the model and the sampler together. A p far below 1/(number of
 * parameters) shows an error in one of them.
 *
 * @throws DiffeoError of kind `usage` if the prior cannot be sampled or the model has no `observe`
 * statement
 * @example
 * import { halfNormal, normal } from "diffeo/distribution";
 * import { mul } from "diffeo/graph";
 * import { key } from "diffeo/random";
 *
 * const m = model(({ parameter, observe }, data) => {
 *   const slope = parameter("slope", normal(0, 1));
 *   const sigma = parameter("sigma", halfNormal(1));
 *   observe("y", normal(mul(slope, data.x), sigma));
 * });
 * const { ranks } = await calibrate(m, { key: key(1), data: { x: [1, 2, 3] } });
 * ranks.slope.p;
 */
export async function calibrate(
  model: StatementModel,
  options: CalibrateOptions,
): Promise<Calibration> {
  const { key, data = {}, datasets = 256, thin = 5, onRound } = options;
  const { warmup = 300, targetAcceptance = 0.9, device = "wasm" } = options;
  if (!(Number.isSafeInteger(datasets) && datasets >= 1 && Number.isSafeInteger(thin) && thin >= 1))
    fail("usage", `calibrate: ${datasets} datasets, thin ${thin}`, "give integers from 1");
  const rounds = Math.ceil(datasets / ROUND);
  const { prior, predictive } = await priorPredictive(model, {
    key: fold(key, "prior"),
    data,
    draws: rounds * ROUND,
  });
  const names = Object.keys(predictive);
  if (names.length === 0)
    fail("usage", "calibrate: the model has no observations", "add an observe statement");
  const shared = Object.fromEntries(Object.entries(data).filter(([name]) => !names.includes(name)));
  const sampler = openPosteriorSampler(ofRows(model, shared, oneOf(predictive)), {
    chains: ROUND,
    block: ROUND,
    draws: DRAWS * thin,
    warmup,
    targetAcceptance,
    device,
    // Each chain has its own data, so chains are not compared.
    restart: false,
  });
  const counts: Record<string, number[]> = {};
  let diverged = 0;
  try {
    for (let round = 0; round < rounds; round++) {
      const { signal } = options;
      const posterior = await sampler({
        key: fold(key, round),
        data: rowsAt(predictive, round * ROUND, ROUND),
        ...(signal && { signal }),
      });
      for (const chain of posterior.chains) diverged += chain.diverged.reduce((a, b) => a + b, 0);
      countRanks(counts, prior, posterior.draws, round * ROUND, thin);
      onRound?.(round + 1, rounds);
    }
  } finally {
    await sampler.dispose();
  }
  return {
    datasets: rounds * ROUND,
    ranks: mapValues(counts, (own) => ({ counts: own, p: pOf(own) })),
    diverged,
  };
}
