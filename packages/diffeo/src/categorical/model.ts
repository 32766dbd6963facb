/**
 * A denoiser with all that is needed to use it: its network, its encoding of classes as points, and
 * its parameters.
 */
import { fail, type NdArray, sizeOf } from "../graph/index.ts";
import {
  mapShapes,
  type NetworkSpec,
  networkOf,
  type Parameters,
  parameterCount,
  type Shaped,
} from "../model/index.ts";
import type { Key } from "../random/index.ts";
import type { ErrorByTime } from "../sampler/index.ts";
import { type SdeSpec, sdeOf } from "../sde/index.ts";
import { type Categorical, type CategoricalSpec, categorical } from "./categorical.ts";
import { type Denoiser, type Parameterisation, parameterisations, type Sees } from "./denoiser.ts";

/**
 * A model as plain data: its network, what the network predicts, how classes are encoded as points,
 * and how these are noised.
 */
export interface ModelSpec {
  readonly network: NetworkSpec;
  readonly parameterisation: Parameterisation;
  readonly encoding: CategoricalSpec;
  /**
   * The input of the network: the noised point, or the log-likelihood of every class. With
   * likelihoods the network also answers for grids with known sites. Default points.
   */
  readonly sees?: Sees;
  /** Default VP with a rate from 0.1 to 20. */
  readonly sde?: SdeSpec;
}

/** A trained denoiser of grids: its encoding, network and parameters. */
export interface Model {
  readonly spec: ModelSpec;
  readonly encoding: Categorical;
  readonly denoiser: Denoiser;
  readonly parameters: Parameters<NdArray>;
  /**
   * Its squared error by time, if it was measured (errors.ts). Time grids are fitted to it.
   */
  readonly errors?: ErrorByTime;
}

/** The denoiser that a specification describes, on events [...grid, n]. */
export function denoiserOf(spec: ModelSpec): Pick<Model, "denoiser" | "encoding"> {
  const { parameterisation, sees = "points", sde = { kind: "vp" } } = spec;
  const encoding = categorical(spec.encoding);
  const { classes, channels, grid } = encoding;
  if (!Object.hasOwn(parameterisations, parameterisation))
    fail(
      "usage",
      `a network that predicts ${parameterisation}`,
      `let it predict one of ${Object.keys(parameterisations).join(", ")}`,
    );
  const outputs = parameterisations[parameterisation].outputs(classes, channels);
  const network = networkOf(spec.network);
  const inputs = sees === "likelihoods" ? classes : channels;
  if (sees === "likelihoods" && parameterisation !== "posterior")
    fail(
      "usage",
      `a network that sees likelihoods and predicts ${parameterisation}`,
      "let it predict the posterior, or see points",
    );
  if (sees === "points" && spec.network.kind === "exchangeable")
    fail(
      "usage",
      "an exchangeable network that sees points",
      'set `sees` to "likelihoods": a point does not treat classes alike',
    );
  if (network.channels !== inputs || network.outputs !== outputs)
    fail(
      "usage",
      `a network from ${network.channels} to ${network.outputs} channels for ${classes} classes`,
      `to predict ${parameterisation} from ${sees}, give it ${inputs} and ${outputs} channels`,
    );
  network.requireGrid(grid);
  const codes: NdArray = { shape: [classes, channels], dtype: "float64", data: encoding.points };
  const process = sdeOf(sde, grid.length + 1);
  return {
    encoding,
    denoiser: { network, sees, parameterisation, codes, site: encoding.site, sde: process },
  };
}

/** Parameters cut out of a flat vector. */
function cut(shapes: Parameters<Shaped>, flat: Float32Array): Parameters<NdArray> {
  const count = parameterCount(shapes);
  if (flat.length !== count)
    fail(
      "shape",
      `${flat.length} numbers for a network of ${count}`,
      "give the parameters of this network, flattened",
    );
  let at = 0;
  return mapShapes(shapes, (shape): NdArray => {
    at += sizeOf(shape);
    return { shape, dtype: "float32", data: flat.subarray(at - sizeOf(shape), at) };
  });
}

/** A model from its specification and a flat vector of parameters. */
export function modelOf(spec: ModelSpec, flat: Float32Array): Model {
  const made = denoiserOf(spec);
  return { spec, parameters: cut(made.denoiser.network.shapes(), flat), ...made };
}

/** A model with random parameters. */
export function freshModel(spec: ModelSpec, key: Key): Model {
  const made = denoiserOf(spec);
  return { spec, parameters: made.denoiser.network.init(key), ...made };
}
