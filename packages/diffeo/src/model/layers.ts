/**
 * Layers of networks, each as a pair of functions: `…Init(source, sizes)` makes the parameters, as
 * host arrays if the source is `initialise(key)`, and the layer is a function of parameters and
 * input. Images are channels-last.
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
  type Shape,
  sin,
  sizeOf,
  type Tensor,
  type Tree,
} from "../graph/index.ts";
import { fold, type Key, normal } from "../random/index.ts";

/** The weights and the bias of a linear layer or a convolution. */
export interface Affine<T> {
  readonly w: T;
  readonly b: T;
}

/** The shape of an array that is not allocated. */
export interface Shaped {
  readonly shape: Shape;
}

/**
 * A source of the parameters of a network. A network describes its parameters once. A key makes
 * initial numbers of the description, and files are checked by the shapes alone.
 */
export interface Source<T> {
  /** The source of a named part; different names have independent numbers. */
  at(name: string): Source<T>;
  /** N(0, variance) */
  normal(shape: Shape, variance: number): T;
  fill(shape: Shape, value: number): T;
}

/** N(0, variance) */
export function gaussianArray(key: Key, shape: Shape, variance: number): NdArray {
  const { data } = normal(key, shape);
  const scale = Math.sqrt(variance);
  return { shape, dtype: "float32", data: data.map((v) => v * scale) };
}

export const filledArray = (shape: Shape, value: number): NdArray => ({
  shape,
  dtype: "float32",
  data: new Float32Array(sizeOf(shape)).fill(value),
});

/** A source of initial parameters, which are a function of the key. */
export const initialise = (key: Key): Source<NdArray> => ({
  at: (name) => initialise(fold(key, name)),
  normal: (shape, variance) => gaussianArray(key, shape, variance),
  fill: filledArray,
});

/**
 * A source of shapes without numbers, with limits of the total numbers of arrays and elements.
 * Beyond them `exceeded` is called, which must throw.
 */
export function shapesWithin(
  limit: { readonly arrays: number; readonly numbers: number },
  exceeded: () => never,
) {
  let [arrays, numbers] = [0, 0];
  const one = (shape: Shape): Shaped => {
    arrays++;
    numbers += sizeOf(shape);
    return arrays > limit.arrays || !(numbers <= limit.numbers) ? exceeded() : { shape };
  };
  const source: Source<Shaped> = { at: () => source, normal: one, fill: one };
  return source;
}

/**
 * f(0) … f(n − 1), one by one, so that a source that throws ends it before memory for all is
 * allocated.
 */
export function times<T>(n: number, f: (i: number) => T): T[] {
  const out: T[] = [];
  for (let i = 0; i < n; i++) out.push(f(i));
  return out;
}

/** Initial weights with the variance gain/fan-in. */
export const matrixInit = <T>(source: Source<T>, inputs: number, outputs: number, gain = 1): T =>
  source.normal([inputs, outputs], gain / inputs);

/** Initial parameters of a linear layer: weights as in `matrixInit`, and biases 0. */
export const linearInit = <T>(
  source: Source<T>,
  inputs: number,
  outputs: number,
  gain = 1,
): Affine<T> => ({
  w: matrixInit(source, inputs, outputs, gain),
  b: source.fill([outputs], 0),
});

/** A linear layer, x W + b over the last axis. */
export const linear = ({ w, b }: Affine<Tensor>, x: Tensor): Tensor => add(matmul(x, w), b);

/**
 * Initial parameters of a convolution with a square kernel: normal weights scaled by fan-in, zero
 * bias.
 */
export const convInit = <T>(
  source: Source<T>,
  size: number,
  inputs: number,
  outputs: number,
  gain = 1,
): Affine<T> => ({
  w: source.normal([size, size, inputs, outputs], gain / (size * size * inputs)),
  b: source.fill([outputs], 0),
});

/** A convolution with zero padding, which keeps the size of the image. */
export const conv = ({ w, b }: Affine<Tensor>, x: Tensor): Tensor => add(conv2d(x, w), b);

/** The scale and the shift of a normalisation. */
export interface Norm<T> {
  readonly scale: T;
  readonly shift: T;
}

/** Initial parameters of a normalisation: scale 1, shift 0. */
export const normInit = <T>(source: Source<T>, channels: number): Norm<T> => ({
  scale: source.fill([channels], 1),
  shift: source.fill([channels], 0),
});

/** sin and cos of t at geometrically spaced frequencies: […] → […, size]. */
export function timeFeatures(t: Tensor, size: number, longest = 10_000): Tensor {
  const half = size / 2;
  const frequencies = Array.from({ length: half }, (_, i) => 1000 * longest ** (-i / half));
  const angle = mul(expandDims(t, -1), frequencies);
  return concat([sin(angle), cos(angle)], -1);
}

/**
 * Parameters, a tree of arrays, as constants of a graph, so that the runtime can prepare them once.
 */
export const asConstants = <P = Tree<Tensor>>(parameters: unknown): P =>
  mapTree<NdArray, Tensor>(parameters, (a) => constant(a), isNdArray) as P;
