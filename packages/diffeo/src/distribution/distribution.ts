/**
 * The interface of distributions: a log-density as a graph, exact samples by keys, and the support.
 *
 * The parameters of a distribution are numbers, arrays or tensors. They broadcast to `batch`, the
 * shape of the independent values; each value has the shape `event`, which is [] for a number. With
 * x of shape […, ...batch, ...event], `logDensity(x)` has the shape […, ...batch]. One key gives
 * one sample, [...batch, ...event], so sample i does not depend on the number of samples.
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

/** A log-density on vectors, […, n] → […], with its score, […, n] → […, n]. */
export interface Density {
  readonly logDensity: (x: Tensor) => Tensor;
  /** The score ∇ log p. */
  readonly score: (x: Tensor) => Tensor;
}

/** The support between bounds that may be parameters; each may be absent. */
export interface Bounds {
  readonly kind: "bounds";
  readonly above?: Tensor;
  readonly below?: Tensor;
  /** Whether values are integers, which may be equal to a bound. */
  readonly integer?: boolean;
}

/** The support of a distribution: a domain, or bounds. */
export type Support = Domain | Bounds;

/**
 * A distribution: its log-density and score, sampling, support, moments and distribution function.
 */
export interface Distribution extends Density {
  readonly name: string;
  /** The number of numbers in a sample. */
  readonly dimension: number;
  /** The shape of the independent values, to which the parameters broadcast. */
  readonly batch: Shape;
  /** The shape of one value. */
  readonly event: Shape;
  readonly support: Support;
  /**
   * Whether values are integers: `logDensity` is then the logarithm of a probability, and there is
   * no score.
   */
  readonly discrete?: boolean;
  /**
   * The mean of each value. NaN if it does not exist for these parameters; absent if it is not
   * known.
   */
  readonly mean?: () => Tensor;
  /** The variance of each number; absent if it is not known. */
  readonly variance?: () => Tensor;
  /** The distribution function P(X ≤ x) of numbers; absent if it is not available. */
  readonly cdf?: (x: Operand) => Tensor;
  /** P(X > x), without the cancellation of 1 − cdf. */
  readonly survival?: (x: Operand) => Tensor;
  /**
   * The quantile: the x at which the cdf is u; for integers the least one at which it is at least
   * u.
   */
  readonly quantile?: (u: Operand) => Tensor;
  /** Location and scale, if x = location + scale·ε with an ε that does not depend on parameters. */
  readonly affine?: { readonly location: Tensor; readonly scale: Tensor };
  /** The parameters, whose numbers are passed to `drawFrom`. */
  readonly parameters: readonly Tensor[];
  /** Describes parameters that are out of range; undefined if none is found. */
  readonly fault?: (numbers: readonly Float64Array[]) => ParameterFault | undefined;
  /**
   * Samples one [...batch, ...event] per key, in float64, for given numbers of the parameters.
   * `batch` is a shape to which the distribution's own (the default) broadcasts; all values are
   * independent.
   */
  readonly drawFrom: (keys: Keys, numbers: Numbers, batch?: Shape) => Float64Array;
  /** Samples one [...batch, ...event] per key. The parameters must be constants. */
  readonly draw: (keys: Keys) => Float64Array;
}

/** Describes a parameter that is out of range, and what to write instead. */
export interface ParameterFault {
  readonly problem: string;
  readonly remedy: string;
}

/** The numbers of a distribution's parameters, one array per parameter, for a row of samples. */
export type Numbers = (row: number) => readonly Float64Array[];

/** A distribution without the members that `distribution` derives. */
export type Definition = Omit<Distribution, "dimension" | "draw" | "score"> &
  Partial<Pick<Distribution, "score">>;

/** Completes a definition by the dimension, the score by automatic differentiation, and `draw`. */
export function distribution(definition: Definition): Distribution {
  const { name, batch, event, parameters, logDensity, discrete, drawFrom } = definition;
  let known: readonly Float64Array[] | undefined;
  const numbers = (): readonly Float64Array[] => {
    if (topological(parameters).some((t) => t.op.name === "input"))
      fail(
        "usage",
        `${name}: its parameters are not constants, so it cannot be sampled on its own`,
        "sample the model, or give numbers as parameters",
      );
    known ??= reference(parameters, new Map());
    return known;
  };
  return {
    score: (x) =>
      discrete
        ? fail(
            "usage",
            `${name}: a distribution of integers has no score`,
            "use a continuous distribution",
          )
        : grad((z: Tensor) => sum(logDensity(z)))(x),
    ...definition,
    dimension: sizeOf(batch) * sizeOf(event),
    draw: (keys) => drawFrom(keys, numbers),
  };
}

/**
 * A distribution with known marginals under a Gaussian transition x_t | x₀ ~ N(m x₀, σ²I), as that
 * of the VP, VE and sub-VP processes with their m(t) and σ(t).
 */
export interface Diffusible extends Distribution {
  /**
   * The density of x_t. m and σ are numbers, or tensors of shape [] or of the batch.
   * `marginal(m(t), σ(t))` has the time-dependent score.
   */
  readonly marginal: (m: number | Tensor, sigma: number | Tensor) => Density;
}

/** Samples `count` times from a distribution: [count, ...batch, ...event]. */
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

/** The members of a distribution on vectors of n numbers whose parameters are plain numbers. */
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

/** Samples `count` times per key; the samples of a key are consecutive. */
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
