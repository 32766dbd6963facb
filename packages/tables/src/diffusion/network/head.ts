/**
 * From what a network gives to v̂. Coordinates of numbers are v̂ itself. A label, or an integer
 * that is an atom (`atoms.ts`), is a code point c_k of x, and the network gives logits a_k of its
 * class; with those of the code's own noise, which are known,
 *
 *   p̂(k | x) = softmax_k( a_k(x, λ) + (m x_c·c_k − m²‖c_k‖²/2)/σ² )        x̂₀ = Σₖ p̂ₖ c_k,   v̂ = (m x_c − x̂₀)/σ
 *
 * This is Bayes' rule: p(k | x) ∝ p(k | x elsewhere) N(x_c; m c_k, σ²I), since the noise of these
 * coordinates is their own (they are not whitened with other columns). The network is left with log
 * p(k | x elsewhere), which is smooth at every level; v̂ itself has steps of height 1/σ around
 * every code, which a network would have to learn. As x̂₀ is exactly a code where the class is
 * certain, densities at codes are probabilities of classes (`score.ts`).
 */
import type { Product } from "diffeo/domain";
import {
  add,
  concat,
  constant,
  div,
  matmul,
  mul,
  type NdArray,
  slice,
  softmax,
  sub,
  type Tensor,
} from "diffeo/graph";
import { transposed } from "diffeo/host";
import { type Atoms, codesOf, mapRows, type Standard, standardMap } from "../encode/index.ts";
import { scalesOf } from "./level.ts";

/** The coordinates of x that belong to one column of atoms. */
interface CodeBlock {
  readonly from: number;
  readonly to: number;
  /** Its code points in x, [labels, coordinates]. */
  readonly codes: NdArray;
}

/** What settles the coordinates of x. */
export interface Coordinates {
  readonly domain: Product;
  readonly standard: Standard;
  /** Integers that are atoms. */
  readonly atoms?: Atoms;
}

export interface Head {
  /** Numbers that a network gives. */
  readonly outputs: number;
  readonly blocks: readonly CodeBlock[];
  /** v̂ from what the network gave at x; λ broadcasts against the rows. */
  readonly velocity: (out: Tensor, x: Tensor, lambda: Tensor) => Tensor;
}

/**
 * Code points in x of each atom. They do not depend on the other coordinates, which stay where
 * they start.
 */
function codeBlocks(domain: Product, standard: Standard, atoms: Atoms): CodeBlock[] {
  const { size, dimension: n } = domain;
  return domain.parts.flatMap((part) => {
    const points = codesOf(part, atoms);
    if (!points) return [];
    const { at } = part;
    const y = new Float64Array(points.length * size);
    points.forEach((point, k) => {
      y.set(domain.start, k * size);
      y.set(point, k * size + at.y);
    });
    const x = mapRows(mapRows(y, size, domain.map.inverse), n, standardMap(standard).inverse);
    const [from, to] = [at.x, at.x + points[0].length];
    const codes = Float64Array.from(
      points.flatMap((_, k) => Array.from(x.subarray(k * n + from, k * n + to))),
    );
    return [
      { from, to, codes: { shape: [points.length, to - from], dtype: "float64", data: codes } },
    ];
  });
}

/** The last axis of a tensor from one place to another. */
const along = (x: Tensor, from: number, to: number): Tensor =>
  slice(x, ...x.shape.slice(1).map(() => null), [from, to]);

const squares = ({ shape: [labels, d], data }: NdArray): Float64Array =>
  Float64Array.from({ length: labels }, (_, k) =>
    (data as Float64Array).subarray(k * d, (k + 1) * d).reduce((s, v) => s + v * v, 0),
  );

/**
 * p̂ of a column's classes from logits [..., labels] and its coordinates of x; m and σ broadcast
 * against both.
 */
function posterior(logits: Tensor, x: Tensor, codes: NdArray, m: Tensor, sigma: Tensor): Tensor {
  const [labels, size] = codes.shape;
  const columns: NdArray = {
    shape: [size, labels],
    dtype: "float64",
    data: transposed(codes.data as Float64Array, labels, size),
  };
  const towards = matmul(x, constant(columns, x.dtype));
  const half = mul(
    constant({ shape: [codes.shape[0]], dtype: "float64", data: squares(codes) }, x.dtype),
    0.5,
  );
  const gain = div(m, mul(sigma, sigma));
  return softmax(add(logits, mul(sub(towards, mul(half, m)), gain)));
}

/** The head of n numbers without atoms. */
export const plainHead = (n: number): Head => ({ outputs: n, blocks: [], velocity: (out) => out });

/** The head of a table's networks. */
export function headOf({ domain, standard, atoms = {} }: Coordinates): Head {
  const n = domain.dimension;
  const blocks = codeBlocks(domain, standard, atoms);
  const outputs = blocks.reduce((s, { codes }) => s + codes.shape[0], n);
  if (blocks.length === 0) return plainHead(n);
  const velocity = (out: Tensor, x: Tensor, lambda: Tensor): Tensor => {
    const { m, sigma } = scalesOf(lambda);
    const pieces: Tensor[] = [];
    let [at, logits] = [0, n];
    for (const { from, to, codes } of blocks) {
      const labels = codes.shape[0];
      if (from > at) pieces.push(along(out, at, from));
      const own = along(x, from, to);
      const p = posterior(along(out, logits, logits + labels), own, codes, m, sigma);
      pieces.push(div(sub(mul(own, m), matmul(p, constant(codes, x.dtype))), sigma));
      [at, logits] = [to, logits + labels];
    }
    if (at < n) pieces.push(along(out, at, n));
    return pieces.length === 1 ? pieces[0] : concat(pieces, -1);
  };
  return { outputs, blocks, velocity };
}
