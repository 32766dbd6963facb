/** Distributions of integers:
 *
 *   Bernoulli   pˣ(1 − p)^{1−x}                      binomial   C(n, x) pˣ(1 − p)^{n−x}
 *   Poisson     λˣ e^{−λ}/x!                         geometric  p(1 − p)ˣ, failures before a success
 *   negative binomial   Γ(x + r)/(Γ(r) x!) pʳ(1 − p)ˣ, failures before r successes; with mean μ and
 *               dispersion φ, r = φ and p = φ/(μ + φ), of variance μ + μ²/φ
 *   beta-binomial       C(n, x) B(x + a, n − x + b)/B(a, b)
 */
import {
  add,
  div,
  exp,
  expm1,
  floor,
  greater,
  less,
  log,
  log1p,
  logGamma,
  maximum,
  mul,
  neg,
  type Operand,
  sigmoid,
  softplus,
  sub,
  type Tensor,
  where,
} from "../graph/index.ts";
import { countQuantile, poissonTails, ROUNDING, successTails, trialTails } from "./count-tails.ts";
import type { Distribution } from "./distribution.ts";
import type { Tails } from "./incomplete.ts";
import { bounds, isNamed, type Rule, univariate } from "./univariate.ts";
import { betaVariate, binomialVariate, gammaVariate, poissonVariate } from "./variates.ts";

/** A probability given by its logit. */
export interface Logit {
  /** log(p/(1 − p)) */
  readonly logit: Operand;
}

const discrete = true;
const fromZero = () => bounds(0, undefined, true);
const inverseLogit = (l: number): number => 1 / (1 + Math.exp(-l));
/** p(1 − p) from a logit, without cancellation. */
const spread = (l: Tensor): Tensor => mul(sigmoid(l), sigmoid(neg(l)));
/** log x! */
const logFactorial = (x: Tensor): Tensor => logGamma(add(x, 1));
/** log C(n, x) */
const logChoose = (n: Tensor, x: Tensor): Tensor =>
  sub(logFactorial(n), add(logFactorial(x), logFactorial(sub(n, x))));

/** The distribution function, its complement and the quantile of a rule. */
const tailsOf = (
  tails: (x: Tensor, ...p: Tensor[]) => Tails,
  most: (...p: Tensor[]) => Operand = () => Number.POSITIVE_INFINITY,
): Pick<Rule, "cdf" | "survival" | "quantile"> => ({
  cdf: (x, ...p) => tails(x, ...p).lower,
  survival: (x, ...p) => tails(x, ...p).upper,
  quantile: (u, ...p) => countQuantile(u, most(...p), (k) => tails(k, ...p)),
});

/** Tails of a distribution on 0 and 1. */
const yesOrNo = (p: Tensor, q: Tensor) => (x: Tensor) => ({
  lower: where(less(x, 0), 0, where(less(x, 1), q, 1)),
  upper: where(less(x, 0), 1, where(less(x, 1), p, 0)),
});

const bernoulliRule: Rule = {
  name: "bernoulli",
  discrete,
  parameters: { probability: "probability" },
  hint: "or a logit: bernoulli({ logit: … })",
  support: () => bounds(0, 1, true),
  logDensity: (x, p) => add(mul(x, log(p)), mul(sub(1, x), log1p(neg(p)))),
  mean: (p) => p,
  variance: (p) => mul(p, sub(1, p)),
  cdf: (x, p) => yesOrNo(p, sub(1, p))(x).lower,
  survival: (x, p) => yesOrNo(p, sub(1, p))(x).upper,
  quantile: (u, p) => where(greater(u, sub(1, p)), 1, mul(u, 0)),
  variate: (random, p) => (random.uniform() < p ? 1 : 0),
};

const bernoulliLogitRule: Rule = {
  ...bernoulliRule,
  parameters: { logit: "any" },
  logDensity: (x, l) => sub(mul(x, l), softplus(l)),
  mean: (l) => sigmoid(l),
  variance: spread,
  cdf: (x, l) => yesOrNo(sigmoid(l), sigmoid(neg(l)))(x).lower,
  survival: (x, l) => yesOrNo(sigmoid(l), sigmoid(neg(l)))(x).upper,
  quantile: (u, l) => where(greater(u, sigmoid(neg(l))), 1, mul(u, 0)),
  variate: (random, l) => (random.uniform() < inverseLogit(l) ? 1 : 0),
};

/**
 * The Bernoulli distribution: 1 with the given probability, else 0. `bernoulli(p)` or `bernoulli({
 * logit })`.
 */
