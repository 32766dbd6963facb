/**
 * Group normalisation. Its derivative is written out, because the runtime does not fuse elementwise
 * operations, and every pass over an image is expensive.
 *
 *   y = γ x̃ r + β,  x̃ = x − μ,  r = 1/√(mean x̃² + ε)
 *
 * with means over the pixels and channels of a group
 */
import { add, div, mul, sub } from "./arithmetic.ts";
import { merged, unrolled } from "./batch.ts";
import { sum } from "./broadcast.ts";
import { fail, internal } from "./error.ts";
import { matmul } from "./linalg.ts";
import { sameShape, showShape } from "./ndarray.ts";
import { reshape } from "./shape.ts";
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
import { sqrt } from "./transcendental.ts";

/**
 * Sums over pixels [batch, 1, c] to means over groups, returned to each channel, as one product
 * with a block matrix.
 */
function groupMean(sums: Tensor, groups: number, pixels: number): Tensor {
  const c = sums.shape[2];
  const size = c / groups;
  const matrix = (
    rows: number,
    columns: number,
    entry: (i: number, j: number) => number,
  ): Tensor => {
    const data = Float64Array.from({ length: rows * columns }, (_, at) =>
      entry(Math.floor(at / columns), at % columns),
    );
    return constant({ shape: [rows, columns], dtype: "float64", data }, sums.dtype);
  };
  const has = (group: number, channel: number): boolean => Math.floor(channel / size) === group;
  // A product of two small matrices, which the runtime computes once: equal small constants are
  // shared, and so is all that is computed from them, forward and backward.
  const block = matmul(
    matrix(c, groups, (channel, group) => (has(group, channel) ? 1 / (size * pixels) : 0)),
    matrix(groups, c, (group, channel) => (has(group, channel) ? 1 : 0)),
  );
  return reshape(matmul(reshape(sums, [-1, c]), block), sums.shape);
}

/**
 * x̃ and r of the file's equation, for x [batch, pixels, c]. Written once, so that forward and
 * backward share them.
 */
function moments(x: Tensor, groups: number, epsilon: number): { centred: Tensor; r: Tensor } {
  const average = (t: Tensor): Tensor =>
    groupMean(sum(t, 1, { keepDims: true }), groups, x.shape[1]);
  const centred = sub(x, average(x));
  return { centred, r: div(1, sqrt(add(average(mul(centred, centred)), epsilon))) };
}

type GroupNorm = { groups: number; epsilon: number };

const groupNormNode: Make<GroupNorm> = primitive<GroupNorm>({
  name: "groupNorm",
  infer: ([x]) => x,
  // With N entries per group, S₁ = Σ_pixels g and S₂ = Σ_pixels g x̃:
  //   ∂β = Σ_batch S₁,   ∂γ = Σ_batch S₂ r,
  //   ∂x = γ r g − r³ x̃ · mean(γ g x̃) − r · mean(γ g),
  // the means being group sums of γS₂ and γS₁ over N.
  vjp: (g, { inputs: [x, gamma], attributes: { groups, epsilon } }, i) => {
    const { centred, r } = moments(x, groups, epsilon);
    const s1 = sum(g, 1, { keepDims: true });
    if (i === 2) return sum(s1, [0, 1]);
    const s2 = sum(mul(g, centred), 1, { keepDims: true });
    if (i === 1) return sum(mul(s2, r), [0, 1]);
    const average = (s: Tensor): Tensor => groupMean(mul(s, gamma), groups, x.shape[1]);
    const slope = mul(mul(mul(r, r), r), average(s2));
    return sub(sub(mul(g, mul(gamma, r)), mul(centred, slope)), mul(r, average(s1)));
  },
  lower: ({ inputs: [x, gamma, beta], attributes: { groups, epsilon } }) => {
    const { centred, r } = moments(x, groups, epsilon);
    return add(mul(centred, mul(gamma, r)), beta);
  },
  batch: (node, inputs, mapped) =>
    mapped[1] || mapped[2] ? unrolled(node, inputs, mapped) : merged(node, inputs, mapped, 1),
  emit: () => internal("groupNorm is lowered before it is written"),
  evaluate: ({ inputs: [x], attributes: { groups, epsilon } }, [data, gamma, beta]) => {
    const [b, pixels, c] = x.shape;
    const size = c / groups;
    const out = new Float64Array(data.length);
    for (let q = 0; q < b; q++)
      for (let k = 0; k < groups; k++) {
        const visit = (f: (at: number, channel: number) => void): void => {
          for (let p = 0; p < pixels; p++)
            for (let j = 0; j < size; j++) f((q * pixels + p) * c + k * size + j, k * size + j);
        };
        let mu = 0;
        let square = 0;
        visit((at) => {
          mu += data[at] / (pixels * size);
        });
        visit((at) => {
          square += (data[at] - mu) ** 2 / (pixels * size);
        });
        visit((at, channel) => {
          out[at] =
            ((data[at] - mu) / Math.sqrt(square + epsilon)) * gamma[channel] + beta[channel];
        });
      }
    return out;
  },
});

/**
 * Group normalisation: normalises every group of channels (the last axis) of a sample to mean 0 and
 * variance 1 over all its pixels, then scales and shifts each channel. The first axis is the batch,
 * the axes between are pixels.
 */
export function groupNorm(
  x: Operand,
  scale: Operand,
  shift: Operand,
  groups: number,
  epsilon = 1e-5,
): Tensor {
  const t = asTensor(x);
  requireFloat(t, "groupNorm");
  const c = t.shape.at(-1) ?? 0;
  if (t.shape.length < 2 || !Number.isInteger(groups) || groups < 1 || c % groups !== 0)
    fail(
      "shape",
      `groupNorm: ${c} channels of shape ${showShape(t.shape)} do not divide into ${groups} groups`,
      "use a divisor of the number of channels",
    );
  const flat = reshape(t, [t.shape[0], t.shape.slice(1, -1).reduce((n, d) => n * d, 1), c]);
  const affine = [scale, shift].map((a) => asTensors(t, a, "groupNorm")[1]);
  for (const a of affine)
    if (!sameShape(a.shape, [c]))
      fail(
        "shape",
        `groupNorm: \`scale\` or \`shift\` has shape ${showShape(a.shape)} for an input of shape ` +
          `${showShape(t.shape)}`,
        `give one number per channel, shape [${c}]`,
      );
  return reshape(groupNormNode([flat, ...affine], { groups, epsilon }), t.shape);
}
