/** Positions from a trained denoiser: the reverse process on the simplex, stepped in logits or on the simplex itself. */
import type { CompileOptions } from "../engine/index.ts";
import type { Tensor } from "../graph/index.ts";
import { frozen } from "../model/layers.ts";
import type { UNet } from "../model/unet.ts";
import type { Key } from "../random/index.ts";
import { type Method, type Progress, type SampleResult, sample } from "../sampler/index.ts";
import { type ReverseProcess, reverse, reversePush } from "../sde/index.ts";
import { denoiserScore } from "./denoiser.ts";
import type { Model } from "./model-file.ts";
import { type Positions, pack } from "./position.ts";

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
  readonly onStep?: (progress: Progress) => void | Promise<void>;
  readonly signal?: AbortSignal;
}

/** The reverse process of a model, in logits or pushed to the simplex. */
function boardProcess({ denoiser, encoding, parameters }: Model, space: "simplex" | "logit"): ReverseProcess {
  const score = denoiserScore(denoiser, frozen<UNet<Tensor>>(parameters));
  return space === "logit" ? reverse(denoiser.sde, score) : reversePush(denoiser.sde, encoding.phi, score);
}

export interface Boards extends Omit<SampleResult, "samples"> {
  readonly positions: Positions;
}

/** Samples positions. Board i is a function of (model, options, key, i): batches change speed, not boards. */
export async function sampleBoards(model: Model, options: BoardOptions): Promise<Boards> {
  const { space = "simplex", method = "domainPreserving", batch = 64, ...rest } = options;
  const process = boardProcess(model, space);
  const { encoding } = model;
  const shape = [...encoding.grid, encoding.channels];
  const { samples, ...report } = await sample(process, { ...rest, method, batch, shape, denoise: true });
  const classes =
    space === "logit"
      ? encoding.decode(samples.data as Float32Array)
      : encoding.decodeSimplex(samples.data as Float32Array);
  return { positions: pack(classes), ...report };
}
