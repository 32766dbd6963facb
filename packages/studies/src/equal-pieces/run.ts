/**
 * Boards with fewer or more pieces, by several ways to ask for them:
 *
 *   w          the drift on the simplex times w (the paper's "Controlling Piece Density")
 *   tempering  the score in logits times τ
 *   guidance   the posterior of the classes leads boards to a number of pieces
 *   pool       boards as they come, of which rejection keeps those with a number of pieces
 *
 * The same sampler, steps and noise for all. A record keeps the boards, so that what is measured
 * may be chosen later.
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
  /** Seeds 0 … n − 1, of 40 boards each. */
  readonly seeds: number;
}

export interface EqualPiecesResult {
  /** Packed positions of all seeds, in base64. */
  readonly boards: string;
}

const BOARDS = 40;
const STEPS = 100;
const SOLVER = "domainPreserving";

type Draw = (own: Key) => Promise<Positions>;

interface OpenDraw {
  readonly draw: Draw;
  readonly dispose: () => Promise<void>;
}

/** Boards of the process whose score is τ times the model's. */
async function openTempered(
  { denoiser, encoding, parameters }: Model,
  tau: number,
  { device, signal }: TaskContext,
): Promise<OpenDraw> {
  const score = denoiserScore(denoiser, asConstants(parameters));
  const process = reversePush(denoiser.sde, encoding.phi, (x, t) => mul(score(x, t), tau));
  const shape = [...encoding.grid, encoding.channels];
  const sampler = await openSampler(process, {
    ...{ shape, solver: SOLVER, denoise: true, threads: 1 },
    ...{ device, worker: device !== "cpu" },
  });
  return {
    draw: async (own) => {
      const { samples } = await sampler({ key: own, count: BOARDS, steps: STEPS, signal });
      return pack(encoding.decodeSimplex(samples.data));
    },
    dispose: () => sampler.dispose(),
  };
}

/** Boards of the model, with a drift scale or a number of pieces to lead to. */
async function openDraw(
  model: Model,
  { way, value }: EqualPiecesTask,
  context: TaskContext,
): Promise<OpenDraw> {
  if (way === "tempering") return openTempered(model, value, context);
  const { device, signal } = context;
  const sampler = await openBoards(model, { solver: SOLVER, threads: 1, device });
  const driftScale = way === "w" ? value : 1;
  const guide = way === "guidance" ? [parseCondition(`pieces=${value}`)] : [];
  return {
    draw: async (own) => {
      const options = { count: BOARDS, steps: STEPS, driftScale, guide, signal };
      return (await sampler({ key: own, ...options })).positions;
    },
    dispose: () => sampler.dispose(),
  };
}

export async function equalPieces(
  task: EqualPiecesTask,
  context: TaskContext,
): Promise<EqualPiecesResult> {
  const { way, value, seeds } = task;
  const { draw, dispose } = await openDraw(
    parseModel(await context.file(), "the model"),
    task,
    context,
  );
  let boards = "";
  try {
    for (let seed = 0; seed < seeds; seed++) {
      const root = fold(key(seed), "equal-pieces");
      const own = way === "pool" ? fold(fold(root, "pool"), value) : root;
      boards += String.fromCharCode(...(await draw(own)).bytes);
      context.report((seed + 1) / seeds);
    }
  } finally {
    await dispose();
  }
  return { boards: btoa(boards) };
}
