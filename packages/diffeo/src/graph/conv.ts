/**
 * Two-dimensional convolution, channels last. All operations follow from one trilinear form
 *   T(x, w, g) = Σ g[b,p,q,o] · x[b, ps+u−a, qs+v−c, i] · w[u,v,i,o]
 * whose three partial derivatives are the three primitives below: ∂T/∂g = conv2d(x, w), ∂T/∂x =
 * convInput(g, w), ∂T/∂w = convWeight(x, g). The derivative of each consists of the other two, so
 * derivatives of any order exist.
 */
import { merged, unrolled } from "./batch.ts";
import { expand } from "./broadcast.ts";
import { fail, internal } from "./error.ts";
import { type Shape, showShape, sizeOf } from "./ndarray.ts";
import { max, mean } from "./reduce.ts";
import { reshape } from "./shape.ts";
import {
  asTensor,
  asTensors,
  type Make,
  type Operand,
  primitive,
  requireFloat,
  type Tensor,
} from "./tensor.ts";

/**
 * The sizes of a convolution: input h×w, kernel kh×kw, output oh×ow, stride, and zeros before the
 * input.
 */
export type Geometry = {
  h: number;
  w: number;
  kh: number;
  kw: number;
  oh: number;
  ow: number;
  stride: number;
  top: number;
  left: number;
};

/**
 * Calls `visit(p, u, i)` for all combinations of an output row p, kernel row u and input row i = ps
 * + u − a; also for columns.
 */
export function meetings(
  n: number,
  k: number,
  out: number,
  stride: number,
  before: number,
  visit: (p: number, u: number, i: number) => void,
): void {
  for (let p = 0; p < out; p++)
    for (let u = 0; u < k; u++) {
      const i = p * stride + u - before;
      if (i >= 0 && i < n) visit(p, u, i);
    }
}

/** Sums the trilinear form pixel by pixel, given the offsets of the first x, w and g. */
function accumulate(
  batch: number,
  inC: number,
  outC: number,
  q: Geometry,
  terms: (x: number, w: number, g: number) => void,
): void {
  meetings(q.h, q.kh, q.oh, q.stride, q.top, (p, u, i) => {
    meetings(q.w, q.kw, q.ow, q.stride, q.left, (r, v, j) => {
      const w = (u * q.kw + v) * inC * outC;
      for (let b = 0; b < batch; b++)
        terms(((b * q.h + i) * q.w + j) * inC, w, ((b * q.oh + p) * q.ow + r) * outC);
    });
  });
}

const lowered = (name: string) => (): never =>
  internal(`${name} is lowered to a product before it is written`);

export const convNode: Make<Geometry> = primitive<Geometry>({
  name: "conv2d",
  infer: ([x, w], q) => ({ shape: [x.shape[0], q.oh, q.ow, w.shape[3]], dtype: x.dtype }),
  vjp: (g, { inputs: [x, w], attributes: q }, i) =>
    i === 0 ? convInputNode([g, w], q) : convWeightNode([x, g], q),
  batch: (node, inputs, mapped) =>
    mapped[1] ? unrolled(node, inputs, mapped) : merged(node, inputs, mapped, 1),
  emit: lowered("conv2d"),
  evaluate: ({ inputs: [x, w], attributes: q, shape }, [dx, dw]) => {
    const out = new Float64Array(sizeOf(shape));
    const [, , inC, outC] = w.shape;
    accumulate(x.shape[0], inC, outC, q, (ix, iw, ig) => {
      for (let c = 0; c < inC; c++) {
        const [value, row] = [dx[ix + c], iw + c * outC];
        for (let o = 0; o < outC; o++) out[ig + o] += value * dw[row + o];
      }
    });
    return out;
  },
});

export const convInputNode: Make<Geometry> = primitive<Geometry>({
  name: "convInput",
  infer: ([g, w], q) => ({ shape: [g.shape[0], q.h, q.w, w.shape[2]], dtype: g.dtype }),
  vjp: (x, { inputs: [g, w], attributes: q }, i) =>
    i === 0 ? convNode([x, w], q) : convWeightNode([x, g], q),
  batch: (node, inputs, mapped) =>
    mapped[1] ? unrolled(node, inputs, mapped) : merged(node, inputs, mapped, 1),
  emit: lowered("convInput"),
  evaluate: ({ inputs: [g, w], attributes: q, shape }, [dg, dw]) => {
    const out = new Float64Array(sizeOf(shape));
    const [, , inC, outC] = w.shape;
    accumulate(g.shape[0], inC, outC, q, (ix, iw, ig) => {
      for (let c = 0; c < inC; c++) {
        const row = iw + c * outC;
        for (let o = 0; o < outC; o++) out[ix + c] += dg[ig + o] * dw[row + o];
      }
    });
    return out;
  },
});

