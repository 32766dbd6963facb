/**
 * Distributions of shares and counts of K categories:
 *
 *   Dirichlet               Γ(A)/Π Γ(a_k) Π x_k^{a_k − 1},   A = Σ a_k
 *   categorical             p_x, categories counted from 0
 *   multinomial             n!/Π x_k! Π p_k^{x_k}
 *   Dirichlet-multinomial   n! Γ(A)/Γ(n + A) Π Γ(x_k + a_k)/(Γ(a_k) x_k!)
 *   ordered logistic        P(x ≤ k) = σ(c_k − η) for increasing cutpoints c
 */
import { integer, simplex } from "../domain/index.ts";
import {
  add,
  cast,
  concat,
  div,
  expand,
  expandDims,
  expm1,
  log,
  logGamma,
  logSigmoid,
  logSoftmax,
  mul,
  neg,
  type Operand,
  type Shape,
  slice,
  softmax,
  squeeze,
  sub,
  sum,
  type Tensor,
  takeAlong,
} from "../graph/index.ts";
import { broadcastShapes } from "../graph/ndarray.ts";
import type { Sequence } from "../random/index.ts";
import type { Distribution } from "./distribution.ts";
import { bounds, isNamed } from "./univariate.ts";
import { binomialVariate, logGammaVariate } from "./variates.ts";
import { type VectorRule, vectorDistribution } from "./vector.ts";

/** Probabilities given by their logarithms. */
export interface Logits {
  /** Logarithms of the probabilities, up to a common constant. */
  readonly logits: Operand;
}

const logFactorial = (x: Tensor): Tensor => logGamma(add(x, 1));
const whole = (a: Tensor): Tensor => expandDims(sum(a, -1), -1);
const vectorOf = (k: Shape): Shape => k;

/**
 * A Dirichlet variate, computed in logarithms because shares with small concentrations underflow.
 */
function dirichletVariate(random: Sequence, a: Float64Array, out: Float64Array): void {
  for (let k = 0; k < a.length; k++) out[k] = logGammaVariate(random, a[k]);
  const most = out.reduce((x, y) => Math.max(x, y));
  let left = 0;
  for (let k = 0; k < a.length; k++) {
    out[k] = Math.exp(out[k] - most);
    left += out[k];
  }
  for (let k = 0; k < a.length; k++) out[k] /= left;
}

/** Multinomial counts of n trials, one category after the other from the remaining trials. */
function multinomialVariate(random: Sequence, n: number, p: Float64Array, out: Float64Array): void {
  let [trials, left] = [n, p.reduce((a, b) => a + b)];
  for (let k = 0; k < p.length; k++) {
    const last = k === p.length - 1;
    out[k] = last ? trials : binomialVariate(random, trials, Math.min(1, p[k] / left));
    trials -= out[k];
    left -= p[k];
  }
}

/** A random category, in proportion to p. */
function choose(random: Sequence, p: Float64Array): number {
  let u = random.uniform() * p.reduce((a, b) => a + b);
  for (let k = 0; k < p.length - 1; k++) {
    u -= p[k];
    if (u < 0) return k;
  }
  return p.length - 1;
}

const exponentials = (logits: Float64Array): Float64Array => {
  const most = logits.reduce((a, b) => Math.max(a, b));
  return logits.map((l) => Math.exp(l - most));
};

const dirichletRule: VectorRule = {
  name: "dirichlet",
  parameters: { concentration: { rank: 1, is: "positive" } },
  event: vectorOf,
  support: ([k]) => simplex(k),
  logDensity: (x, a) =>
    add(sum(sub(mul(sub(a, 1), log(x)), logGamma(a)), -1), logGamma(sum(a, -1))),
  mean: (a) => div(a, whole(a)),
  variance: (a) => {
    const m = div(a, whole(a));
    return div(mul(m, sub(1, m)), add(whole(a), 1));
  },
  variate: (random, out, a) => dirichletVariate(random, a, out),
};

/**
 * The Dirichlet distribution of shares that sum to 1; the mean is concentration/Σ concentration.
 */
export const dirichlet = (concentration: Operand): Distribution =>
  vectorDistribution(dirichletRule, [concentration]);

/** Entry x of the last axis of log p. */
function logAt(x: Tensor, logP: Tensor): Tensor {
  const kinds = logP.shape.at(-1) as number;
  const shape = broadcastShapes(x.shape, logP.shape.slice(0, -1), "categorical");
  const index = cast(expandDims(expand(x, shape), -1), "int32");
  return squeeze(takeAlong(expand(logP, [...shape, kinds]), index, -1), -1);
}

const categoricalRule: VectorRule = {
  name: "categorical",
  discrete: true,
  parameters: { probabilities: { rank: 1, is: "probability" } },
  event: () => [],
  support: () => integer({ least: 0 }),
  logDensity: (x, p) => logAt(x, log(p)),
  variate: (random, out, p) => {
    out[0] = choose(random, p);
  },
};

const categoricalLogitRule: VectorRule = {
  ...categoricalRule,
  parameters: { logits: { rank: 1 } },
  logDensity: (x, l) => logAt(x, logSoftmax(l, -1)),
  variate: (random, out, l) => {
    out[0] = choose(random, exponentials(l));
  },
};

/**
 * The categorical distribution of K categories, counted from 0: `categorical(p)` or `categorical({
 * logits })`.
 */
export const categorical = (probabilities: Operand | Logits): Distribution =>
  isNamed<Logits>(probabilities, "logits")
    ? ofKinds(vectorDistribution(categoricalLogitRule, [probabilities.logits]))
    : ofKinds(vectorDistribution(categoricalRule, [probabilities]));

