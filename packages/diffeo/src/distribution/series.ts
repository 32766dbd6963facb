/**
 * Values in order:
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
    fail("usage", `${name}: length is ${length}`, "give an integer from 1");
}

/** Σ log N(r_t; 0, s) over the last axis. */
const independentLog = (r: Tensor, s: Tensor): Tensor => {
  const sd = expandDims(s, -1);
  return sum(sub(mul(square(div(r, sd)), -0.5), add(log(sd), HALF_LOG_TAU)), -1);
};

/** The values on the last axis, without the last of them, after a first value. */
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
    // The first step begins at start − drift, so that x_1 ~ N(start, s).
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

/** Length and steps of a random walk. */
export interface RandomWalkOptions {
  readonly length: number;
  /** Of each step. */
  readonly sd: Operand;
  /** The mean of the first value. Default 0. */
  readonly start?: Operand;
  /** The mean of each step. Default 0. */
  readonly drift?: Operand;
}

/** Sums of independent normal steps. */
export function randomWalk({ length, sd, start = 0, drift = 0 }: RandomWalkOptions): Distribution {
  requireLength("randomWalk", length);
  return vectorDistribution(walkRule(length), [sd, start, drift]);
}

/**
 * The `count` values before each value of a series but its first `count`, nearest first:
 * [n] → [n − count, count].
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
      `lags: ${count} of a series of ${n}`,
      "give an integer from 1, less than the length",
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

/** Length, coefficients and beginning of an autoregression. */
export interface AutoregressionOptions {
  readonly length: number;
  /** φ, that of the value just before first. */
  readonly coefficients: Operand;
  readonly sd: Operand;
  /** The K values before the first, in order. */
  readonly before: Operand;
  /** c. Default 0. */
  readonly intercept?: Operand;
}

/** Each value normal about a combination of the K values before it. */
export function autoregression(options: AutoregressionOptions): Distribution {
  const { length, coefficients, sd, before: past, intercept = 0 } = options;
  requireLength("autoregression", length);
  const sizes = [coefficients, past].map((v) => asTensor(v, "float64").shape.at(-1));
  if (sizes[0] !== sizes[1])
    fail(
      "shape",
      `autoregression: ${sizes[0]} coefficients and ${sizes[1]} values before`,
      "give as many values before the first as there are coefficients",
    );
  return vectorDistribution(autoregressionRule(length), [coefficients, sd, past, intercept]);
}
