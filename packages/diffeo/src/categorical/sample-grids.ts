/**
 * Samples grids of a trained model: its reverse process on the simplex, ended at the mean of x₀,
 * and decoded to the class of every site.
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
import { type ClassArray, classArray } from "./class-array.ts";
import { denoiserLogPosterior, denoiserScore } from "./denoiser.ts";
import { usualTimes } from "./errors.ts";
import type { KnownClasses } from "./evidence.ts";
import { classesOf, knownSites, siteLikelihood } from "./known-sites.ts";
import type { Model } from "./model.ts";
import type { GridRules } from "./rules.ts";
import { groupSums } from "./site-sums.ts";

/** Options of `openGrids`, which determine the compiled graphs. */
export interface OpenGridsOptions extends Omit<CompileOptions, "keep" | "type" | "checkFinite"> {
  /**
   * The solver. Default `domainPreserving`. Exponential solvers use times fitted to the model's
   * errors, if these were measured.
   */
  readonly solver?: SolverName;
  /**
   * Rules for every grid: known sites are exact; conditions are met more often by guidance with the
   * posterior of the sites, but not always.
   */
  readonly rules?: GridRules;
}

/** Options of a call of a sampler of grids. */
export interface DrawGridsOptions
  extends Pick<
    DrawOptions,
    "key" | "steps" | "grid" | "batch" | "first" | "driftScale" | "onStep" | "signal"
  > {
  readonly count: number;
  /**
   * Known classes of `count` grids; a class beyond the model's is unknown. They are inputs of a
   * network that sees likelihoods. For other networks that predict class probabilities, the
   * gradient of their log-probability guides the unknown sites. Default: those of the rules.
   */
  readonly known?: { readonly classes: ClassArray } & Pick<Known, "resample" | "strength">;
  /** The strength of the rules' conditions. 1, the default, is Bayes' rule. */
  readonly strength?: number;
}

/** Options of `sampleGrids`. */
export interface SampleGridsOptions extends OpenGridsOptions, DrawGridsOptions {}

/**
 * Samples grids: their classes, one grid after the other, as bytes for up to 256 classes and else
 * as numbers of two bytes.
 */
export interface GridSampler extends Closable {
  (options: DrawGridsOptions): Promise<ClassArray>;
  /** Frees the graphs. Calling the sampler afterwards is an error. */
  dispose(): Promise<void>;
}

/** How a sampler uses known sites. */
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

/** The same grid `count` times. */
function repeated(grid: ClassArray, count: number, classes: number): ClassArray {
  const all = classArray(grid.length * count, classes);
  for (let i = 0; i < count; i++) all.set(grid, i * grid.length);
  return all;
}

/** The guidance by the conditions of rules. */
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
 * Opens a sampler of a model's grids, which can be called often. The defaults are 100 steps and 64
 * grids per batch.
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
  const grids = async (call: DrawGridsOptions): Promise<ClassArray> => {
    const { known, steps = 100, strength = 1, ...rest } = call;
    const { classes = fixed && repeated(fixed, call.count, encoding.classes), ...how } =
      known ?? {};
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

/**
 * Samples grids of a model: the classes of `count` grids, concatenated. Opens a sampler for one
 * call.
 */
export async function sampleGrids(model: Model, options: SampleGridsOptions): Promise<ClassArray> {
  const { solver, rules, device, threads, worker, ...call } = options;
  const draw = await openGrids(model, { solver, rules, device, threads, worker });
  return draw(call).finally(() => draw.dispose());
}
