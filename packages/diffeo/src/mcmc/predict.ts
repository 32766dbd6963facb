/**
 * Predictions of a model of statements:
 *
 *   prior predictive       θ ~ p(θ),       y ~ p(y | θ)
 *   posterior predictive   θ ~ p(θ | y),   ỹ ~ p(ỹ | θ), at the same data or at others
 *   log-likelihood         log p(y_i | θ), one number per draw and independent observation
 */

import { fail, type Shape, type Tensor } from "../graph/index.ts";
import { mapValues } from "../host/index.ts";
import { type Key, sampleKeys } from "../random/index.ts";
import type { Data } from "./data.ts";
import type { Declaration, Observation, Run } from "./declarations.ts";
import type { PosteriorDraws } from "./model.ts";
import type { StatementModel } from "./notation.ts";
import type { Values } from "./parameters.ts";
import {
  drawObservations,
  drawPrior,
  freeRun,
  type RunOptions,
  tensorsOf,
} from "./predictive-draws.ts";
import { atRows, type Rows } from "./rows.ts";
import type { Posterior } from "./sample-posterior.ts";
import { run } from "./statements.ts";

/** Options of `priorPredictive`. */
export interface PriorPredictiveOptions extends RunOptions {
  readonly key: Key;
  /** Number of draws. Default 1,000. */
  readonly draws?: number;
}

/** Options of `posteriorPredictive`. */
export interface PosteriorPredictiveOptions extends RunOptions {
  readonly key: Key;
}

/** Draws of several quantities by name, [chains, draws, …]. */
export type NamedDraws = Readonly<Record<string, PosteriorDraws>>;

/** Draws from the prior in the shape of one chain, [1, draws, …]. */
export interface PriorDraws {
  /** Parameters and derived quantities. */
  readonly prior: NamedDraws;
  /** Observations by the names of their statements. */
  readonly predictive: NamedDraws;
}

/** Rows as draws of the given number of chains. */
const asDraws = (rows: Rows, chains: number): NamedDraws =>
  mapValues(rows, ({ shape: [count, ...shape], data }) => ({
    shape: [chains, count / chains, ...shape],
    data,
  }));

/** Draws of the parameters of a model, with all chains concatenated. */
const rowsOf = (
  posterior: Posterior,
  parameters: readonly Declaration[],
): [Rows, number, number] => {
  const chains = posterior.chains.length;
  const [{ shape }] = Object.values(posterior.draws);
  const rows = Object.fromEntries(
    parameters.map(({ name }) => {
      const draws =
        posterior.draws[name] ??
        fail("usage", `the posterior has no parameter "${name}"`, "give a posterior of this model");
      return [name, { shape: [shape[0] * shape[1], ...draws.shape.slice(2)], data: draws.data }];
    }),
  );
  return [rows, shape[0] * shape[1], chains];
};

function requireStatements(model: StatementModel): void {
  if (!("program" in model))
    fail(
      "usage",
      "predictions need a model of statements, this one has parameters and a log-density",
      "write it as model(({ parameter, observe }, data) => …)",
    );
}

const dataOf = (posterior: Posterior): Data => posterior.data;

/** Throws if the density has a term that cannot be sampled. */
function requireNoFactors({ factors }: Run): void {
  if (factors.length > 0)
    fail(
      "usage",
      `factor("${factors[0]}") is a term of the density that cannot be sampled`,
      "write it as the prior of a parameter, or as an observation",
    );
}

/**
 * Samples parameters, derived quantities and observations from the prior. The data need not contain
 * the observations; their shapes are then those of their distributions.
 *
 * @throws DiffeoError of kind `usage` if a parameter has a flat density, or the model has a
 * `factor`
 * @example
 * import { normal } from "diffeo/distribution";
 * import { key } from "diffeo/random";
 *
 * const m = model(({ parameter, observe }) => {
 *   const mu = parameter("mu", normal(0, 10));
 *   observe("y", normal(mu, 1));
 * });
 * const { prior, predictive } = await priorPredictive(m, { key: key(1) });
 */
export async function priorPredictive(
  model: StatementModel,
  options: PriorPredictiveOptions,
): Promise<PriorDraws> {
  requireStatements(model);
  const { draws = 1000, key } = options;
  const data = tensorsOf(model, options.data ?? {});
  const found = freeRun(model, data);
  requireNoFactors(found);
  const keys = sampleKeys(key, draws);
  const rows: Record<string, { shape: Shape; data: Float64Array }> = {};
  for (const declared of found.parameters) {
    const values = await drawPrior(model, data, declared, rows, keys, options);
    rows[declared.name] = { shape: [draws, ...(declared.shape ?? [])], data: values };
  }
  const derived =
    Object.keys(found.derived).length > 0
      ? await atRows(
          (one) => run(model.program, data, ({ name }) => one[name], true).derived,
          rows,
          draws,
          options,
        )
      : {};
  const predictive = await drawObservations(model, data, found, rows, keys, options);
  return { prior: asDraws({ ...rows, ...derived }, 1), predictive: asDraws(predictive, 1) };
}

/**
 * Samples new observations, one set per draw of the posterior.
 *
 * @param options.data other data to predict at, without the observations. Default: the data of the
 * posterior
 * @returns draws by the names of `observe` statements, [chains, draws, …]
 * @throws DiffeoError of kind `usage` if the model has no observations
 */
export async function posteriorPredictive(
  model: StatementModel,
  posterior: Posterior,
  options: PosteriorPredictiveOptions,
): Promise<NamedDraws> {
  requireStatements(model);
  const data = tensorsOf(model, options.data ?? dataOf(posterior));
  const found = freeRun(model, data);
  requireObservations(found, "posteriorPredictive");
  const [rows, count, chains] = rowsOf(posterior, found.parameters);
  requireShapes(found, rows);
  const keys = sampleKeys(options.key, count);
  return asDraws(await drawObservations(model, data, found, rows, keys, options), chains);
}

/** Throws if a model has nothing to predict. */
function requireObservations({ observations }: Run, what: string): void {
  if (observations.length === 0)
    fail(
      "usage",
      `${what}: the model has no observations`,
      "add an observe statement; a likelihood written with factor has no observations",
    );
}

/** Throws if the sizes of parameters at these data are not those of the posterior. */
function requireShapes({ parameters }: Run, rows: Rows): void {
  for (const { name, shape = [] } of parameters) {
    const own = rows[name].shape.slice(1);
    if (own.join() !== shape.join())
      fail(
        "shape",
        `parameter("${name}") has shape [${shape}] at these data, and [${own}] in the posterior`,
        "give data with the same groups",
      );
  }
}

/**
 * Computes the log-density of each independent observation per draw of the posterior, which is the
 * input of `loo`.
 *
 * @returns by the names of `observe` statements, [chains, draws, …]
 */
export async function logLikelihood(
  model: StatementModel,
  posterior: Posterior,
  options: Omit<RunOptions, "data"> = {},
): Promise<NamedDraws> {
  requireStatements(model);
  const data = tensorsOf(model, dataOf(posterior));
  const found = freeRun(model, data);
  requireObservations(found, "logLikelihood");
  const [rows, count, chains] = rowsOf(posterior, found.parameters);
  const seen = (one: Values): readonly Observation[] =>
    run(model.program, data, ({ name }) => one[name]).observations;
  const each = await atRows(
    (one) =>
      Object.fromEntries(
        seen(one).map(({ name, distribution, value }) => [
          name,
          distribution.logDensity(value as Tensor),
        ]),
      ),
    rows,
    count,
    options,
  );
  return asDraws(each, chains);
}
