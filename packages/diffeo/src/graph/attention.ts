/**
 * Attention in several heads, as one operation with its derivative written out. With Q, K, V the
 * rows of a head,
 *
 *   O = P V,   P = softmax(s Q Kᵀ + B),   s = 1/√d
 *   dV = Pᵀ dO,  dS = P ∘ (dO Vᵀ − rowsum(dO ∘ O)),  dQ = s dS K,   dK = s dSᵀ Q,   dB = Σ_batch dS
 *
 * (rowsum(P ∘ dP) = rowsum(dO ∘ O), which is the smaller sum). A product AᵀB is computed as (BᵀA)ᵀ
 * if the result is transposed anyway to merge the heads, so no matrix of sites by sites is
 * transposed.
 */
import { add, mul, sub } from "./arithmetic.ts";
import { merged, unrolled } from "./batch.ts";
import { sum } from "./broadcast.ts";
import { fail } from "./error.ts";
import { matmul } from "./linalg.ts";
import { sameShape, showShape } from "./ndarray.ts";
import { softmax } from "./reduce.ts";
import { reshape, transpose } from "./shape.ts";
import {
  asTensor,
  asTensors,
  type Make,
  type Operand,
  primitive,
  requireFloat,
  type Tensor,
} from "./tensor.ts";

type Heads = { heads: number; scale: number };

/** [batch, sites, width] as [batch, heads, sites, d]. */
const rows = (t: Tensor, heads: number): Tensor => transpose(splitHeads(t, heads), [0, 2, 1, 3]);
/** The same transposed, [batch, heads, d, sites]. */
const columns = (t: Tensor, heads: number): Tensor => transpose(splitHeads(t, heads), [0, 2, 3, 1]);
const splitHeads = (t: Tensor, heads: number): Tensor =>
  reshape(t, [t.shape[0], t.shape[1], heads, t.shape[2] / heads]);
const fromRows = (t: Tensor): Tensor => together(transpose(t, [0, 2, 1, 3]));
const fromColumns = (t: Tensor): Tensor => together(transpose(t, [0, 3, 1, 2]));
const together = (t: Tensor): Tensor =>
  reshape(t, [t.shape[0], t.shape[1], t.shape[2] * t.shape[3]]);

/** P, [batch, heads, sites, sites]. Written once, so that forward and backward share it. */
function probabilities([q, k, , bias]: readonly Tensor[], { heads, scale }: Heads): Tensor {
  const scores = matmul(rows(q, heads), columns(mul(k, scale), heads));
  return softmax(bias ? add(scores, bias) : scores);
}

/** O by its equation. */
export const attentionExpression = ({ inputs, attributes }: Tensor<Heads>): Tensor =>
  fromRows(matmul(probabilities(inputs, attributes), rows(inputs[2], attributes.heads)));

