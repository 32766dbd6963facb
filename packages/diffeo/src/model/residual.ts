/**
 * A residual network over vectors x ∈ Rⁿ at a noise level λ = log m²/σ², the log signal-to-noise
 * ratio:
 *
 *   e = silu(T φ(λ) + b)                  φ(λ) = (sin λf, cos λf),  32 frequencies f from .05 to 4
 *   h = W_in x + b_in
 *   h ← h + B silu(A((1 + C e) ∘ norm(h) + S e) + a) + b     in every block
 *   v = W_out silu(norm(h)) + b_out
 *
 * The noise level enters through scale and shift alone (FiLM, E. Perez et al., AAAI 2018), so rows
 * with the same level share C e and S e: λ is broadcast against the rows, and products with e are
 * computed once per level. If all rows have one level, both are merged with those of the norm.
 *
 * As a score it predicts v = m ε − σ x₀ (T. Salimans and J. Ho, ICLR 2022). For x = m x₀ + σ ε with
 * m² + σ² = 1
 *
 *   m x − σ v = (m² + σ²) x₀ = x₀,  hence  x̂₀ = m x − σ v̂  and
 *   s = (m x̂₀ − x)/σ² = −x − (m/σ) v̂,
 *
 * because m² − 1 = −σ². With v̂ = 0, x̂₀ is exact for unit-variance data as σ → 0, and s is the
 * score of the prior as m → 0.
 */
import * as v from "valibot";
import { unexpanded } from "../graph/broadcast.ts";
import {
  add,
  concat,
  cos,
  div,
  expandDims,
  layerNorm,
  log,
  matmul,
  mul,
  reshape,
  silu,
  sin,
  sizeOf,
  sub,
  type Tensor,
} from "../graph/index.ts";
import { whole } from "../host/named.ts";
import type { GaussianSde, MarginalScore } from "../sde/index.ts";
import { type Affine, linear, linearInit, matrixInit, type Source, times } from "./layers.ts";

export const residualSchema = v.strictObject({
  /** n, and the number of outputs if it differs. */
  channels: whole,
  outputs: v.optional(whole),
  width: whole,
  blocks: whole,
  /** The width of e. Default `width`. */
  time: v.optional(whole),
});

/** Options of the residual network of vectors, as plain data. */
export type ResidualOptions = Readonly<v.InferOutput<typeof residualSchema>>;

interface Block<T> {
  /** C and S. */
  readonly scale: T;
  readonly shift: T;
  /** A and B. */
  readonly first: Affine<T>;
  readonly second: Affine<T>;
}

export interface Residual<T> {
  readonly input: Affine<T>;
  readonly time: Affine<T>;
  readonly blocks: readonly Block<T>[];
  readonly output: Affine<T>;
}

/** The frequencies f, with equal steps of their logarithms. */
const FREQUENCIES = Array.from({ length: 32 }, (_, i) => 0.05 * (4 / 0.05) ** (i / 31));

/** The number of entries of φ(λ), which has one more axis than λ. */
export const LEVEL_FEATURES = 2 * FREQUENCIES.length;
export function levelFeatures(lambda: Tensor): Tensor {
  const angle = mul(expandDims(lambda, -1), FREQUENCIES);
  return concat([sin(angle), cos(angle)], -1);
}

/**
 * The parameters of the network. Initially the weights of blocks, outputs and noise levels are
 * small.
 */
export function residualFrom<T>(source: Source<T>, options: ResidualOptions): Residual<T> {
  const { channels, outputs = channels, width, blocks, time = width } = options;
  return {
    input: linearInit(source.at("input"), channels, width),
    time: linearInit(source.at("time"), LEVEL_FEATURES, time),
    blocks: times(blocks, (k) => {
      const block = source.at(`blocks.${k}`);
      return {
        scale: matrixInit(block.at("scale"), time, width, 0.1 ** 2),
        shift: matrixInit(block.at("shift"), time, width, 0.5 ** 2),
        first: linearInit(block.at("first"), width, width),
        second: linearInit(block.at("second"), width, width, 0.3 ** 2),
      };
    }),
    output: linearInit(source.at("output"), width, outputs, 0.1 ** 2),
  };
}

/** Applies the network to rows x […, n]; λ is broadcast against their leading axes. */
export function residual(
  { input, time, blocks, output }: Residual<Tensor>,
  x: Tensor,
  lambda: Tensor,
): Tensor {
  const level = lambda.shape.length === 0 ? expandDims(lambda, 0) : lambda;
  const e = silu(linear(time, levelFeatures(level)));
  const isOne = sizeOf(level.shape) === 1;
  let h = linear(input, x);
  for (const { scale, shift, first, second } of blocks) {
    const [c, s] = [add(matmul(e, scale), 1), matmul(e, shift)];
    const seen = isOne
      ? layerNorm(h, { scale: reshape(c, [-1]), shift: reshape(s, [-1]) })
      : add(mul(layerNorm(h), c), s);
    h = add(h, linear(second, silu(linear(first, seen))));
  }
  return linear(output, silu(layerNorm(h)));
}

/** The score of a variance-preserving process from a network of x and λ that predicts v. */
export const velocityScore =
  (
    { transition: { meanFactor, std } }: GaussianSde,
    predict: (x: Tensor, lambda: Tensor) => Tensor,
  ): MarginalScore =>
  (x, times) => {
    // A sampler passes the same time for all rows, so what depends on it is computed once.
    const shared = unexpanded(times);
    const t = shared?.shape.length === 0 ? shared : times;
    const ratio = div(meanFactor(t), std(t));
    const predicted = predict(x, mul(log(ratio), 2));
    return sub(mul(predicted, mul(expandDims(ratio, -1), -1)), x);
  };
