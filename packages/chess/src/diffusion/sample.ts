/**
 * Positions from a trained denoiser: the reverse process on the simplex or in logits, opened once
 * and called often. A call is for boards from noise, or, with `partial`, for boards whose known
 * squares are kept.
 *
 *     const draw = await openBoards(model);
 *     const { positions } = await draw({ count: 16, key: key(7), driftScale: 1.02 });
 *     await draw.dispose();
 */

import type { Model } from "diffeo/categorical";
import {
  denoiserLogPosterior,
  denoiserScore,
  fittedTimes,
  knownSites,
  siteLikelihood,
  usualTimes,
} from "diffeo/categorical";
import type { CompileOptions } from "diffeo/engine";
import { fail, type Tensor } from "diffeo/graph";
import { type Closable, disposable } from "diffeo/host";
import { asConstants } from "diffeo/model";
import type { Key } from "diffeo/random";
import {
  clampToSimplex,
  type DrawOptions,
  eulerMaruyama,
  type GridName,
  type Known,
  milstein,
  type OpenSampler,
  openSampler,
  type Progress,
  type SampleResult,
  type Solver,
  type SolverName,
} from "diffeo/sampler";
import { reverse, reversePush } from "diffeo/sde";
import { type Positions, pack, SQUARES, UNKNOWN } from "../board/position.ts";
import { aimsOf, type BoardCondition, boardAim } from "./condition.ts";
import { requireChess } from "./encoding.ts";
import { type BoardTrace, traceRecorder } from "./trace.ts";

/** The options that determine the graphs. */
export interface OpenBoardsOptions extends Omit<CompileOptions, "keep" | "type"> {
  /**
   * Space of the process: the simplex (default), or the logits in which the network was trained.
   */
  readonly space?: "simplex" | "logit";
  /** Default dpmSolver2MSde. */
  readonly solver?: SolverName;
}

/** The default solver of boards. With the default steps it takes 50 evaluations of the network. */
export const BOARD_SOLVER: SolverName = "dpmSolver2MSde";
/**
 * The default number of steps of boards. The network is evaluated once more at the end, for
 * denoising.
 */
export const BOARD_STEPS = 49;

/** The spacing of times: a grid by name, fitted to the model's errors, or a list of times. */
export type BoardGrid = GridName | "fitted" | readonly number[];

/** The options of a call. */
export interface BoardOptions extends Pick<DrawOptions, "driftScale" | "signal"> {
  /** Default 49. */
  readonly steps?: number;
  /**
   * Default: fitted, for exponential solvers, w = 1, if the model's errors were measured;
   * otherwise the grid of the solver.
   */
  readonly grid?: BoardGrid;
  /** Number of boards; that of `partial` if it is given. */
  readonly count?: number;
  readonly key: Key;
  /** Boards per batch. Default 64. */
  readonly batch?: number;
  /** The number of the first board: a run with `first` 64 continues a run of 64 boards. */
  readonly first?: number;
  /** Boards to complete, 64 classes each; `UNKNOWN` marks a square to fill in. */
  readonly partial?: Uint8Array;
  /**
   * With `partial`: how often each step is repeated, and the strength of guidance by the posterior
   * of the known squares.
   */
  readonly known?: Pick<Known, "resample" | "strength">;
  /**
   * Conditions to guide by: boards meet them more often, not always. Needs a model that predicts a
   * posterior of classes.
   */
  readonly guide?: readonly BoardCondition[];
  /** Strength of `guide`. 1, the default, is Bayes' rule. */
  readonly guideStrength?: number;
  /** Number of frames of the process to store. Default: none. */
  readonly frames?: number;
  readonly onStep?: (progress: Progress) => void | Promise<void>;
}

/** Sampled positions, and the report of the sampler. */
export interface Boards extends Omit<SampleResult, "samples"> {
  readonly positions: Positions;
  /** Present if `frames` was set. */
  readonly trace?: BoardTrace;
}

/**
 * Draws boards. Board i is a function of (model, options, key, i): batches change speed, not
 * boards.
 */
export interface BoardSampler extends Closable {
  (options: BoardOptions): Promise<Boards>;
  readonly model: Model;
  dispose(): Promise<void>;
}

/**
 * Distance from the boundary at which a step that left the simplex is clamped; `exits` and `clamps`
 * count such steps.
 */
const onExit = clampToSimplex(1e-6);

/** Solvers that step on the simplex itself clamp boards to it. */
const SOLVERS: Partial<Record<SolverName, Solver>> = {
  eulerMaruyama: eulerMaruyama({ onExit }),
  milstein: milstein({ onExit }),
};

/** Throws if a model cannot sample such boards, before anything is compiled. */
export function requireDrawable(
  { encoding, spec }: Model,
  { guide = [] }: Pick<BoardOptions, "guide"> = {},
): void {
  requireChess(encoding);
  if (guide.length > 0 && spec.parameterisation !== "posterior")
    fail(
      "usage",
      "guide: the model predicts no posterior of classes",
      "use a model of parameterisation posterior",
    );
}

