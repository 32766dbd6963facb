/** Positions from a trained denoiser: the reverse process on the simplex, stepped in logits or on the simplex itself. */

import type { Model } from "diffeo/categorical";
import { denoiserScore } from "diffeo/categorical";
import type { CompileOptions } from "diffeo/engine";
import type { Tensor } from "diffeo/graph";
import type { UNet } from "diffeo/model";
import { frozen } from "diffeo/model";
import type { Key } from "diffeo/random";
import { clampToSimplex, type Known, type Method, type Progress, type SampleResult, sample } from "diffeo/sampler";
import { type ReverseProcess, reverse, reversePush } from "diffeo/sde";
import { type Positions, pack } from "../board/position.ts";
import { requireChess } from "./encoding.ts";
import { type Trace, traceRecorder } from "./trace.ts";

export interface BoardOptions extends CompileOptions {
  readonly count: number;
  readonly key: Key;
  /** Where the process lives: on the simplex (default), or in the logits the network was trained in. */
  readonly space?: "simplex" | "logit";
  /** Default: the domain-preserving sampler. */
  readonly method?: Method;
  /** Default 250. */
  readonly steps?: number;
  /** w. Default 1. */
  readonly driftScale?: number;
  /** Boards at a time. Default 64. */
  readonly batch?: number;
  /** The number of the first board: boards 64 … 127 of a run are those of a run with `first` 64. */
  readonly first?: number;
  /** Squares that are known, in the space of the process. */
  readonly known?: Known;
  /** How many frames of the process to keep. Default none. */
  readonly frames?: number;
  readonly onStep?: (progress: Progress) => void | Promise<void>;
  readonly signal?: AbortSignal;
}

/** How far from a face a step of y that left the simplex is put back; what it did is in `exits` and `clamps`. */
const FLOOR = 1e-6;

/** The reverse process of a model, in logits or pushed to the simplex. */
function boardProcess({ denoiser, encoding, parameters }: Model, space: "simplex" | "logit"): ReverseProcess {
  const score = denoiserScore(denoiser, frozen<UNet<Tensor>>(parameters));
  return space === "logit" ? reverse(denoiser.sde, score) : reversePush(denoiser.sde, encoding.phi, score);
}

export interface Boards extends Omit<SampleResult, "samples"> {
  readonly positions: Positions;
  /** Where `frames` were asked for. */
  readonly trace?: Trace;
}

/** Samples positions. Board i is a function of (model, options, key, i): batches change speed, not boards. */
export async function sampleBoards(model: Model, options: BoardOptions): Promise<Boards> {
  const { space = "simplex", method = "domainPreserving", batch = 64, frames, onStep, ...rest } = options;
  const { encoding } = model;
  requireChess(encoding);
  const process = boardProcess(model, space);
  const { count, steps = 250, first = 0 } = options;
  const mixture = space === "logit" ? encoding.mixture : encoding.mixtureOfSimplex;
  const recorder = frames === undefined ? undefined : traceRecorder(frames, steps, count, first, mixture);
  const { samples, ...report } = await sample(process, {
    // A GPU then moves while the host draws the next step's noise.
    worker: rest.device !== undefined && rest.device !== "cpu",
    ...rest,
    method,
    batch,
    shape: [...encoding.grid, encoding.channels],
    onExit: clampToSimplex(FLOOR),
    denoise: true,
    onStep: async (progress) => {
      await recorder?.take(progress);
      await onStep?.(progress);
    },
  });
  const decode = space === "logit" ? encoding.decode : encoding.decodeSimplex;
  const positions = pack(decode(samples.data as Float32Array));
  return { positions, ...report, ...(recorder && { trace: recorder.end(samples) }) };
}
