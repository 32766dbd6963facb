/**
 * Distributions on the whole line by location μ and scale σ. With z = (x − μ)/σ,
 *
 *   normal     e^{−z²/2}/(σ√2π)        Student's t   Γ((ν+1)/2)/(Γ(ν/2)√(νπ)σ) (1 + z²/ν)^{−(ν+1)/2}
 *   Cauchy     1/(πσ(1 + z²))          Laplace       e^{−|z|}/(2σ)
 *   logistic   e^{−z}/(σ(1 + e^{−z})²) Gumbel        e^{−z−e^{−z}}/σ
 */
import {
  abs,
  add,
  atan,
  cos,
  div,
  erfc,
  exp,
  greater,
  less,
  log,
  log1p,
  logGamma,
  mul,
  neg,
  normalQuantile,
  type Operand,
  sigmoid,
  sign,
  sin,
  softplus,
  square,
  sub,
  type Tensor,
  where,
} from "../graph/index.ts";
import type { Distribution } from "./distribution.ts";
import { studentQuantile, studentTails } from "./incomplete.ts";
import { bounds, type Rule, univariate } from "./univariate.ts";
import { gammaVariate } from "./variates.ts";

const HALF_LOG_TAU = 0.5 * Math.log(2 * Math.PI);
/** Euler's constant, the mean of a standard Gumbel variate. */
const EULER = 0.5772156649015329;

const standard = (x: Tensor, location: Tensor, scale: Tensor): Tensor =>
  div(sub(x, location), scale);

const back = (z: Tensor, location: Tensor, scale: Tensor): Tensor => add(location, mul(scale, z));

/** The members that all rules of location and scale share. */
const common = {
  support: () => bounds(undefined),
  affine: ["location", "scale"],
} as const;

const normalRule: Rule = {
  name: "normal",
  parameters: { mean: "any", sd: "positive" },
  support: common.support,
  affine: ["mean", "sd"],
  logDensity: (x, m, s) => sub(mul(square(standard(x, m, s)), -0.5), add(log(s), HALF_LOG_TAU)),
  mean: (m, s) => add(m, mul(s, 0)),
  variance: (m, s) => add(square(s), mul(m, 0)),
  cdf: (x, m, s) => mul(erfc(mul(standard(x, m, s), -Math.SQRT1_2)), 0.5),
  survival: (x, m, s) => mul(erfc(mul(standard(x, m, s), Math.SQRT1_2)), 0.5),
  quantile: (u, m, s) => back(normalQuantile(u), m, s),
  variate: (random, m, s) => m + s * random.normal(),
};

/** The normal distribution N(mean, sd²), given by its standard deviation. */
export const normal = (mean: Operand = 0, sd: Operand = 1): Distribution =>
  univariate(normalRule, [mean, sd]);

const studentRule: Rule = {
  name: "studentT",
  parameters: { degrees: "positive", location: "any", scale: "positive" },
  ...common,
  // The two logarithms of Γ differ by ½ log(ν/2) for large ν, so their difference loses digits only
  // in proportion to ν log ν.
  logDensity: (x, v, m, s) => {
    const half = mul(add(v, 1), 0.5);
    const peak = sub(sub(logGamma(half), logGamma(mul(v, 0.5))), mul(log(mul(v, Math.PI)), 0.5));
    const fall = mul(half, log1p(div(square(standard(x, m, s)), v)));
    return sub(sub(peak, log(s)), fall);
  },
  mean: (v, m, s) => where(greater(v, 1), add(m, mul(s, 0)), Number.NaN),
  variance: (v, m, s) => {
    const finite = mul(square(s), div(v, sub(v, 2)));
    const heavy = where(greater(v, 1), mul(v, Number.POSITIVE_INFINITY), Number.NaN);
    return add(where(greater(v, 2), finite, heavy), mul(m, 0));
  },
  cdf: (x, v, m, s) => studentTails(v, standard(x, m, s)).lower,
  survival: (x, v, m, s) => studentTails(v, standard(x, m, s)).upper,
  quantile: (u, v, m, s) => back(studentQuantile(u, v), m, s),
  variate: (random, v, m, s) =>
    m + (s * random.normal()) / Math.sqrt((2 * gammaVariate(random, v / 2)) / v),
};

