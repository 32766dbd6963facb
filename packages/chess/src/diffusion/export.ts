/**
 * A denoiser as an ONNX model, parameters and all: x [batch, rows, columns, n] and t [batch] in,
 * one of these out.
 *
 *   score      ∇ log p_t(x)            [batch, rows, columns, n]
 *   denoise    x̂₀ = E[x₀ | x_t]        [batch, rows, columns, n]
 *   posterior  p(k | x_t)              [batch, rows, columns, n + 1], of a network that gives it
 *
 * Shapes of a graph are concrete, so a file has one batch size. Its metadata hold the specification
 * of the model, which maps classes to x and back, and the direction of time.
 */

import type { Model } from "diffeo/categorical";
import { denoiserMean, denoiserPosterior, denoiserScore } from "diffeo/categorical";
import { fail, type OnnxModel, type Target, type Tensor, trace, writeOnnx } from "diffeo/graph";
import { asConstants } from "diffeo/model";

/** The name of a function of a model that `exportOnnx` writes. */
export type ExportName = "score" | "denoise" | "posterior";

/** The functions of a model that can be exported, by name. */
export const exports: Readonly<Record<ExportName, typeof denoiserScore>> = {
  score: denoiserScore,
  denoise: denoiserMean,
  posterior: denoiserPosterior,
};

/** The exported function of x and t. */
export function exportFunction(
  { denoiser, parameters }: Model,
  what: ExportName,
): (x: Tensor, t: Tensor) => Tensor {
  if (!Object.hasOwn(exports, what))
    fail(
      "usage",
      `a network has no output "${what}"`,
      `export one of ${Object.keys(exports).join(", ")}`,
    );
  return exports[what](denoiser, asConstants(parameters));
}

interface ExportOptions {
  readonly what: ExportName;
  readonly batch: number;
  /**
   * The processor for which the file is optimised: convolutions as products of gathered patches, or
   * as convolutions.
   */
  readonly target: Target;
}

/**
 * A function of a model as the bytes of an ONNX file, with its encoding in the metadata.
 *
 * @throws DiffeoError of kind `usage` if the model has no such output
 */
export function exportOnnx(model: Model, { what, batch, target }: ExportOptions): OnnxModel {
  const { spec, encoding, denoiser } = model;
  const f = exportFunction(model, what);
  const shapes = [[batch, ...encoding.grid, encoding.channels], [batch]];
  const { outputs, inputs } = trace(
    (x: Tensor, t: Tensor) => ({ [what]: f(x, t) }),
    shapes,
    "float32",
    ["x", "t"],
  );
  const metadata = {
    format: "diffeo-denoiser-1",
    spec: JSON.stringify(spec),
    process: `${denoiser.sde.name}, t from 0 to ${denoiser.sde.horizon}`,
  };
  return writeOnnx(outputs, target, metadata, inputs);
}
