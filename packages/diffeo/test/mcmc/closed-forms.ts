/**
 * Posteriors with known marginals, given as functions that map draws to uniform numbers on (0, 1).
 */
import { ball, between, correlation, simplex, sphere } from "../../src/domain/index.ts";
import {
  add,
  addAll,
  at,
  constant,
  log,
  logAbsDet,
  mul,
  square,
  stack,
  sub,
  sum,
  type Tensor,
} from "../../src/graph/index.ts";
import type { PosteriorDraws, PosteriorModel } from "../../src/mcmc/index.ts";
import { normalCdf } from "../random/statistics.ts";

export interface ClosedForm {
  readonly model: PosteriorModel;
  /**
   * Distribution functions of quantities, by what they are: of the numbers of one draw of one
   * parameter.
   */
  readonly distributions: Readonly<
    Record<string, { readonly of: string; readonly cdf: (y: ArrayLike<number>) => number }>
  >;
}

/**
 * P(B ≤ x) of a beta distribution with whole a and b: at least a of a + b − 1 even numbers lie
 * below x.
 */
function betaCdf(a: number, b: number, x: number): number {
  const n = a + b - 1;
  let [total, ways] = [0, 1];
  for (let j = 0; j <= n; j++) {
    if (j >= a) total += ways * x ** j * (1 - x) ** (n - j);
    ways *= (n - j) / (j + 1);
  }
  return total;
}

const zero = (x: Tensor): Tensor => sum(mul(x, 0), -1);
const alpha = [2, 3, 5];

/** N(m, s²) within (low, high). */
const truncated =
  (m: number, s: number, low: number, high: number) =>
  (x: number): number => {
    const phi = (v: number): number => normalCdf((v - m) / s);
    return (phi(x) - phi(low)) / (phi(high) - phi(low));
  };

/** A matrix of ones on the diagonal and y below and above it, [chains, 4, 4]. */
function correlationMatrix(y: Tensor): Tensor {
  const one = add(mul(at(y, 0, 1), 0), constant(1, y.dtype));
  const entry = (i: number, j: number): Tensor =>
    i === j ? one : at(y, (Math.max(i, j) * (Math.max(i, j) - 1)) / 2 + Math.min(i, j), 1);
  const order = [0, 1, 2, 3];
  return stack(
    order.map((i) =>
      stack(
        order.map((j) => entry(i, j)),
        1,
      ),
    ),
    1,
  );
}

export const closedForms: Readonly<Record<string, ClosedForm>> = {
  "Dirichlet(2, 3, 5)": {
    model: {
      parameters: { theta: simplex(3) },
      logDensity: ({ theta }) =>
        sum(
          mul(
            log(theta),
            alpha.map((a) => a - 1),
          ),
          -1,
        ),
    },
    distributions: Object.fromEntries(
      alpha.map((a, k) => [`part ${k + 1}`, { of: "theta", cdf: (y) => betaCdf(a, 10 - a, y[k]) }]),
    ),
  },
  "Gaussian on a box": {
    model: {
      parameters: { a: between(-1, 2), b: between(0, 0.5) },
      logDensity: ({ a, b }) =>
        addAll([mul(square(mul(sub(a, 0.5), 1 / 0.8)), -0.5), mul(square(sub(b, 1)), -0.5)]),
    },
    distributions: {
      wide: { of: "a", cdf: (y) => truncated(0.5, 0.8, -1, 2)(y[0]) },
      narrow: { of: "b", cdf: (y) => truncated(1, 1, 0, 0.5)(y[0]) },
    },
  },
  "even on a ball": {
    model: { parameters: { v: ball(3) }, logDensity: ({ v }) => zero(v) },
    distributions: {
      radius: { of: "v", cdf: (y) => Math.hypot(y[0], y[1], y[2]) ** 3 },
      // The volume of the ball below a plane.
      height: { of: "v", cdf: (y) => (2 + 3 * y[0] - y[0] ** 3) / 4 },
    },
  },
  "even on a sphere": {
    model: { parameters: { v: sphere(3) }, logDensity: ({ v }) => zero(v) },
    // Archimedes: every coordinate of a point of the sphere is even.
    distributions: Object.fromEntries(
      [0, 1, 2].map((k) => [
        `coordinate ${k + 1}`,
        { of: "v", cdf: (y: ArrayLike<number>) => (1 + y[k]) / 2 },
      ]),
    ),
  },
  "von Mises and Fisher's": {
    // Around a direction, density e^{2 u·v}: the pole of the map is opposite to it.
    model: {
      parameters: { v: sphere(3, { centre: [1, 2, 2] }) },
      logDensity: ({ v }) => sum(mul(v, [2 / 3, 4 / 3, 4 / 3]), -1),
    },
    // u·v has the density e^{2t} on (−1, 1).
    distributions: {
      "along it": {
        of: "v",
        cdf: (y) => Math.expm1(2 * ((y[0] + 2 * y[1] + 2 * y[2]) / 3 + 1)) / Math.expm1(4),
      },
      // Across it, in the plane of the others, even.
      "around it": {
        of: "v",
        cdf: (y) => {
          const [a, b] = [(2 * y[0] + y[1] - 2 * y[2]) / 3, (2 * y[0] - 2 * y[1] + y[2]) / 3];
          return (Math.atan2(a, b) / Math.PI + 1) / 2;
        },
      },
    },
  },
  "LKJ(2), 4 × 4": {
    model: {
      parameters: { r: correlation(4) },
      logDensity: ({ r }) => logAbsDet(correlationMatrix(r)),
    },
    // (1 + r)/2 ~ Beta(η − 1 + d/2, η − 1 + d/2)
    distributions: Object.fromEntries(
      [0, 1, 2, 3, 4, 5].map((k) => [
        `entry ${k + 1}`,
        { of: "r", cdf: (y: ArrayLike<number>) => betaCdf(3, 3, (1 + y[k]) / 2) },
      ]),
    ),
  },
};

/**
 * Every k-th draw of a distribution's parameter as its place in the distribution, all chains
 * together.
 */
export function places(
  { shape: [chains, draws, ...shape], data }: PosteriorDraws,
  cdf: (y: ArrayLike<number>) => number,
  every: number,
): Float64Array {
  const size = shape.reduce((a, b) => a * b, 1);
  const kept = Math.floor(draws / every);
  return Float64Array.from({ length: chains * kept }, (_, i) => {
    const from = (Math.floor(i / kept) * draws + (i % kept) * every) * size;
    return cdf(data.subarray(from, from + size));
  });
}
