/**
 * Distributions of time series:
 *
 *   random walk      x_1 ~ N(start, s),   x_t ~ N(x_{t−1} + drift, s)
 *   autoregression   x_t ~ N(c + Σ_k φ_k x_{t−k}, s), given the K values before the first
 */
import { real } from "../domain/index.ts";
import {
  add,
  concat,
  div,
  expand,
  expandDims,
  fail,
  log,
  matvec,
  mul,
  type Operand,
  slice,
  square,
  sub,
  sum,
  type Tensor,
  take,
} from "../graph/index.ts";
import { asTensor } from "../graph/tensor.ts";
import type { Distribution } from "./distribution.ts";
import { type VectorRule, vectorDistribution } from "./vector.ts";

const HALF_LOG_TAU = 0.5 * Math.log(2 * Math.PI);

function requireLength(name: string, length: number): void {
  if (!(Number.isSafeInteger(length) && length >= 1))
    fail("usage", `${name}: \`length\` is ${length}`, "give an integer of at least 1");
}

/** Σ log N(r_t; 0, s) over the last axis. */
const independentLog = (r: Tensor, s: Tensor): Tensor => {
  const sd = expandDims(s, -1);
  return sum(sub(mul(square(div(r, sd)), -0.5), add(log(sd), HALF_LOG_TAU)), -1);
};

/** The values on the last axis, shifted by one, with `first` in front. */
const before = (x: Tensor, first: Tensor): Tensor => {
  const outer = x.shape.slice(0, -1);
  const start = expand(expandDims(first, -1), [...outer, 1]);
  return concat([start, slice(x, ...outer.map(() => null), [0, -1])], -1);
};

const walkRule = (length: number): VectorRule => ({
  name: "randomWalk",
  parameters: {
    sd: { rank: 0, is: "positive" },
    start: { rank: 0 },
    drift: { rank: 0 },
  },
  event: () => [length],
  support: () => real(length),
  logDensity: (x, s, start, drift) => {
    // The first step starts at start − drift, so that x_1 ~ N(start, s).
    const from = add(before(x, sub(start, drift)), expandDims(drift, -1));
    return independentLog(sub(x, from), s);
  },
  variate: (random, out, [s], [start], [drift]) => {
    let at = start;
    for (let t = 0; t < length; t++) {
      at += s * random.normal();
      out[t] = at;
      at += drift;
    }
  },
});

/** Options of `randomWalk`. */
export interface RandomWalkOptions {
  readonly length: number;
  /** The standard deviation of each step. */
  readonly sd: Operand;
  /** The mean of the first value. Default 0. */
  readonly start?: Operand;
  /** The mean of each step. Default 0. */
  readonly drift?: Operand;
}

/** A random walk: `length` values whose steps are independent and normal. */
export function randomWalk({ length, sd, start = 0, drift = 0 }: RandomWalkOptions): Distribution {
  requireLength("randomWalk", length);
  return vectorDistribution(walkRule(length), [sd, start, drift]);
}

/**
 * The `count` values before each value of a series, nearest first, from value `count` on: [n] → [n
 * − count, count]. They are the regressors of an autoregression.
 *
 * @example
 * lags([1, 2, 3, 4], 2); // [[2, 1], [3, 2]]
 */
export function lags(series: Operand, count: number): Tensor {
  const x = asTensor(series, "float64");
  const n = x.shape.at(-1) ?? 0;
  if (!(Number.isSafeInteger(count) && count >= 1 && count < n))
    fail(
      "usage",
      `lags: \`count\` is ${count} for a series of length ${n}`,
      "give an integer of at least 1 and less than the length",
    );
  const index = Array.from({ length: n - count }, (_, t) =>
    Array.from({ length: count }, (_, k) => t + count - 1 - k),
  );
  return take(x, index, -1);
}

const autoregressionRule = (length: number): VectorRule => ({
  name: "autoregression",
  parameters: {
    coefficients: { rank: 1 },
    sd: { rank: 0, is: "positive" },
    before: { rank: 1 },
    intercept: { rank: 0 },
  },
  event: () => [length],
  support: () => real(length),
  logDensity: (x, phi, s, past, c) => {
    const k = phi.shape.at(-1) as number;
    const outer = x.shape.slice(0, -1);
    const all = concat([expand(past, [...outer, k]), x], -1);
    const mean = add(matvec(lags(all, k), phi), expandDims(c, -1));
    return independentLog(sub(x, mean), s);
  },
  variate: (random, out, phi, [s], past, [c]) => {
    const k = phi.length;
    for (let t = 0; t < length; t++) {
      let mean = c;
      for (let j = 0; j < k; j++)
        mean += phi[j] * (t - 1 - j >= 0 ? out[t - 1 - j] : past[k + t - 1 - j]);
      out[t] = mean + s * random.normal();
    }
  },
});

/** Options of `autoregression`. */
export interface AutoregressionOptions {
  readonly length: number;
  /** φ_1, …, φ_K; φ_1 is that of the previous value. */
  readonly coefficients: Operand;
  readonly sd: Operand;
  /** The K values before the first, in order. */
  readonly before: Operand;
  /** The intercept c. Default 0. */
  readonly intercept?: Operand;
}

/**
 * An autoregression: each value is normal around a linear combination of the K values before it.
 */
export function autoregression(options: AutoregressionOptions): Distribution {
  const { length, coefficients, sd, before: past, intercept = 0 } = options;
  requireLength("autoregression", length);
  const sizes = [coefficients, past].map((v) => asTensor(v, "float64").shape.at(-1));
  if (sizes[0] !== sizes[1])
    fail(
      "shape",
      `autoregression: \`coefficients\` has ${sizes[0]} numbers, \`before\` has ${sizes[1]}`,
      "give one value before the first per coefficient",
    );
  return vectorDistribution(autoregressionRule(length), [coefficients, sd, past, intercept]);
}
