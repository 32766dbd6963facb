/**
 * Fits a deep kernel exponential family by the protocol of Song, Garg, Shi and Ermon (2019), with
 * any of the losses.
 *
 *   search   steps of training, each followed by a look at the validation set, until patience ends      (`search.ts`)
 *   finish   α of the best step from all training points, λ alone adjusted on the validation set        (`finish.ts`)
 *
 * Every random number is a function of the seed, the purpose and the step. All but the slices are
 * the same for every loss: two losses with one seed use the same data, initial parameters, inducing
 * points and batches, and can be compared in pairs.
 */
import type { Prepared } from "../table/prepare.ts";
import { finish } from "./finish.ts";
import { type Fitted, parameterArrays } from "./fitted.ts";
import { openFitting } from "./fitting.ts";
import { type Best, search } from "./search.ts";
import { type FitOptions, settingsOf } from "./settings.ts";

/** A fitted density, the history of the fit, and how it ended. */
export interface Fit {
  readonly steps: number;
  /** The last step: the patience ran out, or the limit was reached. */
  readonly stopped: number;
  /** Chosen by the loss itself on the validation set, as the protocol does. */
  readonly chosen: Fitted;
  /**
   * Chosen by exact score matching on the validation set, which is evaluated at every fifth step;
   * before the fifth step it is `chosen`. Only if `both` are requested.
   */
  readonly chosenByExact?: Fitted;
  /**
   * The validation loss by step, and exact score matching on the validation set by every fifth
   * step.
   */
  readonly curve: { readonly loss: readonly number[]; readonly exact: readonly number[] };
  /** Why training ended early, if it did. If α cannot be computed, it is 0. */
  readonly failure?: string;
}

/** Fits a deep kernel exponential family to prepared points. */
export async function fitDensity(data: Prepared, options: FitOptions): Promise<Fit> {
  const settings = settingsOf(options, data.train.shape[0]);
  const fitting = openFitting(data, settings);
  try {
    const { steps, stopped, best, bestByExact, curve, failure } = await search(fitting);
    const failures = failure === undefined ? [] : [failure];
    const finished = async ({ theta, step }: Best): Promise<Fitted> => {
      const alpha = await finish(fitting, theta);
      if (!alpha) failures.push(`the equations for α are not finite at step ${step}, so it is 0`);
      const parameters = parameterArrays(theta, fitting.start);
      return { step, theta, alpha: alpha ?? new Float64Array(settings.inducing), parameters };
    };
    const chosen = await finished(best);
    const byExact = async (): Promise<Fitted> =>
      !bestByExact || bestByExact.step === best.step ? chosen : finished(bestByExact);
    const exact = settings.both ? { chosenByExact: await byExact() } : {};
    return {
      steps,
      stopped,
      chosen,
      ...exact,
      curve,
      ...(failures.length > 0 && { failure: failures.join("; ") }),
    };
  } finally {
    await fitting.steps.dispose();
  }
}
