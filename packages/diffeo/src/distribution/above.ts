/**
 * Distributions of numbers above 0, or above a bound:
 *
 *   half-normal, half-Cauchy, half-t   twice the density about 0
 *   log-normal   N(log x; m, s)/x      exponential   b e^{−bx}
 *   gamma        bᵃ x^{a−1} e^{−bx}/Γ(a)        inverse gamma   bᵃ x^{−a−1} e^{−b/x}/Γ(a)
 *   Weibull      (k/l)(x/l)^{k−1} e^{−(x/l)ᵏ}   Pareto          a mᵃ x^{−a−1}, x > m
 */
import {
  add,
  atan,
  cos,
  div,
  erf,
  erfc,
  erfInverse,
  exp,
  expm1,
  greater,
  log,
  log1p,
  logGamma,
  maximum,
  mul,
  neg,
  normalQuantile,
  type Operand,
  pow,
  sin,
  square,
  sub,
  type Tensor,
  where,
} from "../graph/index.ts";
import type { Distribution } from "./distribution.ts";
import {
  gammaQuantile,
  gammaTails,
  studentQuantile,
  studentTails,
  type Tails,
} from "./incomplete.ts";
import { bounds, type Rule, univariate } from "./univariate.ts";
import { gammaVariate, logGammaVariate } from "./variates.ts";

const above0 = () => bounds(0);
const INFINITE = Number.POSITIVE_INFINITY;
const HALF_LOG_TAU = 0.5 * Math.log(2 * Math.PI);
const MEAN_OF_HALF_NORMAL = Math.sqrt(2 / Math.PI);

const halfNormalRule: Rule = {
  name: "halfNormal",
  parameters: { sd: "positive" },
  support: above0,
  logDensity: (x, s) => sub(mul(square(div(x, s)), -0.5), add(log(s), 0.5 * Math.log(Math.PI / 2))),
  mean: (s) => mul(s, MEAN_OF_HALF_NORMAL),
  variance: (s) => mul(square(s), 1 - 2 / Math.PI),
  cdf: (x, s) => erf(mul(div(x, s), Math.SQRT1_2)),
  survival: (x, s) => erfc(mul(div(x, s), Math.SQRT1_2)),
  quantile: (u, s) => mul(mul(s, erfInverse(u)), Math.SQRT2),
  variate: (random, s) => s * Math.abs(random.normal()),
};

/** The half-normal distribution: |x| of x ~ N(0, sd²). */
export const halfNormal = (sd: Operand = 1): Distribution => univariate(halfNormalRule, [sd]);

const halfCauchyRule: Rule = {
  name: "halfCauchy",
  parameters: { scale: "positive" },
  support: above0,
  logDensity: (x, s) => neg(add(add(log1p(square(div(x, s))), log(s)), Math.log(Math.PI / 2))),
  cdf: (x, s) => mul(atan(div(x, s)), 2 / Math.PI),
  quantile: (u, s) => {
    const angle = mul(u, Math.PI / 2);
    return mul(s, div(sin(angle), cos(angle)));
  },
  variate: (random, s) => s * Math.tan((Math.PI / 2) * random.uniform()),
};

/** The half-Cauchy distribution: |x| of a Cauchy variate about 0. Its median is the scale. */
export const halfCauchy = (scale: Operand = 1): Distribution => univariate(halfCauchyRule, [scale]);

/** Tails of |T|: twice those of T above the median. */
function middleOf(x: Tensor, v: Tensor, s: Tensor): Tails {
  const upper = mul(studentTails(v, div(x, s)).upper, 2);
  return { lower: sub(1, upper), upper };
}

const halfStudentRule: Rule = {
  name: "halfStudentT",
  parameters: { degrees: "positive", scale: "positive" },
  support: above0,
  logDensity: (x, v, s) => {
    const half = mul(add(v, 1), 0.5);
    const peak = sub(sub(logGamma(half), logGamma(mul(v, 0.5))), mul(log(mul(v, Math.PI)), 0.5));
    const fall = mul(half, log1p(div(square(div(x, s)), v)));
    return add(sub(sub(peak, log(s)), fall), Math.LN2);
  },
  cdf: (x, v, s) => middleOf(x, v, s).lower,
  survival: (x, v, s) => middleOf(x, v, s).upper,
  quantile: (u, v, s) => mul(s, studentQuantile(add(mul(u, 0.5), 0.5), v)),
  variate: (random, v, s) =>
    (s * Math.abs(random.normal())) / Math.sqrt((2 * gammaVariate(random, v / 2)) / v),
};