/** Attention of Q, K and V, and optionally B. */
export const attentionNode: Make<Heads> = primitive<Heads>({
  name: "attention",
  infer: ([q, , v]) => ({ shape: [q.shape[0], q.shape[1], v.shape[2]], dtype: q.dtype }),
  vjp: (g, node, i) => {
    const { inputs, attributes } = node;
    const { heads, scale } = attributes;
    const [q, k, v] = inputs;
    const p = probabilities(inputs, attributes);
    if (i === 2) return fromColumns(matmul(columns(g, heads), p));
    const [grad, out] = [rows(g, heads), rows(node, heads)];
    const ds = mul(
      p,
      sub(matmul(grad, columns(v, heads)), sum(mul(grad, out), -1, { keepDims: true })),
    );
    if (i === 3) return sum(ds, 0);
    return i === 0
      ? fromRows(matmul(ds, rows(mul(k, scale), heads)))
      : fromColumns(matmul(columns(mul(q, scale), heads), ds));
  },
  batch: (node, inputs, mapped) =>
    mapped[3] ? unrolled(node, inputs, mapped) : merged(node, inputs, mapped, 3),
  emit: ({ inputs: [, , , bias], attributes: { heads, scale } }, [q, k, v, b], emitter) =>
    emitter.node(
      "MultiHeadAttention",
      bias ? [q, k, v, "", "", emitter.reshape(b, bias.shape, [1, ...bias.shape])] : [q, k, v],
      { num_heads: heads, scale: { float: scale } },
      { domain: "com.microsoft" },
    ),
  evaluate: ({ inputs: [q, , v], attributes: { heads, scale } }, [dq, dk, dv, db]) => {
    const [b, n, w] = q.shape;
    const [, m, wide] = v.shape;
    const [d, e] = [w / heads, wide / heads];
    const out = new Float64Array(b * n * wide);
    for (let a = 0; a < b; a++)
      for (let h = 0; h < heads; h++)
        for (let i = 0; i < n; i++) {
          const from = (a * n + i) * w + h * d;
          const s = Float64Array.from({ length: m }, (_, j) => {
            let total = 0;
            for (let c = 0; c < d; c++) total += dq[from + c] * dk[(a * m + j) * w + h * d + c];
            return total * scale + (db ? db[(h * n + i) * m + j] : 0);
          });
          const most = s.reduce((x, y) => Math.max(x, y), Number.NEGATIVE_INFINITY);
          const p = s.map((x) => Math.exp(x - most));
          const total = p.reduce((x, y) => x + y, 0);
          for (let j = 0; j < m; j++)
            for (let c = 0; c < e; c++)
              out[(a * n + i) * wide + h * e + c] +=
                (p[j] / total) * dv[(a * m + j) * wide + h * e + c];
        }
    return out;
  },
});

/** Options of `attention`: heads, scale and bias. */
export interface AttentionOptions {
  readonly heads: number;
  /** s. Default 1/√d, where d is the number of channels per head. */
  readonly scale?: number;
  /** B, [heads, n, m]. Default none. */
  readonly bias?: Operand;
}

/**
 * Multi-head attention softmax(s QKᵀ + B)V, for queries [batch, n, width], keys [batch, m, width]
 * and values [batch, m, width′]; the result is [batch, n, width′].
 */
export function attention(
  q: Operand,
  k: Operand,
  v: Operand,
  { heads, scale, bias }: AttentionOptions,
): Tensor {
  const query = asTensor(q);
  requireFloat(query, "attention");
  const [key, value, ...rest] = [k, v, ...(bias === undefined ? [] : [bias])].map(
    (t) => asTensors(query, t, "attention")[1],
  );
  const shapes = [query, key, value].map((t) => t.shape);
  const fits =
    shapes.every((s) => s.length === 3) &&
    query.shape[0] === key.shape[0] &&
    query.shape[2] === key.shape[2] &&
    sameShape(key.shape.slice(0, 2), value.shape.slice(0, 2));
  if (!fits)
    fail(
      "shape",
      `attention: queries, keys and values have the shapes ${shapes.map(showShape).join(", ")}`,
      "give [batch, n, width], [batch, m, width] and [batch, m, width′]",
    );
  if (
    !Number.isInteger(heads) ||
    heads < 1 ||
    query.shape[2] % heads !== 0 ||
    value.shape[2] % heads !== 0
  )
    fail(
      "shape",
      `attention: ${query.shape[2]} and ${value.shape[2]} channels do not divide into ` +
        `${heads} heads`,
      "choose a divisor of both",
    );
  for (const { shape } of rest)
    if (!sameShape(shape, [heads, query.shape[1], key.shape[1]]))
      fail(
        "shape",
        `attention: a bias of shape ${showShape(shape)} for ${heads} heads of ` +
          `${query.shape[1]} by ${key.shape[1]} sites`,
        "give [heads, n, m]",
      );
  return attentionNode([query, key, value, ...rest], {
    heads,
    scale: scale ?? Math.sqrt(heads / query.shape[2]),
  });
}
