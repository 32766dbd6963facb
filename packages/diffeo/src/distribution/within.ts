/**
 * Distributions of numbers between two bounds:
 *
 *   uniform   1/(b − a)     beta   x^{a−1}(1 − x)^{b−1}/B(a, b)     von Mises   e^{κ cos(x − μ)}/(2π I₀(κ)) on (−π, π)
 *
 *   I₀(κ) = (1/n) Σ_k e^{κ cos(2πk/n)}, the trapezoidal rule of its integral, whose error is
 *   I_n(κ): with n = 128 it is less than rounding up to κ = 200; above, Hankel's series in 1/8κ is
 *   used
 */
import {
  add,
  cos,
  div,
  expandDims,
  less,
  log,
  log1p,
  logGamma,
  logSumExp,
  maximum,
  minimum,
  mul,
  neg,
  type Operand,
  square,
  sub,
  type Tensor,
  where,
} from "../graph/index.ts";
import type { Distribution } from "./distribution.ts";
import { betaQuantile, betaTails } from "./incomplete.ts";
import { bounds, type Rule, univariate } from "./univariate.ts";
import { betaVariate, vonMisesVariate } from "./variates.ts";

const uniformRule: Rule = {
  name: "uniform",
  parameters: { low: "any", high: "any" },
  support: (low, high) => bounds(low, high),
  logDensity: (x, low, high) => sub(mul(x, 0), log(sub(high, low))),
  mean: (low, high) => mul(add(low, high), 0.5),
  variance: (low, high) => mul(square(sub(high, low)), 1 / 12),
  cdf: (x, low, high) => div(sub(x, low), sub(high, low)),
  quantile: (u, low, high) => add(low, mul(u, sub(high, low))),
  variate: (random, low, high) => low + (high - low) * random.uniform(),
};

/** The uniform distribution between `low` and `high`. */
export const uniform = (low: Operand = 0, high: Operand = 1): Distribution =>
  univariate(uniformRule, [low, high]);

const betaRule: Rule = {
  name: "beta",
  parameters: { a: "positive", b: "positive" },
  support: () => bounds(0, 1),
  logDensity: (x, a, b) =>
    add(
      add(mul(sub(a, 1), log(x)), mul(sub(b, 1), log1p(neg(x)))),
      sub(logGamma(add(a, b)), add(logGamma(a), logGamma(b))),
    ),
  mean: (a, b) => div(a, add(a, b)),
  variance: (a, b) => {
    const n = add(a, b);
    return div(mul(a, b), mul(square(n), add(n, 1)));
  },
  cdf: (x, a, b) => betaTails(a, b, x).lower,
  survival: (x, a, b) => betaTails(a, b, x).upper,
  quantile: betaQuantile,
  variate: betaVariate,
};

/** The beta distribution Beta(a, b) on (0, 1); its mean is a/(a + b). */
export const beta = (a: Operand, b: Operand): Distribution => univariate(betaRule, [a, b]);

const POINTS = 128;
const LARGE = 200;
/** cos(2πk/n) − 1 */
const cosines = Array.from(
  { length: POINTS },
  (_, k) => -2 * Math.sin((Math.PI * k) / POINTS) ** 2,
);
/** Coefficients of (8κ)^{−j}: (1·3·…·(2j − 1))²/j! */
const hankel = [1, 1, 9 / 2, 225 / 6, 11025 / 24, 893025 / 120, 108056025 / 720];

/** log I₀(κ) − κ */
function logScaledBesselI0(kappa: Tensor): Tensor {
  const near = mul(expandDims(minimum(kappa, LARGE), -1), cosines);
  const far = maximum(kappa, LARGE);
  const r = div(1, mul(far, 8));
  const series = hankel.reduceRight<Tensor>((total, c) => add(mul(total, r), c), mul(r, 0));
  return where(
    less(kappa, LARGE),
    sub(logSumExp(near, -1), Math.log(POINTS)),
    sub(log(series), mul(log(mul(far, 2 * Math.PI)), 0.5)),
  );
}

const vonMisesRule: Rule = {
  name: "vonMises",
  parameters: { direction: "any", concentration: "positive" },
  support: () => bounds(-Math.PI, Math.PI),
  // κ(cos(x − μ) − 1) − (log I₀(κ) − κ) − log 2π
  logDensity: (x, mu, kappa) =>
    sub(mul(kappa, sub(cos(sub(x, mu)), 1)), add(logScaledBesselI0(kappa), Math.log(2 * Math.PI))),
  variate: (random, mu, kappa) => {
    const angle = mu + vonMisesVariate(random, kappa);
    return angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI));
  },
};

/** The von Mises distribution of angles between −π and π around `direction`. */
export const vonMises = (direction: Operand, concentration: Operand): Distribution =>
  univariate(vonMisesRule, [direction, concentration]);
