/**
 * Counts with additional or separate zeros, where f are the probabilities of the base:
 *
 *   zero-inflated   p + (1 − p) f(0) at 0,   (1 − p) f(x) elsewhere
 *   hurdle          p at 0,                  (1 − p) f(x)/(1 − f(0)) elsewhere
 */
import {
  add,
  constant,
  equal,
  exp,
  expm1,
  fail,
  log,
  log1p,
  mul,
  neg,
  type Operand,
  sizeOf,
  sub,
  Tensor,
  where,
} from "../graph/index.ts";
import { broadcastOffsets } from "../graph/loops.ts";
import { fold, sequence } from "../random/index.ts";
import { type Distribution, distribution } from "./distribution.ts";
import { joinParameters } from "./parts.ts";
import { batchOf, parameterTensors, requireNumbers } from "./univariate.ts";

/** The most resamples of a hurdle's base until all are above 0. */
const TRIES = 10_000;

function withZeros(
  name: string,
  zero: Operand,
  base: Distribution,
  density: (x: Tensor, p: Tensor, atZero: Tensor, atX: Tensor) => Tensor,
  positive: boolean,
): Distribution {
  if (!base.discrete || base.event.length > 0)
    fail(
      "usage",
      `${name}: ${base.name} is not a distribution of counts`,
      "give a distribution of counts, such as poisson",
    );
  const [p] = parameterTensors(name, { probability: zero });
  requireNumbers(name, "probability", p, "probability");
  const { parameters, numbersOf } = joinParameters([{ parameters: [p] }, base]);
  const batch = batchOf(name, { probability: p.shape, [base.name]: base.batch });
  return distribution({
    name: `${name}(${base.name})`,
    batch,
    event: [],
    support: base.support,
    discrete: true,
    parameters,
    fault: (numbers) =>
      numbers[0].every((v) => v >= 0 && v <= 1)
        ? base.fault?.(numbers.slice(1))
        : {
            problem: `the probability of ${name} is not between 0 and 1`,
            remedy: "give a parameter whose prior is beta(1, 1), or sigmoid(…)",
          },
    logDensity: (x) => {
      const counts = x instanceof Tensor ? x : constant(x, "float64");
      return density(counts, p, base.logDensity(mul(counts, 0)), base.logDensity(counts));
    },
    drawFrom: (keys, numbers, shape = batch) => {
      const size = sizeOf(shape);
      const own = numbersOf(numbers, 1);
      const out = base.drawFrom(fold(keys, "counts"), own, shape);
      for (let tried = 0; positive && out.includes(0) && tried < TRIES; tried++) {
        const again = base.drawFrom(fold(keys, tried), own, shape);
        for (let i = 0; i < out.length; i++) if (out[i] === 0) out[i] = again[i];
      }
      const at = broadcastOffsets(p.shape, shape);
      const choices = fold(keys, "zeros");
      for (let row = 0; row < keys.count; row++) {
        const random = sequence(choices, row);
        const [shares] = numbers(row);
        for (let i = 0; i < size; i++)
          if (random.uniform() < shares[at[i]]) out[row * size + i] = 0;
      }
      return out;
    },
  });
}

/**
 * Counts of `base`, replaced by 0 with the probability `zero`.
 *
 * @param zero the probability of an additional zero; `base` may give zeros too
 * @example
 * const d = zeroInflated(0.3, poisson(4));
 */
export const zeroInflated = (zero: Operand, base: Distribution): Distribution =>
  withZeros(
    "zeroInflated",
    zero,
    base,
    (x, p, atZero, atX) => {
      const none = equal(x, 0);
      const inflated = log(add(p, mul(sub(1, p), exp(atZero))));
      return where(none, inflated, add(log1p(neg(p)), atX));
    },
    false,
  );

/** 0 with the probability `zero`, else a count of `base` given that it is above 0. */
export const hurdle = (zero: Operand, base: Distribution): Distribution =>
  withZeros(
    "hurdle",
    zero,
    base,
    (x, p, atZero, atX) => {
      const rest = sub(add(log1p(neg(p)), atX), log(neg(expm1(atZero))));
      return where(equal(x, 0), log(p), rest);
    },
    true,
  );
