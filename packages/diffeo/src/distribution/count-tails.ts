/**
 * Tails and quantiles of counts: sums of probabilities as special functions, inverted by bisection.
 */
import {
  add,
  floor,
  greater,
  greaterEqual,
  less,
  logicalAnd,
  logicalNot,
  logicalOr,
  maximum,
  mul,
  type Operand,
  stopGradient,
  sub,
  type Tensor,
  where,
} from "../graph/index.ts";
import { betaTails, gammaTails, type Tails } from "./incomplete.ts";

/** P(X ≤ x) and P(X > x) for counts: those of ⌊x⌋ for x ≥ 0, and 0 and 1 below. */
function countTails(x: Tensor, tailsAt: (k: Tensor) => Tails): Tails {
  const [k, below] = [floor(x), less(x, 0)];
  const { lower, upper } = tailsAt(maximum(k, 0));
  return { lower: where(below, 0, lower), upper: where(below, 1, upper) };
}

/** Tails of the Poisson distribution: P(X ≤ k) is P(Gamma(k + 1) > rate). */
export const poissonTails = (x: Tensor, rate: Tensor): Tails =>
  countTails(x, (k) => {
    const { lower, upper } = gammaTails(add(k, 1), rate);
    return { lower: upper, upper: lower };
  });

/**
 * Tails of the negative binomial distribution with r successes, q = 1 − p: P(X ≤ k) = P(Beta(r, k +
 * 1) ≤ p).
 */
export const successTails = (x: Tensor, r: Tensor, p: Tensor, q: Tensor): Tails =>
  countTails(x, (k) => betaTails(r, add(k, 1), p, q));

/** Tails of the binomial distribution with n trials: P(X ≤ k) = P(Beta(n − k, k + 1) ≤ 1 − p). */
export const trialTails = (x: Tensor, n: Tensor, p: Tensor, q: Tensor): Tails =>
  countTails(x, (k) => {
    const all = greaterEqual(k, n);
    const { lower, upper } = betaTails(where(all, 1, sub(n, k)), add(k, 1), q, p);
    return { lower: where(all, 1, lower), upper: where(all, 0, upper) };
  });

/** Quantiles are searched among counts below 2 to the power of this. */
const BITS = 40;
/**
 * The relative error of a distribution function that a quantile tolerates, so that it inverts it.
 */
export const ROUNDING = 2e-12;

/**
 * The least count k with P(X ≤ k) ≥ u. The largest k with P(X ≤ k) < u is found bit by bit, from
 * the highest one. Above the median P(X > k) is compared with 1 − u, which has no cancellation.
 */
export function countQuantile(u: Tensor, most: Operand, tailsAt: (k: Tensor) => Tails): Tensor {
  const rest = sub(1, u);
  const low = less(u, rest);
  const wanted = mul(u, 1 - ROUNDING);
  const allowed = add(mul(rest, 1 + ROUNDING), 2 ** -52);
  const isBelow = (k: Tensor): Tensor => {
    const { lower, upper } = tailsAt(k);
    return logicalOr(
      logicalAnd(low, less(lower, wanted)),
      logicalAnd(logicalNot(low), greater(upper, allowed)),
    );
  };
  let k = sub(mul(u, 0), 1);
  for (let bit = BITS - 1; bit >= 0; bit--) {
    const next = add(k, 2 ** bit);
    k = stopGradient(where(isBelow(next), next, k));
  }
  return where(less(u, 1), add(k, 1), most);
}
