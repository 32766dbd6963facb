/**
 * Grids out of a trained model: its reverse process on the simplex, ended at the mean of x₀, and
 * the class of every site.
 */
import type { CompileOptions } from "../engine/index.ts";
import { asConstants } from "../model/index.ts";
import { type DrawOptions, type Known, type SolverName, sample } from "../sampler/index.ts";
import { reversePush } from "../sde/index.ts";
import { denoiserLogPosterior, denoiserScore } from "./denoiser.ts";
import { usualTimes } from "./errors.ts";
import { knownSites, siteLikelihood } from "./known-sites.ts";
import type { Model } from "./model.ts";

export interface SampleGridsOptions
  extends Omit<CompileOptions, "keep" | "type" | "checkFinite">,
    Pick<DrawOptions, "key" | "steps" | "batch" | "first" | "driftScale" | "onStep" | "signal"> {
  readonly count: number;
  /**
   * Default domainPreserving. The exponential solvers take times fitted to the model's errors,
   * where those were measured.
   */
  readonly solver?: SolverName;
  /**
   * Classes of `count` grids that are to be kept; one beyond the model's classes is left to the
   * model. A model that gives class probabilities lets the unknown sites hear of the known ones by
   * them.
   */
  readonly known?: { readonly classes: Uint8Array } & Pick<Known, "resample" | "strength">;
}

/**
 * The classes of `count` grids, one grid after the other: 100 steps and 64 grids at a time, unless
 * told otherwise.
 */
export async function sampleGrids(model: Model, options: SampleGridsOptions): Promise<Uint8Array> {
  const { denoiser, encoding, spec } = model;
  const { known, steps = 100, ...rest } = options;
  const grid = usualTimes(model, options.solver, steps, options);
  const parameters = asConstants(model.parameters);
  const process = reversePush(denoiser.sde, encoding.phi, denoiserScore(denoiser, parameters));
  const { classes, ...how } = known ?? {};
  const { samples } = await sample(process, {
    steps,
    grid,
    batch: 64,
    ...rest,
    shape: [...encoding.grid, encoding.channels],
    denoise: true,
    ...(classes && { known: { ...knownSites(encoding, classes), ...how } }),
    ...(classes &&
      spec.parameterisation === "posterior" && {
        likelihood: siteLikelihood(encoding, denoiserLogPosterior(denoiser, parameters)),
      }),
  });
  return encoding.decodeSimplex(samples.data as Float32Array);
}
