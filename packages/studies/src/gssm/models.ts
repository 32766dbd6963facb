/**
 * Models of one parameter θ, their nodes for integrals over p at the true θ, and their exact
 * samples. A node is a point of Rⁿ with the probability it stands for: all integrands depend on
 * (r, cos angle to e₁) or on (x₁, the distance to the axis) alone.
 */
import { gaussian, mixture, sampleFrom, studentT } from "diffeo/distribution";
import {
  add,
  constant,
  div,
  dot,
  expandDims,
  fill,
  log,
  mul,
  type NdArray,
  sigmoid,
  squaredNorm,
  sub,
  type Tensor,
} from "diffeo/graph";
import type { Key } from "diffeo/random";
import { gaussLegendre } from "../problem/gauss-legendre.ts";

export interface Model {
  readonly title: string;
  /** θ at the truth. */
  readonly truth: number;
  /** s_θ(x) */
  readonly score: (x: Tensor, theta: Tensor) => Tensor;
  /** ∂_θ log p_θ(x), for the Fisher information. */
  readonly likelihoodScore: (x: readonly number[]) => number;
  readonly nodes: (n: number) => Nodes;
  readonly sample: (key: Key, count: number, n: number) => NdArray;
}

interface Nodes {
  readonly points: readonly (readonly number[])[];
  /** Probabilities, which add up to 1. */
  readonly weights: readonly number[];
}

const squaredSize = (x: readonly number[]): number => x.reduce((s, v) => s + v * v, 0);

const normalised = (points: readonly (readonly number[])[], weights: readonly number[]): Nodes => {
  const total = weights.reduce((a, b) => a + b, 0);
  return { points, weights: weights.map((w) => w / total) };
};

/** (a, b, 0, …) in Rⁿ, where n = 1 leaves b out. */
const inPlane = (n: number, a: number, b: number): number[] =>
  n === 1 ? [a] : [a, b, ...new Array<number>(n - 2).fill(0)];

const RADII = 120;
const ANGLES = 16;

/**
 * Nodes of a density f(‖x‖²): log r by the trapezoidal rule, whose integrand decays at both ends
 * like an exponential, and the angle to e₁ by Gauss and Legendre with the weight sinⁿ⁻².
 */
function radialNodes(n: number, logDensity: (r2: number) => number, least: number, most: number) {
  const [points, weights]: [number[][], number[]] = [[], []];
  const angles =
    n === 1
      ? [
          { at: 0, weight: 1 },
          { at: Math.PI, weight: 1 },
        ]
      : gaussLegendre(ANGLES).map(({ at, weight }) => ({
          at: (Math.PI / 2) * (1 + at),
          weight: weight * Math.sin((Math.PI / 2) * (1 + at)) ** (n - 2),
        }));
  for (let i = 0; i < RADII; i++) {
    const s = least + ((most - least) * i) / (RADII - 1);
    const r = Math.exp(s);
    const radial = Math.exp(n * s + logDensity(r * r));
    for (const { at, weight } of angles) {
      points.push(inPlane(n, r * Math.cos(at), r * Math.sin(at)));
      weights.push(radial * weight);
    }
  }
  return normalised(points, weights);
}

const first = (x: Tensor): Tensor =>
  constant([1, ...new Array<number>((x.shape.at(-1) as number) - 1).fill(0)], x.dtype);

/** ν of the Student models. */
export const DEGREES = 5;

const gaussianNodes = (n: number): Nodes => radialNodes(n, (r2) => -r2 / 2, -14 / n, 2.6);
const studentNodes = (n: number): Nodes =>
  radialNodes(n, (r2) => -0.5 * (DEGREES + n) * Math.log1p(r2 / DEGREES), -14 / n, 9);

const gaussianSample: Model["sample"] = (key, count, n) =>
  sampleFrom(gaussian({ mean: new Array(n).fill(0) }), key, count, "float64");
const studentSample: Model["sample"] = (key, count, n) =>
  sampleFrom(studentT({ degrees: DEGREES, mean: new Array(n).fill(0) }), key, count, "float64");

/** −(ν + n)(x − μ)/(νσ² + ‖x − μ‖²) */
const studentScore = (x: Tensor, mu: Tensor | number, variance: Tensor | number): Tensor => {
  const n = x.shape.at(-1) as number;
  const from = sub(x, mu);
  const size = add(squaredNorm(from), mul(variance, fill([], DEGREES, x.dtype)));
  return mul(div(from, expandDims(size, -1)), -(DEGREES + n));
};

