/**
 * Boards with fewer or more pieces, by several ways to ask for them:
 *
 *   w          the drift on the simplex times w (the paper's "Controlling Piece Density")
 *   tempering  the score in logits times τ
 *   guidance   the posterior of the classes leads boards to a number of pieces
 *   pool       boards as they come, of which rejection keeps those with a number of pieces
 *
 * The same sampler, steps and noise for all. A record keeps the boards, so that what is measured may
 * be chosen later.
 */
import { denoiserScore, type Model, parseModel } from "diffeo/categorical";
import { mul } from "diffeo/graph";
import { asConstants } from "diffeo/model";
import { fold, type Key, key } from "diffeo/random";
import { openSampler } from "diffeo/sampler";
import { reversePush } from "diffeo/sde";
import { openBoards, type Positions, pack, parseCondition } from "diffeo-chess";
import type { TaskContext } from "../study/study.ts";

export const wayNames = ["w", "tempering", "guidance", "pool"] as const;
export type EqualWay = (typeof wayNames)[number];

export interface EqualPiecesTask {
  readonly way: EqualWay;
  /** w, τ, the number of pieces, or the number of the pool's part. */
  readonly value: number;
  readonly seed: number;
}

export interface EqualPiecesResult {
  /** Packed positions, in base64. */
  readonly boards: string;
}

export const BOARDS = 40;
const STEPS = 100;
const SOLVER = "domainPreserving";

/** Boards of the process whose score is τ times the model's. */
async function tempered(
  { denoiser, encoding, parameters }: Model,
  tau: number,
  own: Key,
  signal?: AbortSignal,
): Promise<Positions> {
  const score = denoiserScore(denoiser, asConstants(parameters));
  const process = reversePush(denoiser.sde, encoding.phi, (x, t) => mul(score(x, t), tau));
  const shape = [...encoding.grid, encoding.channels];
  const draw = await openSampler(process, { shape, solver: SOLVER, denoise: true, threads: 1 });
  try {
    const { samples } = await draw({ key: own, count: BOARDS, steps: STEPS, signal });
    return pack(encoding.decodeSimplex(samples.data));
  } finally {
    await draw.dispose();
  }
}

export async function equalPieces(
  { way, value, seed }: EqualPiecesTask,
  { file, report, signal }: TaskContext,
): Promise<EqualPiecesResult> {
  const model = parseModel(await file(), "the model");
  const root = fold(key(seed), "equal-pieces");
  const own = way === "pool" ? fold(fold(root, "pool"), value) : root;
  const boards = async (): Promise<Positions> => {
    if (way === "tempering") return tempered(model, value, own, signal);
    const sampler = await openBoards(model, { solver: SOLVER, threads: 1 });
    const { positions } = await sampler({
      key: own,
      count: BOARDS,
      steps: STEPS,
      driftScale: way === "w" ? value : 1,
      guide: way === "guidance" ? [parseCondition(`pieces=${value}`)] : [],
      signal,
      onStep: ({ step }) => report(step / STEPS),
    });
    await sampler.dispose();
    return positions;
  };
  const { bytes } = await boards();
  return { boards: btoa(String.fromCharCode(...bytes)) };
}