export const bernoulli = (probability: Operand | Logit): Distribution =>
  isNamed<Logit>(probability, "logit")
    ? univariate(bernoulliLogitRule, [probability.logit])
    : univariate(bernoulliRule, [probability]);

const binomialRule: Rule = {
  name: "binomial",
  discrete,
  parameters: { trials: "count", probability: "probability" },
  hint: "or a logit: binomial(n, { logit: … })",
  support: (n) => bounds(0, n, true),
  logDensity: (x, n, p) => add(logChoose(n, x), add(mul(x, log(p)), mul(sub(n, x), log1p(neg(p))))),
  mean: (n, p) => mul(n, p),
  variance: (n, p) => mul(n, mul(p, sub(1, p))),
  ...tailsOf(
    (x, n, p) => trialTails(x, n, p, sub(1, p)),
    (n) => n,
  ),
  variate: binomialVariate,
};

const binomialLogitRule: Rule = {
  ...binomialRule,
  parameters: { trials: "count", logit: "any" },
  logDensity: (x, n, l) => add(logChoose(n, x), sub(mul(x, l), mul(n, softplus(l)))),
  mean: (n, l) => mul(n, sigmoid(l)),
  variance: (n, l) => mul(n, spread(l)),
  ...tailsOf(
    (x, n, l) => trialTails(x, n, sigmoid(l), sigmoid(neg(l))),
    (n) => n,
  ),
  variate: (random, n, l) => binomialVariate(random, n, inverseLogit(l)),
};

/**
 * The binomial distribution of the successes among `trials`: `binomial(n, p)` or `binomial(n, {
 * logit })`.
 */
export const binomial = (trials: Operand, probability: Operand | Logit): Distribution =>
  isNamed<Logit>(probability, "logit")
    ? univariate(binomialLogitRule, [trials, probability.logit])
    : univariate(binomialRule, [trials, probability]);

const poissonRule: Rule = {
  name: "poisson",
  discrete,
  parameters: { rate: "positive" },
  hint: "such as exp(…), or its logarithm: poisson({ logRate: … })",
  support: fromZero,
  logDensity: (x, rate) => sub(mul(x, log(rate)), add(rate, logFactorial(x))),
  mean: (rate) => rate,
  variance: (rate) => rate,
  ...tailsOf(poissonTails),
  variate: poissonVariate,
};

const poissonLogRule: Rule = {
  ...poissonRule,
  parameters: { logRate: "any" },
  logDensity: (x, l) => sub(mul(x, l), add(exp(l), logFactorial(x))),
  mean: (l) => exp(l),
  variance: (l) => exp(l),
  ...tailsOf((x, l) => poissonTails(x, exp(l))),
  variate: (random, l) => poissonVariate(random, Math.exp(l)),
};

/** A rate given by its logarithm. */
export interface LogRate {
  readonly logRate: Operand;
}

/**
 * The Poisson distribution of counts of independent events: `poisson(rate)` or `poisson({ logRate
 * })`.
 */
export const poisson = (rate: Operand | LogRate): Distribution =>
  isNamed<LogRate>(rate, "logRate")
    ? univariate(poissonLogRule, [rate.logRate])
    : univariate(poissonRule, [rate]);

const successesRule: Rule = {
  name: "negativeBinomial",
  discrete,
  parameters: { successes: "positive", probability: "probability" },
  support: fromZero,
  logDensity: (x, r, p) =>
    add(
      sub(logGamma(add(x, r)), add(logGamma(r), logFactorial(x))),
      add(mul(r, log(p)), mul(x, log1p(neg(p)))),
    ),
  mean: (r, p) => div(mul(r, sub(1, p)), p),
  variance: (r, p) => div(mul(r, sub(1, p)), mul(p, p)),
  ...tailsOf((x, r, p) => successTails(x, r, p, sub(1, p))),
  variate: (random, r, p) => poissonVariate(random, (gammaVariate(random, r) * (1 - p)) / p),
};

/** With l = log μ and m = log φ: p = 1/(1 + e^{l−m}). */
const dispersionLogDensity = (x: Tensor, l: Tensor, phi: Tensor): Tensor => {
  const ratio = sub(l, log(phi));
  return sub(
    sub(logGamma(add(x, phi)), add(logGamma(phi), logFactorial(x))),
    add(mul(phi, softplus(ratio)), mul(x, softplus(neg(ratio)))),
  );
};

