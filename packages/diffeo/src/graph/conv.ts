/**
 * Two-dimensional convolution, channels last. Everything follows from one trilinear form
 *   T(x, w, g) = Σ g[b,p,q,o] · x[b, ps+u−a, qs+v−c, i] · w[u,v,i,o]
 * whose three partial derivatives are the three primitives below: ∂T/∂g = conv2d(x, w), ∂T/∂x = convInput(g, w),
 * ∂T/∂w = convWeight(x, g). The derivative of each is made of the other two, so every order exists.
 *
 * On the CPU each becomes one Gather with a constant table and one Gemm, several times faster than ONNX's Conv
 * in training. On a GPU the first two are native convolutions, and ∂T/∂w is the Gather and a product.
 */
import { fail, internal } from "./error.ts";
import { take } from "./gather.ts";
import { matmul } from "./linalg.ts";
import { type Shape, showShape, sizeOf } from "./ndarray.ts";
import { flip, pad } from "./pieces.ts";
import { max, mean } from "./reduce.ts";
import { expand, reshape, transpose } from "./shape.ts";
import {
  asTensor,
  asTensors,
  constant,
  type Make,
  type Operand,
  primitive,
  requireFloat,
  type Tensor,
} from "./tensor.ts";

/** Sizes of one convolution: input h×w, kernel kh×kw, output oh×ow, stride, and zeros before the input. */
type Geometry = {
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

/** Calls `visit(p, u, i)` for the output row p, kernel row u and input row i = ps + u − a that meet, likewise columns. */
function meetings(
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

/** The trilinear form's sum, one term at a time, by the offsets of x, w and g. */
function accumulate(
  batch: number,
  inC: number,
  outC: number,
  q: Geometry,
  term: (x: number, w: number, g: number) => void,
): void {
  meetings(q.h, q.kh, q.oh, q.stride, q.top, (p, u, i) => {
    meetings(q.w, q.kw, q.ow, q.stride, q.left, (r, v, j) => {
      for (let b = 0; b < batch; b++)
        for (let c = 0; c < inC; c++)
          for (let o = 0; o < outC; o++)
            term(
              ((b * q.h + i) * q.w + j) * inC + c,
              ((u * q.kw + v) * inC + c) * outC + o,
              ((b * q.oh + p) * q.ow + r) * outC + o,
            );
    });
  });
}

/** Which input pixel each (output pixel, tap) reads; the one past the end is a row of zeros. */
function inputTable(q: Geometry): number[] {
  const table = new Array<number>(q.oh * q.ow * q.kh * q.kw).fill(q.h * q.w);
  meetings(q.h, q.kh, q.oh, q.stride, q.top, (p, u, i) => {
    meetings(q.w, q.kw, q.ow, q.stride, q.left, (r, v, j) => {
      table[((p * q.ow + r) * q.kh + u) * q.kw + v] = i * q.w + j;
    });
  });
  return table;
}

/** Which output pixel each (input pixel, tap) was written to. */
function outputTable(q: Geometry): number[] {
  const table = new Array<number>(q.h * q.w * q.kh * q.kw).fill(q.oh * q.ow);
  meetings(q.h, q.kh, q.oh, q.stride, q.top, (p, u, i) => {
    meetings(q.w, q.kw, q.ow, q.stride, q.left, (r, v, j) => {
      table[((i * q.w + j) * q.kh + u) * q.kw + v] = p * q.ow + r;
    });
  });
  return table;
}

/** Rows of a [batch, pixels, channels] tensor gathered by a table: one row a pixel, its taps side by side. */
function patches(x: Tensor, table: readonly number[], taps: number): Tensor {
  const [b, h, w, c] = x.shape;
  const pixels = h * w;
  const flat = reshape(x, [b, pixels, c]);
  const trivial = table.length === pixels && table.every((v, i) => v === i);
  const rows = table.includes(pixels) ? pad(flat, [0, 0, 0], [0, 1, 0]) : flat;
  const index = constant({ shape: [table.length], dtype: "int32", data: Int32Array.from(table) }, "int32");
  return reshape(trivial ? flat : take(rows, index, 1), [(b * table.length) / taps, taps * c]);
}

/** Rows and columns the last window reaches past the input; negative where a stride leaves some unread. */
const reach = (q: Geometry): [bottom: number, right: number] => [
  (q.oh - 1) * q.stride + q.kh - q.h - q.top,
  (q.ow - 1) * q.stride + q.kw - q.w - q.left,
];
/** ONNX's zeros around the image. Fewer than `stride` unread pixels make no further window, so they may stay. */
const pads = (q: Geometry): number[] => [q.top, q.left, ...reach(q).map((r) => Math.max(0, r))];
/**
 * With stride 1, the gradient of the input is a convolution of the output's size with the kernel turned round, as long as
 * there are not more zeros around the image than the kernel reaches over.
 */
const turned = (q: Geometry): Geometry => ({
  ...q,
  h: q.oh,
  w: q.ow,
  oh: q.h,
  ow: q.w,
  top: q.kh - 1 - q.top,
  left: q.kw - 1 - q.left,
});
const toNCHW = { perm: [0, 3, 1, 2] };
const toNHWC = { perm: [0, 2, 3, 1] };

const convNode: Make<Geometry> = primitive<Geometry>({
  name: "conv2d",
  infer: ([x, w], q) => ({ shape: [x.shape[0], q.oh, q.ow, w.shape[3]], dtype: x.dtype }),
  vjp: (g, { inputs: [x, w], attributes: q }, i) => (i === 0 ? convInputNode([g, w], q) : convWeightNode([x, g], q)),
  lower: ({ inputs: [x, w], attributes: q, shape, dtype }, target) =>
    target === "cpu" || dtype === "float64"
      ? reshape(matmul(patches(x, inputTable(q), q.kh * q.kw), reshape(w, [-1, shape[3]])), shape)
      : undefined,
  emit: ({ attributes: q }, [x, w], e) => {
    const kernel = e.node("Transpose", [w], { perm: [3, 2, 0, 1] });
    const y = e.node("Conv", [e.node("Transpose", [x], toNCHW), kernel], {
      strides: [q.stride, q.stride],
      pads: pads(q),
    });
    return e.node("Transpose", [y], toNHWC);
  },
  evaluate: ({ inputs: [x, w], attributes: q, shape }, [dx, dw]) => {
    const out = new Float64Array(sizeOf(shape));
    accumulate(x.shape[0], x.shape[3], w.shape[3], q, (ix, iw, ig) => {
      out[ig] += dx[ix] * dw[iw];
    });
    return out;
  },
});

const convInputNode: Make<Geometry> = primitive<Geometry>({
  name: "convInput",
  infer: ([g, w], q) => ({ shape: [g.shape[0], q.h, q.w, w.shape[2]], dtype: g.dtype }),
  vjp: (x, { inputs: [g, w], attributes: q }, i) => (i === 0 ? convNode([x, w], q) : convWeightNode([x, g], q)),
  lower: ({ inputs: [g, w], attributes: q, shape, dtype }, target) =>
    target === "cpu" || dtype === "float64"
      ? reshape(
          matmul(patches(g, outputTable(q), q.kh * q.kw), reshape(transpose(w, [0, 1, 3, 2]), [-1, shape[3]])),
          shape,
        )
      : q.stride === 1 && q.top < q.kh && q.left < q.kw && reach(turned(q)).every((r) => r >= 0)
        ? convNode([g, flip(transpose(w, [0, 1, 3, 2]), [0, 1])], turned(q))
        : undefined,
  emit: ({ attributes: q }, [g, w], e) => {
    const kernel = e.node("Transpose", [w], { perm: [3, 2, 0, 1] });
    const x = e.node("ConvTranspose", [e.node("Transpose", [g], toNCHW), kernel], {
      strides: [q.stride, q.stride],
      pads: pads(q),
      // ConvTranspose gives rows for the pixels the forward pass read; those past its last window got nothing.
      output_padding: reach(q).map((r) => Math.max(0, -r)),
    });
    return e.node("Transpose", [x], toNHWC);
  },
  evaluate: ({ inputs: [g, w], attributes: q, shape }, [dg, dw]) => {
    const out = new Float64Array(sizeOf(shape));
    accumulate(g.shape[0], w.shape[2], w.shape[3], q, (ix, iw, ig) => {
      out[ix] += dg[ig] * dw[iw];
    });
    return out;
  },
});

const convWeightNode: Make<Geometry> = primitive<Geometry>({
  name: "convWeight",
  infer: ([x, g], q) => ({ shape: [q.kh, q.kw, x.shape[3], g.shape[3]], dtype: x.dtype }),
  vjp: (w, { inputs: [x, g], attributes: q }, i) => (i === 0 ? convInputNode([g, w], q) : convNode([x, w], q)),
  lower: ({ inputs: [x, g], attributes: q, shape }) =>
    reshape(matmul(transpose(patches(x, inputTable(q), q.kh * q.kw)), reshape(g, [-1, shape[3]])), shape),
  emit: () => internal("convWeight is lowered to a product before it is written"),
  evaluate: ({ inputs: [x, g], attributes: q, shape }, [dx, dg]) => {
    const out = new Float64Array(sizeOf(shape));
    accumulate(x.shape[0], x.shape[3], g.shape[3], q, (ix, iw, ig) => {
      out[iw] += dx[ix] * dg[ig];
    });
    return out;
  },
});

export interface ConvOptions {
  readonly stride?: number;
  /** `same`: output size ⌈n/stride⌉; `valid`: no zeros; or zeros before and after both axes. */
  readonly padding?: "same" | "valid" | number;
}

/** x [batch, height, width, in] by kernels w [kh, kw, in, out]. */
export function conv2d(x: Operand, w: Operand, options: ConvOptions = {}): Tensor {
  const [image, kernel] = asTensors(x, w, "conv2d");
  requireFloat(image, "conv2d");
  const { stride = 1, padding = "same" } = options;
  const count = (n: unknown, least: number): boolean => Number.isInteger(n) && (n as number) >= least;
  if (!count(stride, 1) || !(padding === "same" || padding === "valid" || count(padding, 0)))
    fail(
      "usage",
      `conv2d: stride ${stride} and padding ${padding} are not possible`,
      'use a whole stride ≥ 1, and padding "same", "valid" or a whole number ≥ 0',
    );
  if (image.shape.length !== 4 || kernel.shape.length !== 4 || image.shape[3] !== kernel.shape[2])
    fail(
      "shape",
      `conv2d: input ${showShape(image.shape)} and kernel ${showShape(kernel.shape)} do not fit`,
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
    fail("shape", `conv2d: a ${kh}×${kw} kernel does not fit into ${h}×${wide}`, "use padding, or a smaller kernel");
  return convNode([image, kernel], { h, w: wide, kh, kw, oh, ow, stride, top, left });
}

/** Splits both image axes into windows of `size`: [b, h, w, c] → [b, h/size, size, w/size, size, c]. */
function windows(x: Operand, size: number, operation: string): Tensor {
  const t = asTensor(x);
  const [b, h, w, c] = t.shape;
  if (t.shape.length !== 4 || h % size !== 0 || w % size !== 0)
    fail(
      "shape",
      `${operation}: ${showShape(t.shape)} has no whole windows of ${size}×${size}`,
      "give [batch, height, width, channels] with sizes that divide",
    );
  return reshape(t, [b, h / size, size, w / size, size, c]);
}

/** Mean of every size×size window. */
export const averagePool = (x: Operand, size = 2): Tensor => mean(windows(x, size, "averagePool"), [2, 4]);

/** Largest entry of every size×size window. */
export const maxPool = (x: Operand, size = 2): Tensor => max(windows(x, size, "maxPool"), [2, 4]);

/** Every pixel repeated size×size times. */
export function upsampleNearest(x: Operand, size = 2): Tensor {
  const t = asTensor(x);
  if (t.shape.length !== 4 || !Number.isInteger(size) || size < 1)
    fail(
      "shape",
      `upsampleNearest: cannot repeat the pixels of ${showShape(t.shape)} ${size}×${size} times`,
      "give [batch, height, width, channels] and a whole number ≥ 1",
    );
  const [b, h, w, c] = t.shape;
  const wide: Shape = [b, h, size, w, size, c];
  return reshape(expand(reshape(t, [b, h, 1, w, 1, c]), wide), [b, h * size, w * size, c]);
}
