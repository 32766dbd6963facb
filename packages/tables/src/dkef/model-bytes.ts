/**
 * A fitted density as the bytes of a file: parameters and α by name, and everything that is needed
 * to use them on raw rows.
 */
import { fail, mapTree, type NdArray, type Shape } from "diffeo/graph";
import { type Dkef, dkefShapes } from "diffeo/model";
import { flatten, jsonObject, parseSafetensors, serializeSafetensors } from "diffeo/train";
import * as v from "valibot";
import type { Whitening } from "../table/whitening.ts";
import type { Fitted } from "./fitted.ts";

const FORMAT = "diffeo-dkef-1";

/** The settings of a density in its file. */
export interface DensitySpec {
  /** The name of its objective. */
  readonly loss: string;
  readonly seed: number;
  readonly columns: readonly string[];
  readonly whitening: Whitening;
  /**
   * log ∫p̃ of the whitened points. Absent if numbers were lost: the density is then known up to a
   * factor.
   */
  readonly logZ?: number | undefined;
}

/** A fitted density with its settings: the content of a file. */
export interface DensityModel {
  readonly spec: DensitySpec;
  readonly fitted: Fitted;
}

/** The bytes of a fitted density, in parts that are written one after another. */
export function serializeDensity(spec: DensitySpec, fitted: Fitted): Uint8Array[] {
  const { inducing, features, mixture, logLambda } = fitted.parameters;
  const alpha: NdArray = {
    shape: [fitted.alpha.length],
    dtype: "float32",
    data: Float32Array.from(fitted.alpha),
  };
  return serializeSafetensors({
    arrays: { inducing, ...features, mixture, logLambda, alpha },
    metadata: { format: FORMAT, step: String(fitted.step), spec: JSON.stringify(spec) },
  });
}

const finite = v.pipe(v.number(), v.finite());

const specSchema = v.pipe(
  jsonObject(
    v.object({
      loss: v.string(),
      seed: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
      columns: v.pipe(v.array(v.string()), v.minLength(1)),
      whitening: jsonObject(
        v.object({ mean: v.array(finite), matrix: v.array(finite), logDet: finite }),
      ),
      logZ: v.optional(finite),
    }),
  ),
  v.check(({ columns, whitening: { mean, matrix } }) => {
    return mean.length === columns.length && matrix.length === columns.length ** 2;
  }, "the whitening does not fit the columns"),
);

/**
 * The settings in a text; undefined if something is missing, or if numbers do not fit the columns.
 */
function specIn(text: unknown): DensitySpec | undefined {
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), specSchema), text);
  return parsed.success ? parsed.output : undefined;
}

const isShape = (value: unknown): value is Shape => Array.isArray(value);

/**
 * Parses a density from its bytes; errors call it `path`. The arrays determine the size of the
 * density. Each must have as many numbers as the file has bytes for, and all must agree, so no size
 * in the file allocates more memory than the file has bytes.
 */
export function parseDensity(bytes: Uint8Array, path = "the model"): DensityModel {
  const { arrays, metadata } = parseSafetensors(bytes, path);
  if (metadata.format !== FORMAT)
    fail(
      "data",
      `${path} is not a density written by diffeo`,
      "give a model.safetensors that diffeo density fit wrote",
    );
  const damaged = (what: string): never =>
    fail("data", `${path}: ${what}`, "the file is damaged; fit again");
  const spec =
    specIn(metadata.spec) ?? damaged("the settings of the model are missing or incomplete");
  const step = Number(metadata.step);
  if (!(Number.isSafeInteger(step) && step >= 0))
    damaged("the step of the model is not an integer");
  const pick = (name: string): NdArray =>
    Object.hasOwn(arrays, name) ? arrays[name] : damaged(`the array "${name}" is missing`);
  const shaped = (name: string, shape: Shape): NdArray => {
    const array = pick(name);
    if (array.shape.join() !== shape.join())
      damaged(
        `${name} has shape [${array.shape.join(", ")}], but the rest of the file needs ` +
          `[${shape.join(", ")}]`,
      );
    return array;
  };
  const [points = 0] = pick("inducing").shape;
  const [kernels = 0] = pick("logScales").shape;
  const width = pick("w1").shape[2] ?? 0;
  if (points === 0 || kernels === 0 || width === 0)
    damaged("it has no points, kernels or features");
  const shapes = dkefShapes({ points, n: spec.columns.length, kernels, width });
  const parameters = mapTree<Shape, NdArray>(
    shapes,
    (shape, name) => shaped(name.replace("features.", ""), shape),
    isShape,
  ) as unknown as Dkef<NdArray>;
  return {
    spec,
    fitted: {
      step,
      parameters,
      theta: flatten(parameters),
      alpha: Float64Array.from(shaped("alpha", [points]).data as Float32Array),
    },
  };
}
