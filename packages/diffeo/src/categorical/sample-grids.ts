/**
 * Grids out of a trained model: its reverse process on the simplex, ended at the mean of x₀, and
 * the class of every site.
 */

import type { CompileOptions } from "../engine/index.ts";
import { constant, type DType, expand, mul, type Tensor, type TypedArray } from "../graph/index.ts";
import { type Closable, disposable } from "../host/index.ts";
import { asConstants, type Parameters } from "../model/index.ts";
import {
  type DrawOptions,
  type Known,
  type OpenOptions,
  openSampler,
  type SolverName,
} from "../sampler/index.ts";
import { type Process, reversePush } from "../sde/index.ts";
import { denoiserLogPosterior, denoiserScore } from "./denoiser.ts";
import { usualTimes } from "./errors.ts";
import type { KnownClasses } from "./evidence.ts";
import { classesOf, knownSites, siteLikelihood } from "./known-sites.ts";
import type { Model } from "./model.ts";
import type { GridRules } from "./rules.ts";
import { groupSums } from "./site-sums.ts";

/** What decides the graphs of a sampler of grids. */
export interface OpenGridsOptions extends Omit<CompileOptions, "keep" | "type" | "checkFinite"> {
  /**
   * Default domainPreserving. The exponential solvers take times fitted to the model's errors,
   * where those were measured.
   */
  readonly solver?: SolverName;
  /**
   * Rules that every grid is led to: known sites are kept, conditions guide by the posterior of the
   * sites, and are met more often for it, not always.
   */
  readonly rules?: GridRules;
}

/** What a call may choose. */
export interface DrawGridsOptions
  extends Pick<
    DrawOptions,
    "key" | "steps" | "grid" | "batch" | "first" | "driftScale" | "onStep" | "signal"
  > {
  readonly count: number;
  /**
   * Classes of `count` grids that are to be kept; one beyond the model's classes is left to the
   * model. A network that sees likelihoods is shown them; another that gives class probabilities
   * lets the unknown sites hear of the known ones by their gradient. Default: those of the rules.
   */
  readonly known?: { readonly classes: Uint8Array } & Pick<Known, "resample" | "strength">;
  /** What the pull of the rules' conditions is multiplied by. 1, the default, is Bayes' rule. */
  readonly strength?: number;
}

/** How `sampleGrids` samples. */
export interface SampleGridsOptions extends OpenGridsOptions, DrawGridsOptions {}

/** Draws grids: their classes, one grid after the other. */
export interface GridSampler extends Closable {
  (options: DrawGridsOptions): Promise<Uint8Array>;
  /** Frees the graphs. Calling the sampler afterwards is an error. */
  dispose(): Promise<void>;
}

/** By what a sampler hears of known sites. */
function hearing(
  { denoiser, encoding, spec }: Model,
  processOf: (known: KnownClasses) => Process,
  parameters: Parameters<Tensor>,
): Pick<OpenOptions, "given" | "likelihood"> {
  if (denoiser.sees === "likelihoods")
    return { given: (known) => processOf(classesOf(encoding, known)) };
  if (spec.parameterisation !== "posterior") return {};
  return { likelihood: siteLikelihood(encoding, denoiserLogPosterior(denoiser, parameters)) };
}

/** The same grid so many times. */
function repeated(grid: Uint8Array, count: number): Uint8Array {
  const all = new Uint8Array(grid.length * count);
  for (let i = 0; i < count; i++) all.set(grid, i * grid.length);
  return all;
}

/** What leads grids to the conditions of rules. */
function leading(
  { denoiser, encoding: { grid, classes } }: Model,
  { known, conditions }: GridRules,
  parameters: Parameters<Tensor>,
): Pick<OpenOptions, "aim"> {
  const sums = conditions.flatMap((condition) => condition.sums);
  if (sums.length === 0) return {};
  const each = (array: TypedArray, dtype: DType, x: Tensor): Tensor =>
    expand(constant({ shape: [1, ...grid], dtype, data: array }, dtype), [x.shape[0], ...grid]);
  const given = (x: Tensor): KnownClasses | undefined =>
    denoiser.sees === "likelihoods"
      ? {
          classes: each(
            Int32Array.from(known, (k) => Math.min(k, classes - 1)),
            "int32",
            x,
          ),
          mask: each(
            Uint8Array.from(known, (k) => (k < classes ? 1 : 0)),
            "bool",
            x,
          ),
        }
      : undefined;
  return {
    aim: (x, t, { strength }) =>
      mul(groupSums(denoiserLogPosterior(denoiser, parameters, given(x))(x, t), sums), strength),
  };
}

/**
 * A sampler of a model's grids, opened once and called often: 100 steps and 64 grids at a time,
 * unless set otherwise.
 */
export async function openGrids(
  model: Model,
  { solver, rules, ...engine }: OpenGridsOptions = {},
): Promise<GridSampler> {
  const { denoiser, encoding } = model;
  const parameters = asConstants<Parameters<Tensor>>(model.parameters);
  const processOf = (known?: KnownClasses): Process =>
    reversePush(denoiser.sde, encoding.phi, denoiserScore(denoiser, parameters, known));
  const draw = await openSampler(processOf(), {
    ...engine,
    solver,
    shape: [...encoding.grid, encoding.channels],
    denoise: true,
    ...hearing(model, processOf, parameters),
    ...(rules && leading(model, rules, parameters)),
  });
  const fixed = rules?.known.some((k) => k < encoding.classes) ? rules.known : undefined;
  const leads = rules !== undefined && rules.conditions.length > 0;
  const grids = async (call: DrawGridsOptions): Promise<Uint8Array> => {
    const { known, steps = 100, strength = 1, ...rest } = call;
    const { classes = fixed && repeated(fixed, call.count), ...how } = known ?? {};
    const { samples } = await draw({
      steps,
      grid: usualTimes(model, solver, steps, call),
      batch: 64,
      ...rest,
      ...(leads && { aims: { strength } }),
      ...(classes && { known: { ...knownSites(encoding, classes), ...how } }),
    });
    return encoding.decodeSimplex(samples.data as Float32Array);
  };
  return Object.assign(grids, disposable(draw.dispose));
}

/** One call of a sampler that is opened for it. */
export async function sampleGrids(model: Model, options: SampleGridsOptions): Promise<Uint8Array> {
  const { solver, rules, device, threads, worker, ...call } = options;
  const draw = await openGrids(model, { solver, rules, device, threads, worker });
  return draw(call).finally(() => draw.dispose());
}
