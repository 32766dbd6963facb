/**
 * A position completed by particles: many boards at once move under the posterior of its known squares, are weighed by how well
 * the network's own steps explain theirs, and drawn by their weights (diffeo/sampler, particles.ts):
 *
 *   log ψ_t(x) = Σ_known log p(k | x_t)
 *
 * Guidance alone has one board for each and cannot tell a good one from another. Here known squares are nowhere put in: what
 * the weights leave holds them by itself, and `kept` says how often it does before they are set.
 */
import { denoiserLogPosterior, denoiserScore, type Model, siteLikelihood } from "diffeo/categorical";
import type { CompileOptions } from "diffeo/engine";
import { constant, expand, fail, mul, type NdArray, type Tensor } from "diffeo/graph";
import { frozen } from "diffeo/model";
import { type ParticleOptions, type ParticleResult, particles } from "diffeo/sampler";
import { reversePush, scaleDrift, twist } from "diffeo/sde";
import { type Positions, pack, SQUARES, UNKNOWN } from "../board/position.ts";
import { requireChess } from "./encoding.ts";

export interface ParticleBoardOptions
  extends Omit<CompileOptions, "keep" | "type">,
    Pick<ParticleOptions, "particles" | "key" | "steps" | "grid" | "signal" | "batch" | "threshold" | "onStep"> {
  readonly driftScale?: number;
  /** What the gradient that moves boards is multiplied by; weights do not depend on it. Default 1. */
  readonly guidance?: number;
}

export interface ParticleBoards
  extends Pick<ParticleResult, "ess" | "ancestors" | "logEvidence" | "resampled" | "scoreEvaluations" | "times"> {
  /** As many as there were particles, drawn by their weights, with the known squares set. */
  readonly positions: Positions;
  /** The share of known squares that held before they were set. */
  readonly kept: number;
}

/** Completes one board of 64 classes, `UNKNOWN` where a square is to be filled in. */
export async function completeByParticles(
  model: Model,
  board: Uint8Array,
  options: ParticleBoardOptions,
): Promise<ParticleBoards> {
  const { driftScale = 1, guidance = 1, ...rest } = options;
  const { denoiser, encoding, parameters: arrays, spec } = model;
  requireChess(encoding);
  if (spec.parameterisation !== "posterior")
    fail(
      "usage",
      `a network that predicts ${spec.parameterisation} gives no posterior to weigh boards by`,
      "complete by resample or replacement, or train a network that predicts the posterior",
    );
  if (board.length !== SQUARES) fail("shape", `a board of ${board.length} squares`, "give 64 classes");
  const parameters = frozen(arrays);
  const last = encoding.classes - 1;
  const event = [...encoding.grid, encoding.channels];
  const points: NdArray = {
    shape: event,
    dtype: "float32",
    data: encoding.encode(board.map((k) => Math.min(k, last))),
  };
  const known = Uint8Array.from({ length: points.data.length }, (_, i) =>
    board[Math.floor(i / encoding.channels)] > last ? 0 : 1,
  );
  const likelihood = siteLikelihood(encoding, denoiserLogPosterior(denoiser, parameters));
  const log = (x: Tensor, t: Tensor): Tensor =>
    likelihood(x, t, {
      points: expand(constant(points), x.shape),
      mask: expand(constant({ shape: event, dtype: "bool", data: known }, "bool"), x.shape),
    });
  const process = scaleDrift(reversePush(denoiser.sde, encoding.phi, denoiserScore(denoiser, parameters)), driftScale);
  const uphill = twist(process, log).twist.delta;
  const found = await particles(twist(process, log, { delta: (x, t) => mul(uphill(x, t), guidance) }), {
    ...rest,
    shape: event,
    denoise: true,
  });
  const classes = encoding.decodeSimplex(found.samples.data);
  let [held, all] = [0, 0];
  classes.forEach((k, i) => {
    const own = board[i % SQUARES];
    if (own === UNKNOWN) return;
    all++;
    if (k === own) held++;
    classes[i] = own;
  });
  const { ess, ancestors, logEvidence, resampled, scoreEvaluations, times } = found;
  return {
    positions: pack(classes),
    kept: held / all,
    ess,
    ancestors,
    logEvidence,
    resampled,
    scoreEvaluations,
    times,
  };
}