export const convWeightNode: Make<Geometry> = primitive<Geometry>({
  name: "convWeight",
  infer: ([x, g], q) => ({ shape: [q.kh, q.kw, x.shape[3], g.shape[3]], dtype: x.dtype }),
  vjp: (w, { inputs: [x, g], attributes: q }, i) =>
    i === 0 ? convInputNode([g, w], q) : convNode([x, w], q),
  emit: lowered("convWeight"),
  evaluate: ({ inputs: [x], attributes: q, shape }, [dx, dg]) => {
    const out = new Float64Array(sizeOf(shape));
    const [, , inC, outC] = shape;
    accumulate(x.shape[0], inC, outC, q, (ix, iw, ig) => {
      for (let c = 0; c < inC; c++) {
        const [value, row] = [dx[ix + c], iw + c * outC];
        for (let o = 0; o < outC; o++) out[row + o] += value * dg[ig + o];
      }
    });
    return out;
  },
});

/** Options of `conv2d`. */
export interface ConvOptions {
  readonly stride?: number;
  /**
   * `same`: output size ⌈n/stride⌉; `valid`: no padding; a number: zeros before and after both
   * axes.
   */
  readonly padding?: "same" | "valid" | number;
}

/**
 * The two-dimensional convolution of x [batch, height, width, in] with kernels w [kh, kw, in, out].
 */
export function conv2d(x: Operand, w: Operand, options: ConvOptions = {}): Tensor {
  const [image, kernel] = asTensors(x, w, "conv2d");
  requireFloat(image, "conv2d");
  const { stride = 1, padding = "same" } = options;
  const count = (n: unknown, least: number): boolean =>
    Number.isInteger(n) && (n as number) >= least;
  if (!count(stride, 1) || !(padding === "same" || padding === "valid" || count(padding, 0)))
    fail(
      "usage",
      `conv2d: \`stride\` is ${stride} and \`padding\` is ${padding}`,
      'use an integer stride ≥ 1, and padding "same", "valid" or an integer ≥ 0',
    );
  if (image.shape.length !== 4 || kernel.shape.length !== 4 || image.shape[3] !== kernel.shape[2])
    fail(
      "shape",
      `conv2d: input ${showShape(image.shape)} and kernel ${showShape(kernel.shape)} do not match`,
      "give [batch, height, width, in] and [kh, kw, in, out]",
    );
  const [, h, wide] = image.shape;
  const [kh, kw] = kernel.shape;
  const along = (n: number, k: number): [number, number] => {
    if (padding === "valid") return [Math.floor((n - k) / stride) + 1, 0];
    if (padding === "same") {
      const out = Math.ceil(n / stride);
      return [out, Math.floor(Math.max(0, (out - 1) * stride + k - n) / 2)];
    }
    return [Math.floor((n + 2 * padding - k) / stride) + 1, padding];
  };
  const [oh, top] = along(h, kh);
  const [ow, left] = along(wide, kw);
  if (oh < 1 || ow < 1)
    fail(
      "shape",
      `conv2d: the ${kh}×${kw} kernel is larger than the ${h}×${wide} input`,
      "use padding, or a smaller kernel",
    );
  return convNode([image, kernel], { h, w: wide, kh, kw, oh, ow, stride, top, left });
}

/**
 * Splits both image axes into windows of `size`: [b, h, w, c] → [b, h/size, size, w/size, size, c].
 */
function windows(x: Operand, size: number, operation: string): Tensor {
  const t = asTensor(x);
  const [b, h, w, c] = t.shape;
  if (t.shape.length !== 4 || h % size !== 0 || w % size !== 0)
    fail(
      "shape",
      `${operation}: ${showShape(t.shape)} is not divisible into windows of ${size}×${size}`,
      "give [batch, height, width, channels] with sizes that divide",
    );
  return reshape(t, [b, h / size, size, w / size, size, c]);
}

/** Average pooling: the mean of every size×size window. */
export const averagePool = (x: Operand, size = 2): Tensor =>
  mean(windows(x, size, "averagePool"), [2, 4]);

/** Maximum pooling: the greatest entry of every size×size window. */
export const maxPool = (x: Operand, size = 2): Tensor => max(windows(x, size, "maxPool"), [2, 4]);

/** Nearest-neighbour upsampling: repeats every pixel size×size times. */
export function upsampleNearest(x: Operand, size = 2): Tensor {
  const t = asTensor(x);
  if (t.shape.length !== 4 || !Number.isInteger(size) || size < 1)
    fail(
      "shape",
      `upsampleNearest: cannot repeat the pixels of ${showShape(t.shape)} ${size}×${size} times`,
      "give [batch, height, width, channels] and an integer ≥ 1",
    );
  const [b, h, w, c] = t.shape;
  const wide: Shape = [b, h, size, w, size, c];
  return reshape(expand(reshape(t, [b, h, 1, w, 1, c]), wide), [b, h * size, w * size, c]);
}