/** The sampler of a model's process in a space, by a solver. */
function openProcess(
  { denoiser, encoding, parameters: arrays, spec }: Model,
  { space, solver = BOARD_SOLVER, ...engine }: OpenBoardsOptions,
): Promise<OpenSampler<"float32">> {
  const parameters = asConstants(arrays);
  const score = denoiserScore(denoiser, parameters);
  const logPosterior =
    spec.parameterisation === "posterior" && denoiserLogPosterior(denoiser, parameters);
  const process =
    space === "logit"
      ? reverse(denoiser.sde, score)
      : reversePush(denoiser.sde, encoding.phi, score);
  return openSampler(process, {
    // While the GPU runs, the host then generates the noise of the next step.
    worker: engine.device !== undefined && engine.device !== "cpu",
    ...engine,
    type: "float32",
    solver: (Object.hasOwn(SOLVERS, solver) && SOLVERS[solver]) || solver,
    shape: [...encoding.grid, encoding.channels],
    denoise: true,
    ...(logPosterior && {
      likelihood: siteLikelihood(encoding, logPosterior),
      aim: (x: Tensor, t: Tensor, aims: Readonly<Record<string, Tensor>>) =>
        boardAim(logPosterior(x, t), aims),
    }),
  });
}

/**
 * Compiles the sampler of a model once, for many calls.
 *
 * @throws DiffeoError of kind `usage` if the model is not one of chess positions
 */
export async function openBoards(
  model: Model,
  options: OpenBoardsOptions = {},
): Promise<BoardSampler> {
  const { space = "simplex", solver = BOARD_SOLVER } = options;
  if (space !== "simplex" && space !== "logit")
    fail("usage", `unknown space "${space}"`, "use simplex or logit");
  requireDrawable(model);
  const { encoding } = model;
  const draw = await openProcess(model, { ...options, space });
  const [decode, mixture] =
    space === "logit"
      ? [encoding.decode, encoding.mixture]
      : [encoding.decodeSimplex, encoding.mixtureOfSimplex];

  const boards = async (call: BoardOptions): Promise<Boards> => {
    const {
      batch = 64,
      steps = BOARD_STEPS,
      frames,
      onStep,
      partial,
      known,
      grid: requested,
      ...others
    } = call;
    const grid = requested ?? usualTimes(model, solver, steps, call);
    const { guide = [], guideStrength, ...rest } = others;
    requireDrawable(model, { guide });
    if (partial && space !== "simplex")
      fail("usage", "boards are completed on the simplex, not in logits", "omit `space`");
    const count = partial ? boardsIn(partial, call.count) : call.count;
    if (count === undefined) fail("usage", "count is missing", "set the number of boards");
    const recorder =
      frames === undefined
        ? undefined
        : traceRecorder(frames, steps, count, call.first ?? 0, mixture);
    const { samples, ...report } = await draw({
      ...rest,
      count,
      batch,
      steps,
      aims: aimsOf(guide, guideStrength),
      ...(grid && { grid: grid === "fitted" ? fittedTimes(model, steps) : grid }),
      ...(partial && { known: { ...knownSites(encoding, partial), ...known } }),
      onStep: async (progress) => {
        await recorder?.take(progress);
        await onStep?.(progress);
      },
    });
    const classes = decode(samples.data);
    if (partial) requireKept(classes, partial);
    return {
      positions: pack(classes),
      ...report,
      ...(recorder && { trace: recorder.end(samples) }),
    };
  };
  return Object.assign(boards, { model, ...disposable(draw.dispose) });
}

/** Opens a sampler, calls it once and closes it. */
export async function sampleBoards(
  model: Model,
  options: OpenBoardsOptions & BoardOptions,
): Promise<Boards> {
  const { space, solver, device, threads, worker, checkFinite, ...call } = options;
  const draw = await openBoards(model, {
    space,
    solver,
    device,
    threads,
    worker,
    checkFinite,
  });
  return draw(call).finally(() => draw.dispose());
}

/** The number of boards to complete. */
function boardsIn(partial: Uint8Array, count = partial.length / SQUARES): number {
  if (partial.length === 0 || partial.length % SQUARES !== 0)
    fail(
      "shape",
      `complete: ${partial.length} squares are not a multiple of 64`,
      "give 64 classes per board",
    );
  if (count !== partial.length / SQUARES)
    fail(
      "shape",
      `complete: ${partial.length / SQUARES} boards, but count is ${count}`,
      "omit `count`",
    );
  return count;
}

function requireKept(made: ArrayLike<number>, partial: Uint8Array): void {
  for (let i = 0; i < made.length; i++)
    if (partial[i] !== UNKNOWN && made[i] !== partial[i])
      throw new Error(
        `internal: square ${i % SQUARES} of board ${Math.floor(i / SQUARES)} was known but has ` +
          "changed",
      );
}
