/** diffeo/outside: scores from ONNX files and async functions. */
export {
  type ExternalFunction,
  type ExternalOptions,
  external,
  type FloatArray,
} from "./external.ts";
export { type FromOnnxOptions, fromOnnx, type OnnxScore } from "./from-onnx.ts";
export type { FilePort, OnnxFile } from "./onnx-file.ts";
export { type Prediction, type PredictionOptions, predictions } from "./prediction.ts";
export type { PortOptions } from "./wiring.ts";

// For other packages of this repository; published types leave them out.

/** @internal */
export { readOnnxFile } from "./onnx-file.ts";
