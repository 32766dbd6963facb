/**
 * A network of a few thousand random weights: it knows nothing of chess, and its boards are a
 * function of the key.
 */
import type { Parameterisation } from "diffeo/categorical";
import { type Model, type ModelSpec, modelOf } from "diffeo/categorical";
import { networkOf, parameterCount } from "diffeo/model";
import { saveModel } from "diffeo/node";
import { key, normal } from "diffeo/random";
import { playouts } from "../src/board/playout.ts";
import { chessSpec } from "../src/diffusion/encoding.ts";

const EMPTY_AHEAD = 6;

function tiny(parameterisation: Parameterisation): {
  readonly spec: ModelSpec;
  readonly weights: Float32Array;
} {
  const outputs = parameterisation === "posterior" ? 13 : 12;
  const spec: ModelSpec = {
    network: {
      kind: "unet",
      channels: 12,
      width: 8,
      multipliers: [1],
      blocks: 1,
      groups: 4,
      position: [8, 8],
      outputs,
    },
    parameterisation,
    encoding: chessSpec(playouts(50, key("tiny"))),
  };
  const weights = normal(key("weights"), [parameterCount(networkOf(spec.network).shapes())])
    .data as Float32Array;
  // The last numbers are the head's offsets, one a class: 'empty' is ahead, and the others are left
  // to chance.
  if (parameterisation === "posterior") weights.fill(0, -outputs).fill(EMPTY_AHEAD, -1);
  return { spec, weights };
}

export function tinyModel(parameterisation: Parameterisation = "posterior"): Model {
  const { spec, weights } = tiny(parameterisation);
  return modelOf(spec, weights);
}

/** A model, and how often its network has been traced. */
export function countedModel(model: Model): {
  readonly counted: Model;
  readonly traced: () => number;
} {
  const { network } = model.denoiser;
  let traced = 0;
  const apply: typeof network.apply = (...args) => {
    traced++;
    return network.apply(...args);
  };
  return {
    counted: { ...model, denoiser: { ...model.denoiser, network: { ...network, apply } } },
    traced: () => traced,
  };
}

/** The same as a file. */
export function saveTinyModel(path: string): Promise<void> {
  const { spec, weights } = tiny("posterior");
  return saveModel(path, modelOf(spec, weights), "F32");
}