/** x₁ */
const firstOf = (x: Tensor): Tensor => dot(first(x), x);

/** a of two Gaussians at ±a e₁. */
const MEANS = 1.5;
const twoGaussians = (n: number) =>
  mixture([MEANS, -MEANS].map((a) => ({ distribution: gaussian({ mean: inPlane(n, a, 0) }) })));
const plane = (n: number): Nodes => {
  const [points, weights]: [number[][], number[]] = [[], []];
  const density = (a: number): number =>
    0.5 * Math.exp(-0.5 * (a - MEANS) ** 2) + 0.5 * Math.exp(-0.5 * (a + MEANS) ** 2);
  for (let i = 0; i <= 120; i++) {
    const a = -9 + (18 * i) / 120;
    for (let k = 0; k < (n === 1 ? 1 : 40); k++) {
      const s = -7 + (9.6 * k) / 39;
      const rho = n === 1 ? 0 : Math.exp(s);
      points.push(inPlane(n, a, rho));
      weights.push(density(a) * (n === 1 ? 1 : Math.exp((n - 1) * s - (rho * rho) / 2)));
    }
  }
  return normalised(points, weights);
};

export const models = {
  "gaussian-location": {
    title: "Gaussian, location",
    truth: 0,
    score: (x, theta) => sub(mul(first(x), theta), x),
    likelihoodScore: (x) => x[0],
    nodes: gaussianNodes,
    sample: gaussianSample,
  },
  "gaussian-scale": {
    title: "Gaussian, scale",
    truth: 1,
    score: (x, theta) => div(mul(x, -1), mul(theta, theta)),
    likelihoodScore: (x) => squaredSize(x) - x.length,
    nodes: gaussianNodes,
    sample: gaussianSample,
  },
  "student-location": {
    title: `Student (ν = ${DEGREES}), location`,
    truth: 0,
    score: (x, theta) => studentScore(x, mul(first(x), theta), 1),
    likelihoodScore: (x) => ((DEGREES + x.length) * x[0]) / (DEGREES + squaredSize(x)),
    nodes: studentNodes,
    sample: studentSample,
  },
  "student-scale": {
    title: `Student (ν = ${DEGREES}), scale`,
    truth: 1,
    score: (x, theta) => studentScore(x, 0, mul(theta, theta)),
    likelihoodScore: (x) => {
      const r2 = squaredSize(x);
      return ((DEGREES + x.length) * r2) / (DEGREES + r2) - x.length;
    },
    nodes: studentNodes,
    sample: studentSample,
  },
  // ½N(−a e₁, I) + ½N(a e₁, I) with the weight of the second as θ: s = −x + a(2π − 1)e₁ with
  // π = sigmoid(2a x₁ + log θ/(1 − θ)), and 2a x₁ is the log-ratio of the two.
  "mixture-weight": {
    title: "two Gaussians, weight",
    truth: 0.5,
    score: (x, theta) => {
      const along = firstOf(x);
      const odds = add(mul(along, 2 * MEANS), log(div(theta, sub(1, theta))));
      const mean = mul(sub(mul(sigmoid(odds), 2), 1), MEANS);
      return sub(mul(first(x), expandDims(mean, -1)), x);
    },
    likelihoodScore: (x) => 4 / (1 + Math.exp(-2 * MEANS * x[0])) - 2,
    nodes: plane,
    sample: (key, count, n) => sampleFrom(twoGaussians(n), key, count, "float64"),
  },
  // The same with a as θ: s = −x + a(2π − 1)e₁, and ∂ₐ log p = (2π − 1)x₁ − a.
  "mixture-distance": {
    title: "two Gaussians, distance",
    truth: MEANS,
    score: (x, theta) => {
      const odds = mul(firstOf(x), mul(theta, 2));
      const mean = mul(sub(mul(sigmoid(odds), 2), 1), theta);
      return sub(mul(first(x), expandDims(mean, -1)), x);
    },
    likelihoodScore: (x) => Math.tanh(MEANS * x[0]) * x[0] - MEANS,
    nodes: plane,
    sample: (key, count, n) => sampleFrom(twoGaussians(n), key, count, "float64"),
  },
} as const satisfies Readonly<Record<string, Model>>;

export type ModelName = keyof typeof models;
