/** A trained denoiser as a file: parameters by name, and beside them all that is needed to use them. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import {
  type Categorical,
  type CategoricalSpec,
  categorical,
  type Denoiser,
  type Parameterisation,
} from "../categorical/index.ts";
import { fail, isNdArray, leavesOf, mapTree, type NdArray } from "../graph/index.ts";
import { type UNet, type UNetOptions, unetInit } from "../model/unet.ts";
import { key } from "../random/index.ts";
import { vp } from "../sde/index.ts";
import { readSafetensors, writeSafetensors } from "../train/index.ts";

/** Plain data that says what a network is and how classes became points. */
export interface ModelSpec {
  readonly network: UNetOptions;
  readonly parameterisation: Parameterisation;
  readonly encoding: CategoricalSpec;
}

export interface Model {
  readonly spec: ModelSpec;
  readonly encoding: Categorical;
  readonly denoiser: Denoiser;
  readonly parameters: UNet<NdArray>;
}

/** The denoiser a spec describes: VP noise with β from 0.1 to 20 on events [rows, columns, n]. */
export function denoiserOf(spec: ModelSpec): { denoiser: Denoiser; encoding: Categorical } {
  const encoding = categorical(spec.encoding);
  const shape = [encoding.classes, encoding.channels];
  const codes: NdArray = { shape, dtype: "float64", data: encoding.points };
  return {
    encoding,
    denoiser: {
      network: spec.network,
      parameterisation: spec.parameterisation,
      codes,
      site: encoding.site,
      sde: vp({ eventRank: 3 }),
    },
  };
}

/** Parameters cut out of a flat vector. */
function parametersOf(spec: ModelSpec, flat: Float32Array): UNet<NdArray> {
  let at = 0;
  const cut = mapTree<NdArray, NdArray>(
    unetInit(key(0), spec.network),
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

/** Writes the parameters in `flat`, in half precision unless told otherwise. */
export async function saveModel(
  path: string,
  spec: ModelSpec,
  flat: Float32Array,
  type: "F16" | "F32" = "F16",
): Promise<void> {
  const arrays: Record<string, NdArray> = {};
  mapTree<NdArray, void>(
    parametersOf(spec, flat),
    (array, name) => {
      arrays[name] = array;
    },
    isNdArray,
  );
  await writeSafetensors(path, { arrays, metadata: { format: "diffeo-denoiser-1", spec: JSON.stringify(spec) } }, type);
}

export async function loadModel(path: string): Promise<Model> {
  const { arrays, metadata } = await readSafetensors(path);
  if (metadata.format !== "diffeo-denoiser-1")
    fail("data", `${path} is no denoiser of diffeo`, "give a model.safetensors that diffeo chess train wrote");
  const spec = JSON.parse(metadata.spec) as ModelSpec;
  const parameters = mapTree<NdArray, NdArray>(
    unetInit(key(0), spec.network),
    ({ shape }, name) => {
      const array = arrays[name];
      if (!array || array.shape.join() !== shape.join())
        fail(
          "data",
          `${path}: ${name} has shape [${array?.shape.join(", ") ?? "nothing"}], its own settings say [${shape.join(", ")}]`,
          "the file is damaged; use another",
        );
      return array;
    },
    isNdArray,
  ) as unknown as UNet<NdArray>;
  return { spec, parameters, ...denoiserOf(spec) };
}

/** What tells one model's file from another: the first twelve hexadecimal digits of its SHA-256. */
export const modelDigest = async (path: string): Promise<string> =>
  createHash("sha256")
    .update(await readFile(path))
    .digest("hex")
    .slice(0, 12);

/** How many numbers a network has. */
export const parameterCount = (parameters: UNet<NdArray>): number =>
  leavesOf<NdArray>(parameters, isNdArray).reduce((n, a) => n + a.data.length, 0);
