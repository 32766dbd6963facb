/**
 * Optional results of a run: draws from the prior, predictions and cross-validation, as groups of
 * the file for ArviZ.
 */
import { DiffeoError, fail } from "diffeo/graph";
import {
  type Data,
  type Loo,
  logLikelihood,
  loo,
  type NamedDraws,
  type Posterior,
  type PosteriorModel,
  posteriorPredictive,
  priorPredictive,
  type StatementModel,
} from "diffeo/mcmc";
import { fold, key } from "diffeo/random";

/** What the options request. */
export interface Predicted {
  readonly prior?: number;
  readonly predict?: boolean;
  readonly at?: Data;
  readonly loo?: boolean;
}

/** Groups by ArviZ's names, and the result of cross-validation or the reason why it failed. */
export interface Predictions {
  readonly groups: Readonly<Record<string, NamedDraws>>;
  readonly loo?: Loo;
  readonly warning?: string;
}

const statements = (model: PosteriorModel, option: string): StatementModel =>
  "program" in model
    ? (model as StatementModel)
    : fail(
        "usage",
        `${option} needs a model written as model(…)`,
        "write it as model(({ parameter, observe }, data) => …)",
      );

/** Throws, before any work, if the model does not support an option. */
export function requirePredictable(model: PosteriorModel, wanted: Predicted): void {
  if (wanted.prior !== undefined) statements(model, "--prior");
  if (wanted.predict || wanted.at) statements(model, "--predict");
  if (wanted.loo) statements(model, "--loo");
}

/**
 * Draws from the prior. They come before the chains, so that a prior that cannot be sampled is an
 * error at once.
 */
export async function priorGroups(
  model: PosteriorModel,
  data: Data,
  seed: number,
  draws: number | undefined,
): Promise<Readonly<Record<string, NamedDraws>>> {
  if (draws === undefined) return {};
  const own = fold(key(seed), "prior");
  const found = await priorPredictive(statements(model, "--prior"), { key: own, draws, data });
  return { prior: found.prior, prior_predictive: found.predictive };
}

/** Predictions and cross-validation from the draws. */
export async function predictionsOf(
  model: PosteriorModel,
  posterior: Posterior,
  seed: number,
  { predict, at, loo: validate }: Predicted,
): Promise<Predictions> {
  const groups: Record<string, NamedDraws> = {};
  if (!predict && !at && !validate) return { groups };
  const own = statements(model, "--predict");
  const root = fold(key(seed), "predictions");
  try {
    if (predict)
      groups.posterior_predictive = await posteriorPredictive(own, posterior, { key: root });
    if (at)
      groups.predictions = await posteriorPredictive(own, posterior, {
        key: fold(root, "at"),
        data: at,
      });
    if (!validate) return { groups };
    groups.log_likelihood = await logLikelihood(own, posterior);
    return { groups, loo: loo(groups.log_likelihood) };
  } catch (error) {
    // Failed predictions must not lose the draws.
    if (error instanceof DiffeoError) return { groups, warning: error.message };
    throw error;
  }
}
