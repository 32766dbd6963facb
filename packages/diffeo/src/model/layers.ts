/**
 * The layers small networks are made of, as pairs: `…Init(key, sizes)` gives parameters as host arrays, the layer itself
 * is a function of parameters and input. Images are channels-last.
 */
import {
  add,
  concat,
  constant,
  conv2d,
  cos,
  expandDims,
  isNdArray,
  mapTree,
  matmul,
  mul,
  type NdArray,
  sin,
  type Tensor,
} from "../graph/index.ts";
import { type Key, normal } from "../random/index.ts";

export interface Affine<T> {
  readonly w: T;
  readonly b: T;
}

/** N(0, variance) */
export function gaussian(key: Key, shape: readonly number[], variance: number): NdArray {
  const { data } = normal(key, shape);
  const scale = Math.sqrt(variance);
  return { shape, dtype: "float32", data: data.map((v) => v * scale) };
}

export const filled = (shape: readonly number[], value: number): NdArray => ({
  shape,
  dtype: "float32",
  data: new Float32Array(shape.reduce((n, d) => n * d, 1)).fill(value),
});

/** Weights of variance gain/fan-in, zero biases. */
export const linearInit = (key: Key, inputs: number, outputs: number, gain = 1): Affine<NdArray> => ({
  w: gaussian(key, [inputs, outputs], gain / inputs),
  b: filled([outputs], 0),
});

/** x W + b over the last axis. */
export const linear = ({ w, b }: Affine<Tensor>, x: Tensor): Tensor => add(matmul(x, w), b);

export const convInit = (key: Key, size: number, inputs: number, outputs: number, gain = 1): Affine<NdArray> => ({
  w: gaussian(key, [size, size, inputs, outputs], gain / (size * size * inputs)),
  b: filled([outputs], 0),
});

/** A convolution with zero padding that keeps the image's size. */
export const conv = ({ w, b }: Affine<Tensor>, x: Tensor): Tensor => add(conv2d(x, w), b);

export interface Norm<T> {
  readonly scale: T;
  readonly shift: T;
}

export const normInit = (channels: number): Norm<NdArray> => ({
  scale: filled([channels], 1),
  shift: filled([channels], 0),
});

/** sin and cos of t at geometrically spaced frequencies: […] → […, size]. */
export function timeFeatures(t: Tensor, size: number, longest = 10_000): Tensor {
  const half = size / 2;
  const frequencies = Array.from({ length: half }, (_, i) => 1000 * longest ** (-i / half));
  const angle = mul(expandDims(t, -1), frequencies);
  return concat([sin(angle), cos(angle)], -1);
}

/** Parameters as constants of a graph, `unknown` being a tree of arrays: the runtime may then prepare them once. */
export const frozen = <P>(parameters: unknown): P =>
  mapTree<NdArray, Tensor>(parameters, (a) => constant(a), isNdArray) as P;
