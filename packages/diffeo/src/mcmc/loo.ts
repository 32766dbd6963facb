/**
 * Leave-one-out cross-validation by Pareto-smoothed importance sampling (A. Vehtari, A. Gelman, J.
 * Gabry, 2017; A. Vehtari et al., 2024). The importance ratios are r_s = 1/p(y_i | θ_s); the
 * largest are replaced by the order statistics of a generalised Pareto distribution fitted to them.
 * With normalised weights w_s,
 *
 *   elpd_i = log Σ_s w_s p(y_i | θ_s),   p_loo = Σ_i (log mean_s p(y_i | θ_s) − elpd_i)
 *
 * k̂ is the shape of that distribution. Above 0.7 the estimate of an observation is not reliable.
 */
import { fail } from "../graph/index.ts";
import { mean, sumOfSquares } from "../host/index.ts";
import { meanEss } from "./diagnostics.ts";
import type { PosteriorDraws } from "./model.ts";
import { smoothedTail } from "./pareto.ts";
import { chainsOf, elementNames } from "./sample-posterior.ts";

/** Result of leave-one-out cross-validation of one model. */
export interface Loo {
  /** The expected log predictive density of new data, and its standard error. */
  readonly elpd: number;
  readonly elpdError: number;
  /** The effective number of parameters p_loo, and its standard error. */
  readonly parameters: number;
  readonly parametersError: number;
  /** The estimate of each observation. */
  readonly pointwise: readonly {
    readonly name: string;
    readonly elpd: number;
    /** k̂ of the observation. */
    readonly shape: number;
  }[];
  /** How many observations have a k̂ above 0.7. */
  readonly unreliable: number;
}

/** Options of `loo`. */
export interface LooOptions {
  /**
   * Effective draws per draw, on which the size of the tail depends. Default: estimated from the
   * chains for each observation.
   */
  readonly efficiency?: number;
}

/** The k̂ above which an estimate is not reliable. */
const LIMIT = 0.7;

/** log Σ e^v */
function logSum(values: Float64Array): number {
  const most = values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  let total = 0;
  for (const v of values) total += Math.exp(v - most);
  return most + Math.log(total);
}

/** One observation left out. */
function leaveOut(chains: readonly Float64Array[], efficiency: number) {
  const all = Float64Array.from(chains.flatMap((chain) => [...chain]));
  const { logWeights, k } = smoothedTail(
    all.map((v) => -v),
    efficiency,
  );
  const norm = logSum(logWeights);
  const elpd = logSum(all.map((v, s) => v + logWeights[s])) - norm;
  return { elpd, shape: k, density: logSum(all) - Math.log(all.length) };
}

const errorOfSum = (values: readonly number[]): number =>
  Math.sqrt((values.length * sumOfSquares(values)) / (values.length - 1));

/**
 * Leave-one-out cross-validation of a model from the log-likelihood of each observation.
 *
 * @param logLikelihood the result of `logLikelihood`: [chains, draws, …] of one `observe`
 * statement, or of several by name
 * @throws DiffeoError of kind `numerical` if a log-likelihood is not finite, of kind `usage` if
 * there are fewer than two observations
 */
export function loo(
  logLikelihood: PosteriorDraws | Readonly<Record<string, PosteriorDraws>>,
  { efficiency }: LooOptions = {},
): Loo {
  const groups = ("data" in logLikelihood ? { y: logLikelihood } : logLikelihood) as Readonly<
    Record<string, PosteriorDraws>
  >;
  const rows = Object.entries(groups).flatMap(([name, draws]) =>
    elementNames(name, draws.shape.slice(2)).map((element, i) => {
      const chains = chainsOf(draws, i);
      const bad = chains.flatMap((chain) => [...chain]).find((v) => !Number.isFinite(v));
      if (bad !== undefined)
        fail(
          "numerical",
          `loo: the log-likelihood of ${element} is ${bad} in a draw`,
          "make sure that the observation is possible under every draw",
        );
      const share = efficiency ?? efficiencyOf(chains);
      return { name: element, ...leaveOut(chains, share) };
    }),
  );
  if (rows.length < 2)
    fail(
      "usage",
      "loo: " +
        `${rows.length === 1 ? "there is 1 independent observation" : "there are no observations"}`,
      "give at least two; a Gaussian process or a hidden Markov chain counts as one",
    );
  const each = rows.map(({ elpd }) => elpd);
  const excess = rows.map(({ elpd, density }) => density - elpd);
  const total = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
  return {
    elpd: total(each),
    elpdError: errorOfSum(each),
    parameters: total(excess),
    parametersError: errorOfSum(excess),
    pointwise: rows.map(({ name, elpd, shape }) => ({ name, elpd, shape })),
    unreliable: rows.filter(({ shape }) => shape > LIMIT).length,
  };
}

/** Effective draws of p(y | θ) per draw. */
function efficiencyOf(chains: readonly Float64Array[]): number {
  const most = chains.reduce((m, chain) => chain.reduce((a, b) => Math.max(a, b), m), -Infinity);
  const densities = chains.map((chain) => chain.map((v) => Math.exp(v - most)));
  const ess = meanEss(densities);
  const draws = chains.reduce((n, chain) => n + chain.length, 0);
  return Number.isFinite(ess) ? Math.min(1, ess / draws) : 1;
}

/** One model of a comparison; see `Loo` for its fields. */
export interface Compared {
  readonly name: string;
  readonly elpd: number;
  readonly elpdError: number;
  /** The difference of `elpd` from the best model, and its standard error. */
  readonly difference: number;
  readonly differenceError: number;
  readonly parameters: number;
  readonly unreliable: number;
}

/**
 * Compares models by their cross-validation; the best is first. Differences are computed per
 * observation, so all models must have the same observations.
 *
 * @throws DiffeoError of kind `usage` if there are fewer than two models, or their numbers of
 * observations differ
 * @example
 * import type { PosteriorDraws } from "diffeo/mcmc";
 *
 * const best = (a: PosteriorDraws, b: PosteriorDraws) => compare({ a: loo(a), b: loo(b) })[0].name;
 */
export function compare(models: Readonly<Record<string, Loo>>): Compared[] {
  const sorted = Object.entries(models).toSorted(([, a], [, b]) => b.elpd - a.elpd);
  if (sorted.length < 2) fail("usage", "compare: fewer than two models", "give at least two");
  const [[first, best]] = sorted;
  return sorted.map(([name, model]) => {
    if (model.pointwise.length !== best.pointwise.length)
      fail(
        "usage",
        `compare: ${first} has ${best.pointwise.length} observations, ${name} ` +
          `${model.pointwise.length}`,
        "compare models of the same data",
      );
    const differences = model.pointwise.map(({ elpd }, i) => elpd - best.pointwise[i].elpd);
    const same = model === best;
    return {
      name,
      elpd: model.elpd,
      elpdError: model.elpdError,
      difference: same ? 0 : mean(differences) * differences.length,
      differenceError: same ? 0 : errorOfSum(differences),
      parameters: model.parameters,
      unreliable: model.unreliable,
    };
  });
}