/** The half-t distribution: |x| of a Student's t variate about 0. */
export const halfStudentT = (degrees: Operand, scale: Operand = 1): Distribution =>
  univariate(halfStudentRule, [degrees, scale]);

const logNormalRule: Rule = {
  name: "logNormal",
  parameters: { mean: "any", sd: "positive" },
  support: above0,
  logDensity: (x, m, s) => {
    const l = log(x);
    return sub(mul(square(div(sub(l, m), s)), -0.5), add(add(log(s), l), HALF_LOG_TAU));
  },
  mean: (m, s) => exp(add(m, mul(square(s), 0.5))),
  variance: (m, s) => mul(expm1(square(s)), exp(add(mul(m, 2), square(s)))),
  cdf: (x, m, s) => mul(erfc(mul(div(sub(log(x), m), s), -Math.SQRT1_2)), 0.5),
  survival: (x, m, s) => mul(erfc(mul(div(sub(log(x), m), s), Math.SQRT1_2)), 0.5),
  quantile: (u, m, s) => exp(add(m, mul(s, normalQuantile(u)))),
  variate: (random, m, s) => Math.exp(m + s * random.normal()),
};

/** The log-normal distribution: exp(x) of x ~ N(mean, sd²). */
export const logNormal = (mean: Operand = 0, sd: Operand = 1): Distribution =>
  univariate(logNormalRule, [mean, sd]);

const exponentialRule: Rule = {
  name: "exponential",
  parameters: { rate: "positive" },
  support: above0,
  logDensity: (x, b) => sub(log(b), mul(b, x)),
  mean: (b) => div(1, b),
  variance: (b) => div(1, square(b)),
  cdf: (x, b) => neg(expm1(neg(mul(b, x)))),
  survival: (x, b) => exp(neg(mul(b, x))),
  quantile: (u, b) => neg(div(log1p(neg(u)), b)),
  variate: (random, b) => -Math.log(random.uniform()) / b,
};

/** The exponential distribution, with density rate · e^{−rate x} and mean 1/rate. */
export const exponential = (rate: Operand = 1): Distribution => univariate(exponentialRule, [rate]);

const gammaRule: Rule = {
  name: "gamma",
  parameters: { shape: "positive", rate: "positive" },
  support: above0,
  logDensity: (x, a, b) =>
    sub(add(mul(a, log(b)), mul(sub(a, 1), log(x))), add(mul(b, x), logGamma(a))),
  mean: (a, b) => div(a, b),
  variance: (a, b) => div(a, square(b)),
  cdf: (x, a, b) => gammaTails(a, mul(b, x)).lower,
  survival: (x, a, b) => gammaTails(a, mul(b, x)).upper,
  quantile: (u, a, b) => div(gammaQuantile(u, a), b),
  variate: (random, a, b) => gammaVariate(random, a) / b,
};

/** The gamma distribution by shape and rate; its mean is shape/rate. */
export const gamma = (shape: Operand, rate: Operand = 1): Distribution =>
  univariate(gammaRule, [shape, rate]);

const chiSquaredRule: Rule = {
  name: "chiSquared",
  parameters: { degrees: "positive" },
  support: above0,
  logDensity: (x, v) => {
    const half = mul(v, 0.5);
    const rest = add(add(mul(half, Math.LN2), mul(x, 0.5)), logGamma(half));
    return sub(mul(sub(half, 1), log(x)), rest);
  },
  mean: (v) => v,
  variance: (v) => mul(v, 2),
  cdf: (x, v) => gammaTails(mul(v, 0.5), mul(x, 0.5)).lower,
  survival: (x, v) => gammaTails(mul(v, 0.5), mul(x, 0.5)).upper,
  quantile: (u, v) => mul(gammaQuantile(u, mul(v, 0.5)), 2),
  variate: (random, v) => 2 * gammaVariate(random, v / 2),
};

