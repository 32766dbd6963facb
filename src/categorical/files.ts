/** What of categories needs Node: a trained denoiser as a file, parameters by name and its spec beside them. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { DiffeoError, fail, isNdArray, mapTree, type NdArray } from "../graph/index.ts";
import { type UNet, unetInit } from "../model/unet.ts";
import { key } from "../random/index.ts";
import { readSafetensors, writeSafetensors } from "../train/index.ts";
import { denoiserOf, type Model, type ModelSpec } from "./model.ts";

const FORMAT = "diffeo-denoiser-1";

/** Writes a model, its parameters in half precision unless told otherwise. */
export async function saveModel(
  path: string,
  { spec, parameters }: Pick<Model, "spec" | "parameters">,
  type: "F16" | "F32" = "F16",
): Promise<void> {
  const arrays: Record<string, NdArray> = {};
  mapTree<NdArray, void>(
    parameters,
    (array, name) => {
      arrays[name] = array;
    },
    isNdArray,
  );
  await writeSafetensors(path, { arrays, metadata: { format: FORMAT, spec: JSON.stringify(spec) } }, type);
}

/** A spec as it stands in a file, and a network of its shapes. */
function parseSpec(
  text: string,
  path: string,
): Pick<Model, "spec" | "denoiser" | "encoding"> & { like: UNet<NdArray> } {
  try {
    const spec = JSON.parse(text) as ModelSpec;
    return { spec, ...denoiserOf(spec), like: unetInit(key(0), spec.network) };
  } catch (error) {
    const why = error instanceof DiffeoError ? ` (${error.message.replace(/\.$/, "")})` : "";
    throw new DiffeoError("data", `${path}: its spec is no denoiser's${why}`, "the file is damaged; use another", {
      cause: error,
    });
  }
}

export async function loadModel(path: string): Promise<Model> {
  const { arrays, metadata } = await readSafetensors(path);
  if (metadata.format !== FORMAT)
    fail("data", `${path} is no denoiser of diffeo`, "give a model.safetensors that diffeo chess train wrote");
  const { like, ...rest } = parseSpec(metadata.spec, path);
  const parameters = mapTree<NdArray, NdArray>(
    like,
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
  return { ...rest, parameters };
}

/** What tells one model's file from another: the first twelve hexadecimal digits of its SHA-256. */
export const modelDigest = async (path: string): Promise<string> =>
  createHash("sha256")
    .update(await readFile(path))
    .digest("hex")
    .slice(0, 12);
