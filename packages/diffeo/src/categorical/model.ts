/** Models: a denoiser with its encoding of classes as points and its parameters. */
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
   * likelihoods the network can also be used for grids with known sites. Default `points`.
   */
  readonly sees?: Sees;
  /** The SDE. Default VP with a rate from 0.1 to 20. */
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
      `unknown \`parameterisation\` "${parameterisation}"`,
      `use one of ${Object.keys(parameterisations).join(", ")}`,
    );
  const outputs = parameterisations[parameterisation].outputs(classes, channels);
  const network = networkOf(spec.network);
  const inputs = sees === "likelihoods" ? classes : channels;
  if (sees === "likelihoods" && parameterisation !== "posterior")
    fail(
      "usage",
      `\`sees\` is "likelihoods", but the network predicts ${parameterisation}`,
      "use the parameterisation posterior, or let it see points",
    );
  if (sees === "points" && spec.network.kind === "exchangeable")
    fail(
      "usage",
      "an exchangeable network cannot see points, which are not symmetric in the classes",
      'set `sees` to "likelihoods"',
    );
  if (network.channels !== inputs || network.outputs !== outputs)
    fail(
      "usage",
      `the network has ${network.channels} input and ${network.outputs} output channels for ` +
        `${classes} classes`,
      `to predict ${parameterisation} from ${sees}, it needs ${inputs} and ${outputs} channels`,
    );
  network.requireGrid(grid);
  const codes: NdArray = { shape: [classes, channels], dtype: "float64", data: encoding.points };
  const process = sdeOf(sde, grid.length + 1);
  return {
    encoding,
    denoiser: { network, sees, parameterisation, codes, site: encoding.site, sde: process },
  };
}

/** Splits a flat vector into parameters. */
function cut(shapes: Parameters<Shaped>, flat: Float32Array): Parameters<NdArray> {
  const count = parameterCount(shapes);
  if (flat.length !== count)
    fail(
      "shape",
      `${flat.length} numbers are given for a network with ${count} parameters`,
      "give the parameters of this network, flattened",
    );
  let at = 0;
  return mapShapes(shapes, (shape): NdArray => {
    at += sizeOf(shape);
    return { shape, dtype: "float32", data: flat.subarray(at - sizeOf(shape), at) };
  });
}

/** Makes a model from its specification and a flat vector of parameters. */
export function modelOf(spec: ModelSpec, flat: Float32Array): Model {
  const made = denoiserOf(spec);
  return { spec, parameters: cut(made.denoiser.network.shapes(), flat), ...made };
}

/** Makes a model with random initial parameters. */
export function freshModel(spec: ModelSpec, key: Key): Model {
  const made = denoiserOf(spec);
  return { spec, parameters: made.denoiser.network.init(key), ...made };
}