/** Student's t distribution of numbers with ν degrees of freedom. */
export const studentTOf = (degrees: Operand, location: Operand, scale: Operand): Distribution =>
  univariate(studentRule, [degrees, location, scale]);

const tan = (x: Tensor): Tensor => div(sin(x), cos(x));

const cauchyRule: Rule = {
  name: "cauchy",
  parameters: { location: "any", scale: "positive" },
  ...common,
  logDensity: (x, m, s) =>
    neg(add(add(log1p(square(standard(x, m, s))), log(s)), Math.log(Math.PI))),
  cdf: (x, m, s) => add(mul(atan(standard(x, m, s)), 1 / Math.PI), 0.5),
  quantile: (u, m, s) => back(tan(mul(sub(u, 0.5), Math.PI)), m, s),
  variate: (random, m, s) => m + s * Math.tan(Math.PI * (random.uniform() - 0.5)),
};

/** The Cauchy distribution by its median and its half-width at half maximum. It has no mean. */
export const cauchy = (location: Operand = 0, scale: Operand = 1): Distribution =>
  univariate(cauchyRule, [location, scale]);

const laplaceRule: Rule = {
  name: "laplace",
  parameters: { location: "any", scale: "positive" },
  ...common,
  logDensity: (x, m, s) => neg(add(abs(standard(x, m, s)), add(log(s), Math.LN2))),
  mean: (m, s) => add(m, mul(s, 0)),
  variance: (m, s) => add(mul(square(s), 2), mul(m, 0)),
  cdf: (x, m, s) => {
    const z = standard(x, m, s);
    const tail = mul(exp(neg(abs(z))), 0.5);
    return where(less(z, 0), tail, sub(1, tail));
  },
  quantile: (u, m, s) => {
    const q = sub(u, 0.5);
    return back(neg(mul(sign(q), log1p(mul(abs(q), -2)))), m, s);
  },
  variate: (random, m, s) => {
    const q = random.uniform() - 0.5;
    return m - s * Math.sign(q) * Math.log1p(-2 * Math.abs(q));
  },
};

/** The Laplace distribution, with density e^{−|x − location|/scale}/(2 scale). */
export const laplace = (location: Operand = 0, scale: Operand = 1): Distribution =>
  univariate(laplaceRule, [location, scale]);

const logisticRule: Rule = {
  name: "logistic",
  parameters: { location: "any", scale: "positive" },
  ...common,
  // The density is symmetric; with |z| nothing overflows.
  logDensity: (x, m, s) => {
    const a = abs(standard(x, m, s));
    return neg(add(add(a, mul(softplus(neg(a)), 2)), log(s)));
  },
  mean: (m, s) => add(m, mul(s, 0)),
  variance: (m, s) => add(mul(square(s), Math.PI ** 2 / 3), mul(m, 0)),
  cdf: (x, m, s) => sigmoid(standard(x, m, s)),
  survival: (x, m, s) => sigmoid(neg(standard(x, m, s))),
  quantile: (u, m, s) => back(sub(log(u), log1p(neg(u))), m, s),
  variate: (random, m, s) => {
    const u = random.uniform();
    return m + s * (Math.log(u) - Math.log1p(-u));
  },
};

/** The logistic distribution; its cdf is σ((x − location)/scale). */
export const logistic = (location: Operand = 0, scale: Operand = 1): Distribution =>
  univariate(logisticRule, [location, scale]);

const gumbelRule: Rule = {
  name: "gumbel",
  parameters: { location: "any", scale: "positive" },
  ...common,
  logDensity: (x, m, s) => {
    const z = standard(x, m, s);
    return neg(add(add(z, exp(neg(z))), log(s)));
  },
  mean: (m, s) => add(m, mul(s, EULER)),
  variance: (m, s) => add(mul(square(s), Math.PI ** 2 / 6), mul(m, 0)),
  cdf: (x, m, s) => exp(neg(exp(neg(standard(x, m, s))))),
  quantile: (u, m, s) => back(neg(log(neg(log(u)))), m, s),
  variate: (random, m, s) => m - s * Math.log(-Math.log(random.uniform())),
};

/** The Gumbel distribution, the limit of maxima; its cdf is exp(−e^{−(x − location)/scale}). */
export const gumbel = (location: Operand = 0, scale: Operand = 1): Distribution =>
  univariate(gumbelRule, [location, scale]);