const dispersionRule: Rule = {
  ...successesRule,
  parameters: { mean: "positive", dispersion: "positive" },
  hint: "such as exp(…), or its logarithm: negativeBinomial({ logMean: …, dispersion })",
  logDensity: (x, mu, phi) => dispersionLogDensity(x, log(mu), phi),
  mean: (mu, phi) => add(mu, mul(phi, 0)),
  variance: (mu, phi) => add(mu, div(mul(mu, mu), phi)),
  ...tailsOf((x, mu, phi) => {
    const all = add(mu, phi);
    return successTails(x, phi, div(phi, all), div(mu, all));
  }),
  variate: (random, mu, phi) => poissonVariate(random, (gammaVariate(random, phi) * mu) / phi),
};

const logDispersionRule: Rule = {
  ...successesRule,
  parameters: { logMean: "any", dispersion: "positive" },
  logDensity: dispersionLogDensity,
  mean: (l, phi) => add(exp(l), mul(phi, 0)),
  variance: (l, phi) => add(exp(l), div(exp(mul(l, 2)), phi)),
  ...tailsOf((x, l, phi) => {
    const ratio = sub(l, log(phi));
    return successTails(x, phi, sigmoid(neg(ratio)), sigmoid(ratio));
  }),
  variate: (random, l, phi) =>
    poissonVariate(random, (gammaVariate(random, phi) * Math.exp(l)) / phi),
};

/** Parameters of `negativeBinomial`: mean and dispersion, or successes and probability. */
export type NegativeBinomialOptions =
  | { readonly mean: Operand; readonly dispersion: Operand }
  | { readonly logMean: Operand; readonly dispersion: Operand }
  | { readonly successes: Operand; readonly probability: Operand };

/**
 * The negative binomial distribution, of counts that vary more than Poisson's: by mean μ and
 * dispersion φ, with variance μ + μ²/φ, or by successes and probability.
 */
export function negativeBinomial(options: NegativeBinomialOptions): Distribution {
  if ("mean" in options) return univariate(dispersionRule, [options.mean, options.dispersion]);
  if ("logMean" in options)
    return univariate(logDispersionRule, [options.logMean, options.dispersion]);
  return univariate(successesRule, [options.successes, options.probability]);
}

const geometricRule: Rule = {
  name: "geometric",
  discrete,
  parameters: { probability: "probability" },
  support: fromZero,
  logDensity: (x, p) => add(log(p), mul(x, log1p(neg(p)))),
  mean: (p) => div(sub(1, p), p),
  variance: (p) => div(sub(1, p), mul(p, p)),
  cdf: (x, p) => neg(expm1(mul(log1p(neg(p)), maximum(add(floor(x), 1), 0)))),
  survival: (x, p) => exp(mul(log1p(neg(p)), maximum(add(floor(x), 1), 0))),
  // 1 − (1 − p)^{k+1} ≥ u. If u is a value of the distribution function, the root is an integer up
  // to rounding.
  quantile: (u, p) => {
    const root = div(log1p(neg(u)), log1p(neg(p)));
    return maximum(sub(neg(floor(neg(mul(root, 1 - ROUNDING)))), 1), 0);
  },
  variate: (random, p) => Math.floor(Math.log(random.uniform()) / Math.log1p(-p)),
};

/** The geometric distribution of the failures before the first success: 0, 1, 2, … */
export const geometric = (probability: Operand): Distribution =>
  univariate(geometricRule, [probability]);

const logBeta = (a: Tensor, b: Tensor): Tensor =>
  sub(add(logGamma(a), logGamma(b)), logGamma(add(a, b)));

const betaBinomialRule: Rule = {
  name: "betaBinomial",
  discrete,
  parameters: { trials: "count", a: "positive", b: "positive" },
  support: (n) => bounds(0, n, true),
  logDensity: (x, n, a, b) =>
    add(logChoose(n, x), sub(logBeta(add(x, a), add(sub(n, x), b)), logBeta(a, b))),
  mean: (n, a, b) => div(mul(n, a), add(a, b)),
  variance: (n, a, b) => {
    const s = add(a, b);
    return div(mul(mul(n, add(s, n)), mul(a, b)), mul(mul(s, s), add(s, 1)));
  },
  variate: (random, n, a, b) => binomialVariate(random, n, betaVariate(random, a, b)),
};

/** The beta-binomial distribution: successes among `trials` whose probability is Beta(a, b). */
export const betaBinomial = (trials: Operand, a: Operand, b: Operand): Distribution =>
  univariate(betaBinomialRule, [trials, a, b]);
