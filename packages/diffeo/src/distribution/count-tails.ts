/** Tails and quantiles of counts: sums of their probabilities as special functions, and bisection. */
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

/** P(X ≤ x) and P(X > x) where every count has a chance: F(⌊x⌋) from 0 on, 0 and 1 below. */
function countTails(x: Tensor, tailsAt: (k: Tensor) => Tails): Tails {
  const [k, below] = [floor(x), less(x, 0)];
  const { lower, upper } = tailsAt(maximum(k, 0));
  return { lower: where(below, 0, lower), upper: where(below, 1, upper) };
}

/** Of Poisson: P(X ≤ k) is P(Gamma(k + 1) > rate). */
export const poissonTails = (x: Tensor, rate: Tensor): Tails =>
  countTails(x, (k) => {
    const { lower, upper } = gammaTails(add(k, 1), rate);
    return { lower: upper, upper: lower };
  });

/** Of r successes with probability p, 1 − p = q: P(X ≤ k) = P(Beta(r, k + 1) ≤ p). */
export const successTails = (x: Tensor, r: Tensor, p: Tensor, q: Tensor): Tails =>
  countTails(x, (k) => betaTails(r, add(k, 1), p, q));

/** Of n trials: P(X ≤ k) = P(Beta(n − k, k + 1) ≤ 1 − p). */
export const trialTails = (x: Tensor, n: Tensor, p: Tensor, q: Tensor): Tails =>
  countTails(x, (k) => {
    const all = greaterEqual(k, n);
    const { lower, upper } = betaTails(where(all, 1, sub(n, k)), add(k, 1), q, p);
    return { lower: where(all, 1, lower), upper: where(all, 0, upper) };
  });

/** The largest counts that a quantile looks for are below 2 to the power of this. */
const BITS = 40;
/** Relative errors of distribution functions that a quantile forgives, so that it inverts them. */
export const ROUNDING = 2e-12;

/**
 * The least count k with P(X ≤ k) ≥ u. The largest k with P(X ≤ k) < u is found bit by bit, from
 * the highest on; above the median P(X > k) is compared with 1 − u, which keeps its digits.
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
