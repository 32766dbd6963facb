/**
 * The contract of distributions: a log-density as a graph, exact samples by keys, and where values
 * live.
 *
 * The parameters of a distribution are numbers, arrays or tensors. They broadcast to `batch`, the
 * shape of the independent values that they make; each value has the shape `event`, which is [] for
 * a number. With x of shape […, ...batch, ...event], `logDensity(x)` has the shape […, ...batch].
 * One key makes one sample, [...batch, ...event], so that sample i does not depend on how many
 * others are made.
 */
import { alignToEvent } from "../bijector/index.ts";
import { type Domain, real } from "../domain/index.ts";
import {
  convert,
  type FloatType,
  fail,
  grad,
  type NdArray,
  type Operand,
  reference,
  type Shape,
  sizeOf,
  sum,
  Tensor,
  topological,
} from "../graph/index.ts";
import { fold, type Key, type Keys, sampleKeys } from "../random/index.ts";

/** A density on vectors, […, n] → […], and its score, […, n] → […, n]. */
export interface Density {
  readonly logDensity: (x: Tensor) => Tensor;
  /** ∇ log p */
  readonly score: (x: Tensor) => Tensor;
}

/** Numbers within bounds that are themselves parameters: each may be absent. */
export interface Bounds {
  readonly kind: "bounds";
  readonly above?: Tensor;
  readonly below?: Tensor;
  /** Integers, which may lie on a bound. */
  readonly integer?: boolean;
}

/** Where the values of a distribution live. */
export type Support = Domain | Bounds;

/** A distribution: its log-density with everything that derives from it, sampling, and support. */
export interface Distribution extends Density {
  readonly name: string;
  /** How many numbers a sample has. */
  readonly dimension: number;
  /** The shape of the independent values that the parameters make. */
  readonly batch: Shape;
  /** The shape of one value. */
  readonly event: Shape;
  readonly support: Support;
  /** Integers alone: the density is a probability, and there is no score. */
  readonly discrete?: boolean;
  /** The mean of each value, where it exists. NaN where it does not for these parameters. */
  readonly mean?: () => Tensor;
  /** The variance of each number, where it exists. */
  readonly variance?: () => Tensor;
  /** P(X ≤ x), of numbers. */
  readonly cdf?: (x: Operand) => Tensor;
  /** P(X > x), where 1 − cdf would lose digits. */
  readonly survival?: (x: Operand) => Tensor;
  /** The x at which the cdf is u; of integers the least one at which it is at least u. */
  readonly quantile?: (u: Operand) => Tensor;
  /**
   * Location and scale, where x = location + scale·ε with an ε that does not depend on parameters.
   */
  readonly affine?: { readonly location: Tensor; readonly scale: Tensor };
  /** What it depends on: the tensors whose numbers `drawFrom` is given. */
  readonly parameters: readonly Tensor[];
  /** What is wrong with numbers of its parameters; undefined where nothing is known to be. */
  readonly fault?: (numbers: readonly Float64Array[]) => ParameterFault | undefined;
  /**
   * One sample [...batch, ...event] per key, in float64, for numbers of the parameters. `batch` is a
   * shape that the distribution's own broadcasts to (default), with independent values everywhere.
   */
  readonly drawFrom: (keys: Keys, numbers: Numbers, batch?: Shape) => Float64Array;
  /** The same for a distribution whose parameters are constants. */
  readonly draw: (keys: Keys) => Float64Array;
}

/** A number that a parameter of a distribution cannot be, and what to write. */
export interface ParameterFault {
  readonly problem: string;
  readonly remedy: string;
}

/** The numbers of each of a distribution's parameters, for a row of what is drawn. */
export type Numbers = (row: number) => readonly Float64Array[];

/** A distribution without what follows from the rest. */
export type Definition = Omit<Distribution, "dimension" | "draw" | "score"> &
  Partial<Pick<Distribution, "score">>;

/** What follows: the dimension, the score by autodiff, and samples where parameters are constants. */
export function distribution(definition: Definition): Distribution {
  const { name, batch, event, parameters, logDensity, discrete, drawFrom } = definition;
  let known: readonly Float64Array[] | undefined;
  const numbers = (): readonly Float64Array[] => {
    if (topological(parameters).some((t) => t.op.name === "input"))
      fail(
        "usage",
        `${name}: its parameters are not constants, so that it cannot be sampled by itself`,
        "sample from the model, or give it numbers",
      );
    known ??= reference(parameters, new Map());
    return known;
  };
  return {
    score: (x) =>
      discrete
        ? fail("usage", `${name}: a distribution of integers has no score`, "leave it out")
        : grad((z: Tensor) => sum(logDensity(z)))(x),
    ...definition,
    dimension: sizeOf(batch) * sizeOf(event),
    draw: (keys) => drawFrom(keys, numbers),
  };
}

/**
 * A distribution whose marginals under a Gaussian transition x_t | x₀ ~ N(m x₀, σ²I) are known:
 * those of the VP, VE
 * and sub-VP processes, with their m(t) and σ(t).
 */
export interface Diffusible extends Distribution {
  /**
   * m and σ are numbers, or tensors of shape [] or of the batch: a time-dependent score is
   * `marginal(m(t), σ(t))`.
   */
  readonly marginal: (m: number | Tensor, sigma: number | Tensor) => Density;
}

/** `count` exact samples, [count, ...batch, ...event]. */
export function sampleFrom(
  distribution: Distribution,
  key: Key,
  count: number,
  dtype: FloatType = "float32",
): NdArray {
  const rows = distribution.draw(sampleKeys(key, count));
  const { batch, event } = distribution;
  return { shape: [count, ...batch, ...event], dtype, data: convert(rows, dtype) };
}

/** A number, or a tensor of the batch with an axis for the event. */
export const overEvent = (value: number | Tensor): number | Tensor =>
  value instanceof Tensor ? alignToEvent(value, 1) : value;

/** What distributions on vectors of n numbers have whose parameters are plain numbers. */
export const vectors = (
  name: string,
  n: number,
  draw: Distribution["draw"],
): Omit<Distribution, keyof Density> => ({
  name,
  dimension: n,
  batch: [],
  event: [n],
  support: real(n),
  parameters: [],
  drawFrom: (keys, _, batch = []) => drawRepeated(draw, keys, sizeOf(batch)),
  draw,
});

/** `count` independent samples per key, one after the other. */
function drawRepeated(draw: Distribution["draw"], keys: Keys, count: number): Float64Array {
  if (count === 1) return draw(keys);
  const parts = Array.from({ length: count }, (_, i) => draw(fold(keys, i)));
  const size = parts[0].length / Math.max(1, keys.count);
  const out = new Float64Array(keys.count * count * size);
  parts.forEach((part, i) => {
    for (let row = 0; row < keys.count; row++)
      out.set(part.subarray(row * size, (row + 1) * size), (row * count + i) * size);
  });
  return out;
}
