/** The interface by which primitives write ONNX nodes; `onnx.ts` implements it. */
import type { DType, NdArray, Shape } from "./ndarray.ts";

/**
 * Integers, floats and strings as ONNX attributes; a JS integer is written as INT, `float(v)` as
 * FLOAT.
 */
export type OnnxAttribute = number | string | readonly number[] | { readonly float: number };

export interface Emitter {
  /**
   * Appends a node and returns the name of its output, or of output number `output` if it has
   * several.
   */
  node(
    type: string,
    inputs: readonly string[],
    attributes?: Readonly<Record<string, OnnxAttribute>>,
    options?: { readonly domain?: string; readonly output?: number },
  ): string;
  /** Adds an initializer; equal ones are written once. */
  constant(value: NdArray): string;
  /** A vector of int64, for shapes, axes and starts. */
  int64(values: readonly number[]): string;
  /** A float or integer scalar of the given type. */
  scalar(value: number, dtype: DType): string;
  /** Reshapes `name`; adds no node if the shape is already right. */
  reshape(name: string, from: Shape, to: Shape): string;
}

/** ONNX's number for an element type. */
export const onnxType: Readonly<Record<DType, number>> = {
  float32: 1,
  int32: 6,
  int64: 7,
  bool: 9,
  float64: 11,
};

/** A named value of the model. */
export interface Port {
  readonly name: string;
  readonly shape: Shape;
  readonly dtype: DType;
}

/** An ONNX file with what is needed to run it. */
export interface OnnxModel {
  readonly bytes: Uint8Array;
  /** All element types that occur in it; not all devices support all types. */
  readonly types: ReadonlySet<DType>;
  /** The number of nodes, if known. */
  readonly nodes?: number;
  readonly inputs: readonly Port[];
  readonly outputs: readonly Port[];
}
