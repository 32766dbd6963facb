/** A fitted density as a file: parameters and α by name, and beside them all that is needed to use them on raw rows. */
import { fail, isNdArray, mapTree, type NdArray } from "../graph/index.ts";
import { type Dkef, dkefInit } from "../model/dkef.ts";
import { key } from "../random/index.ts";
import { flatten } from "../train/flat.ts";
import { readSafetensors, writeSafetensors } from "../train/index.ts";
import type { Fitted } from "./fit.ts";
import type { Whitening } from "./prepare.ts";

const FORMAT = "diffeo-dkef-1";

export interface DensitySpec {
  /** The name of its objective. */
  readonly loss: string;
  readonly seed: number;
  readonly columns: readonly string[];
  readonly whitening: Whitening;
  /** log ∫p̃ of the whitened points. Absent where numbers were lost: the density is then known up to a factor. */
  readonly logZ?: number;
}

export interface DensityModel {
  readonly spec: DensitySpec;
  readonly fitted: Fitted;
}

export async function saveDensity(path: string, spec: DensitySpec, fitted: Fitted): Promise<void> {
  const { inducing, features, mixture, logLambda } = fitted.parameters;
  const alpha: NdArray = { shape: [fitted.alpha.length], dtype: "float32", data: Float32Array.from(fitted.alpha) };
  await writeSafetensors(path, {
    arrays: { inducing, ...features, mixture, logLambda, alpha },
    metadata: { format: FORMAT, step: String(fitted.step), spec: JSON.stringify(spec) },
  });
}

export async function loadDensity(path: string): Promise<DensityModel> {
  const { arrays, metadata } = await readSafetensors(path);
  if (metadata.format !== FORMAT)
    fail("data", `${path} is no density of diffeo`, "give a model.safetensors that diffeo density fit wrote");
  const pick = (name: string): NdArray =>
    arrays[name] ?? fail("data", `${path}: the array "${name}" is missing`, "the file is damaged; fit again");
  const like = dkefInit(key(0), pick("inducing"));
  const named = (_: NdArray, path: string): NdArray => pick(path.replace("features.", ""));
  const parameters = mapTree(like, named, isNdArray) as unknown as Dkef<NdArray>;
  const spec = JSON.parse(metadata.spec) as DensitySpec;
  if (parameters.inducing.shape[1] !== spec.columns.length)
    fail("data", `${path}: ${spec.columns.length} columns, points of ${parameters.inducing.shape[1]}`, "fit again");
  return {
    spec,
    fitted: {
      step: Number(metadata.step),
      parameters,
      theta: flatten(parameters),
      alpha: Float64Array.from(pick("alpha").data as Float32Array),
    },
  };
}
