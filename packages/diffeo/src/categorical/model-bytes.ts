/** A trained denoiser as the bytes of one safetensors file: parameters by name and its spec beside them. */
import { DiffeoError, fail, isNdArray, mapTree, type NdArray } from "../graph/index.ts";
import { type UNet, unetInit } from "../model/unet.ts";
import { key } from "../random/index.ts";
import { makeSafetensors, parseSafetensors, type StoredType } from "../train/index.ts";
import { denoiserOf, type Model, type ModelSpec } from "./model.ts";

const FORMAT = "diffeo-denoiser-1";

/** The bytes of a model, in parts to be written one after another; parameters in half precision unless told otherwise. */
export function makeModel(
  { spec, parameters }: Pick<Model, "spec" | "parameters">,
  type: StoredType = "F16",
): Uint8Array[] {
  const arrays: Record<string, NdArray> = {};
  mapTree<NdArray, void>(
    parameters,
    (array, name) => {
      arrays[name] = array;
    },
    isNdArray,
  );
  return makeSafetensors({ arrays, metadata: { format: FORMAT, spec: JSON.stringify(spec) } }, type);
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

/** A model out of its bytes; `path` is what errors call it. */
export function parseModel(bytes: Uint8Array, path = "the model"): Model {
  const { arrays, metadata } = parseSafetensors(bytes, path);
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
