/** A fitted density as the bytes of a file: parameters and α by name, and beside them all that is needed to use them on raw rows. */
import { fail, isNdArray, mapTree, type NdArray, type Shape } from "diffeo/graph";
import { type Dkef, dkefInit } from "diffeo/model";
import { key } from "diffeo/random";
import { flatten, makeSafetensors, parseSafetensors } from "diffeo/train";
import type { Whitening } from "../table/whitening.ts";
import type { Fitted } from "./fitted.ts";

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

/** The bytes of a fitted density, in parts to be written one after another. */
export function makeDensity(spec: DensitySpec, fitted: Fitted): Uint8Array[] {
  const { inducing, features, mixture, logLambda } = fitted.parameters;
  const alpha: NdArray = { shape: [fitted.alpha.length], dtype: "float32", data: Float32Array.from(fitted.alpha) };
  return makeSafetensors({
    arrays: { inducing, ...features, mixture, logLambda, alpha },
    metadata: { format: FORMAT, step: String(fitted.step), spec: JSON.stringify(spec) },
  });
}

/** The settings a text holds; undefined where something is missing, or numbers do not fit the columns. */
function specIn(text: string): DensitySpec | undefined {
  try {
    const spec = JSON.parse(text) as DensitySpec;
    const { loss, columns, whitening, logZ = 0 } = spec;
    const { mean, matrix, logDet } = whitening;
    const whole =
      [loss, ...columns].every((name) => typeof name === "string") &&
      [...mean, ...matrix, logDet, logZ].every(Number.isFinite) &&
      mean.length === columns.length &&
      matrix.length === columns.length ** 2;
    return whole ? spec : undefined;
  } catch {
    return undefined;
  }
}

/** A density out of its bytes; `path` is what errors call it. */
export function parseDensity(bytes: Uint8Array, path = "the model"): DensityModel {
  const { arrays, metadata } = parseSafetensors(bytes, path);
  if (metadata.format !== FORMAT)
    fail("data", `${path} is no density of diffeo`, "give a model.safetensors that diffeo density fit wrote");
  const damaged = (what: string): never => fail("data", `${path}: ${what}`, "the file is damaged; fit again");
  const spec = specIn(metadata.spec) ?? damaged("the settings of the model are missing or not whole");
  const pick = (name: string): NdArray => arrays[name] ?? damaged(`the array "${name}" is missing`);
  const shaped = (name: string, shape: Shape): NdArray => {
    const array = pick(name);
    if (array.shape.join() !== shape.join())
      damaged(`${name} has shape [${array.shape.join(", ")}], all else says [${shape.join(", ")}]`);
    return array;
  };
  const [points] = pick("inducing").shape;
  const like = dkefInit(key(0), shaped("inducing", [points, spec.columns.length]), {
    width: pick("w1").shape[2],
    logScales: Array.from(pick("logScales").data as Float32Array),
  });
  const named = ({ shape }: NdArray, name: string): NdArray => shaped(name.replace("features.", ""), shape);
  const parameters = mapTree(like, named, isNdArray) as unknown as Dkef<NdArray>;
  return {
    spec,
    fitted: {
      step: Number(metadata.step),
      parameters,
      theta: flatten(parameters),
      alpha: Float64Array.from(shaped("alpha", [points]).data as Float32Array),
    },
  };
}
