/** A denoiser with all that is needed to use it: what the network is, how classes became points, and its parameters. */
import { fail, isNdArray, leavesOf, mapTree, type NdArray } from "../graph/index.ts";
import { type UNet, type UNetOptions, unetInit } from "../model/unet.ts";
import { key } from "../random/index.ts";
import { vp } from "../sde/index.ts";
import { type Categorical, type CategoricalSpec, categorical } from "./categorical.ts";
import { type Denoiser, type Parameterisation, parameterisations } from "./denoiser.ts";

/** Plain data that says what a network is and how classes became points. */
export interface ModelSpec {
  readonly network: UNetOptions;
  readonly parameterisation: Parameterisation;
  /** Of a grid of two axes. */
  readonly encoding: CategoricalSpec;
}

export interface Model {
  readonly spec: ModelSpec;
  readonly encoding: Categorical;
  readonly denoiser: Denoiser;
  readonly parameters: UNet<NdArray>;
}

/** The denoiser a spec describes: VP noise with β from 0.1 to 20 on events [rows, columns, n]. */
export function denoiserOf(spec: ModelSpec): Pick<Model, "denoiser" | "encoding"> {
  const { network, parameterisation } = spec;
  const encoding = categorical(spec.encoding);
  const { classes, channels, grid } = encoding;
  if (!Object.hasOwn(parameterisations, parameterisation))
    fail(
      "usage",
      `a network that predicts ${parameterisation}`,
      `let it predict one of ${Object.keys(parameterisations).join(", ")}`,
    );
  const outputs = parameterisations[parameterisation].outputs(classes, channels);
  if (grid.length !== 2 || network.channels !== channels || (network.outputs ?? network.channels) !== outputs)
    fail(
      "usage",
      `a network from ${network.channels} to ${network.outputs ?? network.channels} channels for ${classes} classes on a grid [${grid.join(", ")}]`,
      `to predict ${parameterisation}, give it ${channels} and ${outputs} channels, and a grid of two axes`,
    );
  const codes: NdArray = { shape: [classes, channels], dtype: "float64", data: encoding.points };
  return { encoding, denoiser: { network, parameterisation, codes, site: encoding.site, sde: vp({ eventRank: 3 }) } };
}

/** Parameters cut out of a flat vector. */
function parametersOf({ network }: ModelSpec, flat: Float32Array): UNet<NdArray> {
  const like = unetInit(key(0), network);
  if (flat.length !== parameterCount(like))
    fail(
      "shape",
      `${flat.length} numbers for a network of ${parameterCount(like)}`,
      "give the parameters of this network, flattened",
    );
  let at = 0;
  const cut = mapTree<NdArray, NdArray>(
    like,
    ({ shape, dtype, data }) => {
      at += data.length;
      return { shape, dtype, data: flat.subarray(at - data.length, at) };
    },
    isNdArray,
  );
  return cut as unknown as UNet<NdArray>;
}

/** The model a spec and a flat vector of parameters make. */
export const modelOf = (spec: ModelSpec, flat: Float32Array): Model => ({
  spec,
  parameters: parametersOf(spec, flat),
  ...denoiserOf(spec),
});

/** How many numbers a network has. */
export const parameterCount = (parameters: UNet<NdArray>): number =>
  leavesOf<NdArray>(parameters, isNdArray).reduce((n, a) => n + a.data.length, 0);
