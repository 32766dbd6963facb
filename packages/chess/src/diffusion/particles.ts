/**
 * Completion by particles: many boards move together under the posterior of the known squares. They
 * are weighted by how well the network's own steps explain their steps, and resampled by weight
 * (diffeo/sampler, particles.ts):
 *
 *   log ψ_t(x) = Σ_known log p(k | x_t)
 *
 * Guidance alone moves single boards and cannot compare them. Here known squares are not set during
 * the run: the boards that the weights select have them anyway. `kept` is the share of known
 * squares that were right before they were set at the end.
 */

import {
  type Categorical,
  type ClassArray,
  denoiserLogPosterior,
  denoiserScore,
  type Model,
  siteLikelihood,
} from "diffeo/categorical";
import type { CompileOptions } from "diffeo/engine";
import { expand, fail, mul, type NdArray, type Tensor } from "diffeo/graph";
import { type Closable, disposable } from "diffeo/host";
import { asConstants } from "diffeo/model";
import { openParticles, type ParticleCall, type ParticleResult } from "diffeo/sampler";
import { reversePush, scaleDrift, type TwistedProcess, twist } from "diffeo/sde";
import { type Positions, pack, SQUARES, UNKNOWN } from "../board/position.ts";
import { requireChess } from "./encoding.ts";

/** The options that determine the graphs. */
export interface OpenParticleBoardOptions extends Omit<CompileOptions, "keep" | "type"> {
  readonly driftScale?: number;
  /** Factor of the gradient that moves boards; weights do not depend on it. Default 1. */
  readonly guidance?: number;
}

/** The options of a call. */
export type ParticleBoardCall = Omit<ParticleCall, "observed" | "tEnd">;

/** Options of `completeByParticles`. */
export interface ParticleBoardOptions extends OpenParticleBoardOptions, ParticleBoardCall {}

/** The result of `completeByParticles`: boards, and measures of their weights. */
export interface ParticleBoards
  extends Pick<
    ParticleResult,
    "ess" | "ancestors" | "logEvidence" | "resampled" | "scoreEvaluations" | "times"
  > {
  /** One board per particle, resampled by weight, with the known squares set. */
  readonly positions: Positions;
  /** The share of known squares that were right before they were set. */
  readonly kept: number;
}

/** Completes one board of 64 classes per call; `UNKNOWN` marks a square to fill in. */
export interface ParticleCompleter extends Closable {
  (board: Uint8Array, call: ParticleBoardCall): Promise<ParticleBoards>;
  dispose(): Promise<void>;
}

/** Opens a completer for a model. Further boards compile nothing. */
export function openParticleBoards(
  model: Model,
  options: OpenParticleBoardOptions = {},
): ParticleCompleter {
  const { driftScale = 1, guidance = 1, ...engine } = options;
  const { denoiser, encoding, parameters: arrays, spec } = model;
  requireChess(encoding);
  if (spec.parameterisation !== "posterior")
    fail(
      "usage",
      `a network that predicts ${spec.parameterisation} has no posterior to weight boards by`,
      "complete by resample or replacement, or train a network that predicts the posterior",
    );
  const parameters = asConstants(arrays);
  const shape = [...encoding.grid, encoding.channels];
  const likelihood = siteLikelihood(encoding, denoiserLogPosterior(denoiser, parameters));
  const process = scaleDrift(
    reversePush(denoiser.sde, encoding.phi, denoiserScore(denoiser, parameters)),
    driftScale,
  );
  const given = ({ points, mask }: Readonly<Record<string, Tensor>>): TwistedProcess => {
    const log = (x: Tensor, t: Tensor): Tensor =>
      likelihood(x, t, { points: expand(points, x.shape), mask: expand(mask, x.shape) });
    const uphill = twist(process, log).twist.delta;
    return twist(process, log, { delta: (x, t) => mul(uphill(x, t), guidance) });
  };
  const draw = openParticles(given, {
    ...engine,
    shape,
    denoise: true,
    observed: { points: { shape, dtype: "float32" }, mask: { shape, dtype: "bool" } },
  });
  const complete = async (board: Uint8Array, call: ParticleBoardCall): Promise<ParticleBoards> => {
    if (board.length !== SQUARES)
      fail("shape", `the board has ${board.length} squares`, "give 64 classes");
    const found = await draw({ ...call, observed: knownArrays(encoding, board) });
    const { ess, ancestors, logEvidence, resampled, scoreEvaluations, times } = found;
    return {
      ...settled(encoding.decodeSimplex(found.samples.data), board),
      ess,
      ancestors,
      logEvidence,
      resampled,
      scoreEvaluations,
      times,
    };
  };
  return Object.assign(complete, disposable(draw.dispose));
}

/** The known squares of a board as points x, and their mask. */
function knownArrays(
  encoding: Categorical,
  board: Uint8Array,
): { readonly points: NdArray; readonly mask: NdArray } {
  const { grid, channels, classes } = encoding;
  const shape = [...grid, channels];
  const data = encoding.encode(board.map((k) => Math.min(k, classes - 1)));
  const known = Uint8Array.from(data, (_, i) =>
    board[Math.floor(i / channels)] < classes ? 1 : 0,
  );
  return { points: { shape, dtype: "float32", data }, mask: { shape, dtype: "bool", data: known } };
}

/** Sets the known squares; returns the boards and the share that was right before. */
function settled(
  classes: ClassArray,
  board: Uint8Array,
): Pick<ParticleBoards, "positions" | "kept"> {
  let [held, all] = [0, 0];
  classes.forEach((k, i) => {
    const own = board[i % SQUARES];
    if (own === UNKNOWN) return;
    all++;
    if (k === own) held++;
    classes[i] = own;
  });
  return { positions: pack(classes), kept: held / all };
}

/** Completes one board: opens a completer, calls it once and closes it. */
export async function completeByParticles(
  model: Model,
  board: Uint8Array,
  options: ParticleBoardOptions,
): Promise<ParticleBoards> {
  const { driftScale, guidance, device, threads, worker, checkFinite, ...call } = options;
  const complete = openParticleBoards(model, {
    driftScale,
    guidance,
    device,
    threads,
    worker,
    checkFinite,
  });
  return complete(board, call).finally(() => complete.dispose());
}