/**
 * The χ² distribution: the sum of `degrees` squares of standard normal numbers, Gamma(degrees/2,
 * ½).
 */
export const chiSquared = (degrees: Operand): Distribution => univariate(chiSquaredRule, [degrees]);

const inverseGammaRule: Rule = {
  name: "inverseGamma",
  parameters: { shape: "positive", scale: "positive" },
  support: above0,
  logDensity: (x, a, b) =>
    sub(sub(mul(a, log(b)), mul(add(a, 1), log(x))), add(div(b, x), logGamma(a))),
  mean: (a, b) => where(greater(a, 1), div(b, sub(a, 1)), INFINITE),
  variance: (a, b) => {
    const finite = div(square(div(b, sub(a, 1))), sub(a, 2));
    return where(greater(a, 2), finite, where(greater(a, 1), mul(a, INFINITE), Number.NaN));
  },
  cdf: (x, a, b) => gammaTails(a, div(b, maximum(x, 0))).upper,
  survival: (x, a, b) => gammaTails(a, div(b, maximum(x, 0))).lower,
  quantile: (u, a, b) => div(b, gammaQuantile(sub(1, u), a)),
  variate: (random, a, b) => b * Math.exp(-logGammaVariate(random, a)),
};

/** The inverse gamma distribution: 1/x of x ~ Gamma(shape, rate = scale). */
export const inverseGamma = (shape: Operand, scale: Operand = 1): Distribution =>
  univariate(inverseGammaRule, [shape, scale]);

/** Γ(1 + c) */
const gammaOf = (c: Tensor): Tensor => exp(logGamma(add(c, 1)));

const weibullRule: Rule = {
  name: "weibull",
  parameters: { shape: "positive", scale: "positive" },
  support: above0,
  logDensity: (x, k, l) => {
    const r = log(div(x, l));
    return sub(add(sub(log(k), log(l)), mul(sub(k, 1), r)), exp(mul(k, r)));
  },
  mean: (k, l) => mul(l, gammaOf(div(1, k))),
  variance: (k, l) => mul(square(l), sub(gammaOf(div(2, k)), square(gammaOf(div(1, k))))),
  cdf: (x, k, l) => neg(expm1(neg(pow(div(x, l), k)))),
  survival: (x, k, l) => exp(neg(pow(div(x, l), k))),
  quantile: (u, k, l) => mul(l, pow(neg(log1p(neg(u))), div(1, k))),
  variate: (random, k, l) => l * (-Math.log(random.uniform())) ** (1 / k),
};

/** The Weibull distribution by shape and scale; its cdf is 1 − exp(−(x/scale)^shape). */
export const weibull = (shape: Operand, scale: Operand = 1): Distribution =>
  univariate(weibullRule, [shape, scale]);

const paretoRule: Rule = {
  name: "pareto",
  parameters: { minimum: "positive", shape: "positive" },
  support: (m) => bounds(m),
  logDensity: (x, m, a) => sub(log(a), add(mul(a, log(div(x, m))), log(x))),
  mean: (m, a) => where(greater(a, 1), div(mul(a, m), sub(a, 1)), INFINITE),
  variance: (m, a) => {
    const finite = div(mul(square(div(m, sub(a, 1))), a), sub(a, 2));
    return where(greater(a, 2), finite, INFINITE);
  },
  cdf: (x, m, a) => neg(expm1(mul(a, log(div(m, x))))),
  survival: (x, m, a) => exp(mul(a, log(div(m, x)))),
  quantile: (u, m, a) => mul(m, exp(neg(div(log1p(neg(u)), a)))),
  variate: (random, m, a) => m * Math.exp(-Math.log(random.uniform()) / a),
};

/** The Pareto distribution on values above `minimum`, P(X > x) = (minimum/x)^shape. */
export const pareto = (minimum: Operand, shape: Operand): Distribution =>
  univariate(paretoRule, [minimum, shape]);
