/**
 * Rotary positions: in every head, the pairs (x_j, x_{j+p}), j < p, of a site are rotated by the
 * site's angles θ_j,
 *
 *   y_j = x_j cos θ_j − x_{j+p} sin θ_j,   y_{j+p} = x_j sin θ_j + x_{j+p} cos θ_j
 *
 * so that the product of a query and a key depends on the difference of their angles (J. Su et al.,
 * 2021). Channels after the first 2p of a head are unchanged. The derivative is the inverse
 * rotation.
 */
import { add, mul, neg, sub } from "./arithmetic.ts";
import { merged } from "./batch.ts";
import { concat } from "./concat.ts";
import { fail } from "./error.ts";
import { type NdArray, showShape, toFloat64 } from "./ndarray.ts";
import { reshape } from "./shape.ts";
import { slice } from "./slice.ts";
import {
  asTensor,
  constant,
  type Make,
  type Operand,
  primitive,
  requireFloat,
  type Tensor,
} from "./tensor.ts";

type Heads = { heads: number };

/** Inputs x [batch, sites, width], cos θ and sin θ [sites, p], the last two constants. */
const rotaryNode: Make<Heads> = primitive<Heads>({
  name: "rotary",
  infer: ([x]) => x,
  vjp: (g, { inputs: [, cosines, sines], attributes }, i) =>
    i === 0 ? rotaryNode([g, cosines, neg(sines)], attributes) : undefined,
  batch: (node, inputs, mapped) => merged(node, inputs, mapped, 1),
  // The runtime's operator is float32 only.
  lower: ({ inputs: [x, cosines, sines], attributes: { heads }, shape }) => {
    if (x.dtype === "float32") return undefined;
    const [batch, sites, width] = shape;
    const [d, p] = [width / heads, cosines.shape[1]];
    const part = (from: number, to: number): Tensor =>
      slice(reshape(x, [batch, sites, heads, d]), null, null, null, [from, to]);
    const [c, s] = [cosines, sines].map((t) => reshape(t, [sites, 1, p]));
    const [a, b] = [part(0, p), part(p, 2 * p)];
    const turned = [sub(mul(a, c), mul(b, s)), add(mul(a, s), mul(b, c))];
    return reshape(concat(2 * p < d ? [...turned, part(2 * p, d)] : turned, -1), shape);
  },
  emit: ({ inputs: [, cosines], attributes: { heads } }, [x, c, s], emitter) =>
    emitter.node(
      "RotaryEmbedding",
      [x, emitter.int64([0]), c, s],
      { num_heads: heads, rotary_embedding_dim: 2 * cosines.shape[1], interleaved: 0 },
      { domain: "com.microsoft" },
    ),
  evaluate: (
    { inputs: [, cosines], attributes: { heads }, shape: [batch, sites, width] },
    [x, c, s],
  ) => {
    const [d, p] = [width / heads, cosines.shape[1]];
    const out = x.slice();
    for (let row = 0; row < batch * sites; row++)
      for (let h = 0; h < heads; h++)
        for (let j = 0; j < p; j++) {
          const [at, angle] = [row * width + h * d + j, (row % sites) * p + j];
          out[at] = x[at] * c[angle] - x[at + p] * s[angle];
          out[at + p] = x[at] * s[angle] + x[at + p] * c[angle];
        }
    return out;
  },
});

/**
 * Rotary position embedding: rotates the pairs of every head of x [batch, sites, width] by angles
 * [sites, p], for at most 2p channels per head.
 */
export function rotary(x: Operand, angles: NdArray, heads: number): Tensor {
  const t = asTensor(x);
  requireFloat(t, "rotary");
  const [, sites, width] = t.shape;
  const [rows, p] = angles.shape;
  const d = width / heads;
  if (
    t.shape.length !== 3 ||
    angles.shape.length !== 2 ||
    rows !== sites ||
    !Number.isInteger(d) ||
    !(2 * p <= d)
  )
    fail(
      "shape",
      `rotary: angles ${showShape(angles.shape)} for ${showShape(t.shape)} in ${heads} heads`,
      "give [batch, sites, width], heads that divide the width, and angles [sites, p] with " +
        "at most 2p channels per head",
    );
  const table = (f: (angle: number) => number): Tensor =>
    constant(
      { shape: angles.shape, dtype: "float64", data: toFloat64(angles.data).map(f) },
      t.dtype,
    );
  return rotaryNode([t, table(Math.cos), table(Math.sin)], { heads });
}