/** The support 0, …, K − 1, from the last axis of the last parameter. */
const ofKinds = (d: Distribution, more = 0): Distribution => ({
  ...d,
  support: bounds(0, ((d.parameters.at(-1) as Tensor).shape.at(-1) as number) - 1 + more, true),
});

const multinomialRule: VectorRule = {
  name: "multinomial",
  discrete: true,
  parameters: { trials: { rank: 0, is: "count" }, probabilities: { rank: 1, is: "probability" } },
  event: (_, k) => k,
  support: () => bounds(0, undefined, true),
  logDensity: (x, n, p) => add(logFactorial(n), sum(sub(mul(x, log(p)), logFactorial(x)), -1)),
  mean: (n, p) => mul(expandDims(n, -1), p),
  variance: (n, p) => mul(expandDims(n, -1), mul(p, sub(1, p))),
  variate: (random, out, [n], p) => multinomialVariate(random, n, p, out),
};

const multinomialLogitRule: VectorRule = {
  ...multinomialRule,
  parameters: { trials: { rank: 0, is: "count" }, logits: { rank: 1 } },
  logDensity: (x, n, l) =>
    add(logFactorial(n), sum(sub(mul(x, logSoftmax(l, -1)), logFactorial(x)), -1)),
  mean: (n, l) => mul(expandDims(n, -1), softmax(l, -1)),
  variance: (n, l) => {
    const p = softmax(l, -1);
    return mul(expandDims(n, -1), mul(p, sub(1, p)));
  },
  variate: (random, out, [n], l) => multinomialVariate(random, n, exponentials(l), out),
};

/**
 * The multinomial distribution of the counts of K categories among `trials`: `multinomial(n, p)` or
 * `multinomial(n, { logits })`.
 */
export const multinomial = (trials: Operand, probabilities: Operand | Logits): Distribution =>
  isNamed<Logits>(probabilities, "logits")
    ? vectorDistribution(multinomialLogitRule, [trials, probabilities.logits])
    : vectorDistribution(multinomialRule, [trials, probabilities]);

const dirichletMultinomialRule: VectorRule = {
  name: "dirichletMultinomial",
  discrete: true,
  parameters: { trials: { rank: 0, is: "count" }, concentration: { rank: 1, is: "positive" } },
  event: (_, k) => k,
  support: () => bounds(0, undefined, true),
  logDensity: (x, n, a) => {
    const all = sum(a, -1);
    const each = sub(logGamma(add(x, a)), add(logGamma(a), logFactorial(x)));
    return add(sum(each, -1), sub(add(logFactorial(n), logGamma(all)), logGamma(add(n, all))));
  },
  mean: (n, a) => mul(expandDims(n, -1), div(a, whole(a))),
  variance: (n, a) => {
    const p = div(a, whole(a));
    const [trials, all] = [expandDims(n, -1), whole(a)];
    return mul(mul(trials, mul(p, sub(1, p))), div(add(trials, all), add(all, 1)));
  },
  variate: (random, out, [n], a) => {
    const p = new Float64Array(a.length);
    dirichletVariate(random, a, p);
    multinomialVariate(random, n, p, out);
  },
};

/** The Dirichlet-multinomial distribution: multinomial counts whose probabilities are Dirichlet. */
export const dirichletMultinomial = (trials: Operand, concentration: Operand): Distribution =>
  vectorDistribution(dirichletMultinomialRule, [trials, concentration]);

/**
 * With a = c_k − η > b = c_{k−1} − η, σ(a) − σ(b) = σ(a) σ(−b) (1 − e^{b−a}), since
 * (eᵃ − eᵇ)/((1 + eᵃ)(1 + eᵇ)) = eᵃ/(1 + eᵃ) · 1/(1 + eᵇ) · (1 − e^{b−a}).
 */
function orderedLog(eta: Tensor, cuts: Tensor): Tensor {
  const a = sub(cuts, expandDims(eta, -1));
  const kinds = (a.shape.at(-1) as number) + 1;
  const outer = a.shape.slice(0, -1).map(() => null);
  const [low, high] = [logSigmoid(a), logSigmoid(neg(a))];
  if (kinds === 2) return concat([low, high], -1);
  const from = (t: Tensor, range: readonly [number, number]): Tensor => slice(t, ...outer, range);
  const [before, after] = [
    [0, kinds - 2],
    [1, kinds - 1],
  ] as const;
  const gaps = log(neg(expm1(sub(from(a, before), from(a, after)))));
  const middle = add(add(from(low, after), from(high, before)), gaps);
  return concat([from(low, [0, 1]), middle, from(high, [kinds - 2, kinds - 1])], -1);
}

const logistic = (z: number): number => 1 / (1 + Math.exp(-z));

const orderedLogisticRule: VectorRule = {
  name: "orderedLogistic",
  discrete: true,
  parameters: { predictor: { rank: 0 }, cutpoints: { rank: 1 } },
  event: () => [],
  support: () => integer({ least: 0 }),
  logDensity: (x, eta, cuts) => logAt(x, orderedLog(eta, cuts)),
  variate: (random, out, [eta], cuts) => {
    const u = random.uniform();
    out[0] = cuts.reduce((k, c) => k + (u > logistic(c - eta) ? 1 : 0), 0);
  },
};

/**
 * The ordered logistic distribution of categories 0, …, K with K increasing cutpoints: P(x ≤ k) =
 * σ(cutpoints_k − predictor).
 */
export const orderedLogistic = (predictor: Operand, cutpoints: Operand): Distribution =>
  ofKinds(vectorDistribution(orderedLogisticRule, [predictor, cutpoints]), 1);
