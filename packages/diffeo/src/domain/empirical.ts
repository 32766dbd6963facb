/**
 * Numbers with a known distribution function F, which is piecewise linear between knots. y is the
 * normal score of a value, so a column with this distribution is standard normal in y,
 *
 *   y = Φ⁻¹(F(v))        q(v) = q(y) f(v)/φ(y),   f = F′
 *
 * Values that are recorded in steps of s represent their interval [v − s/2, v + s/2), with u
 * uniform in its share of F:
 *
 *   y = Φ⁻¹(F(v − s/2) + u p),  p = F(v + s/2) − F(v − s/2)        P(v) = ∫ q(y) dy = E_u q(y) p/φ(y)
 *
 * A value that many rows share is an interval with steep F, and is decoded as often as it was
 * encoded. Beyond the outermost knots F continues, uniformly up to a bound or else as w/(w +
 * distance), so every value has a density. Decoded values are within the knots.
 */
import { identity } from "../bijector/index.ts";
import {
  add,
  constant,
  erfc,
  fail,
  maximum,
  minimum,
  mul,
  sub,
  sum,
  type Tensor,
} from "../graph/index.ts";
import { normalPoint, normalShare } from "../host/index.ts";
import { type Domain, domain } from "./domain.ts";
import { nearestMultiple } from "./recorded.ts";

/** A piecewise linear distribution function, and the step in which values are recorded. */
export interface EmpiricalOptions {
  /** Increasing values between which F is linear. */
  readonly knots: readonly number[];
  /** F at each knot: increasing, above 0 and below 1. */
  readonly shares: readonly number[];
  /** Values are recorded in multiples of this step. Default: continuous values. */
  readonly step?: number;
  /** Bounds of the distribution. Default −∞ and ∞. */
  readonly low?: number;
  readonly high?: number;
}

/** Below this share of an interval, the difference of F has lost most of its digits. */
const FEW_DIGITS = 1e-10;

/** The shares below and above a value. */
type Tails = readonly [below: number, above: number];

/** log φ(z) */
const logNormal = (z: number): number => -(z * z + Math.log(2 * Math.PI)) / 2;

/**
 * The last index of an increasing list whose value is at most x, between 0 and the last but one.
 */
function placeOf(list: readonly number[], x: number): number {
  let [low, high] = [0, list.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (list[middle] <= x) low = middle;
    else high = middle;
  }
  return low;
}

/** F and its inverse. */
function distribution({ knots, shares, low, high }: EmpiricalOptions) {
  const last = knots.length - 1;
  const [from, to] = [knots[0], knots[last]];
  const [below, above] = [shares[0], 1 - shares[last]];
  /** The distance at which w/(w + d) is ½. */
  const w = (to - from) / 10;
  /** The share beyond a value at a distance from the outermost knot, and its derivative. */
  const beyond = (share: number, d: number, room: number | undefined): readonly [number, number] =>
    room === undefined
      ? [(share * w) / (w + d), (share * w) / (w + d) ** 2]
      : [share * Math.max(0, 1 - d / room), share / room];
  /** The distance at which the share beyond has decreased by a factor. */
  const distance = (factor: number, room: number | undefined): number =>
    room === undefined ? w * (factor - 1) : room * (1 - 1 / factor);
  const roomBelow = low === undefined ? undefined : from - low;
  const roomAbove = high === undefined ? undefined : high - to;
  return {
    tails: (v: number): Tails => {
      if (v < from) {
        const [share] = beyond(below, from - v, roomBelow);
        return [share, 1 - share];
      }
      if (v > to) {
        const [share] = beyond(above, v - to, roomAbove);
        return [1 - share, share];
      }
      const i = placeOf(knots, v);
      const part = (v - knots[i]) / (knots[i + 1] - knots[i]);
      const share = shares[i] + part * (shares[i + 1] - shares[i]);
      return [share, 1 - share];
    },
    /** The density f. */
    slope: (v: number): number => {
      if (v < from) return beyond(below, from - v, roomBelow)[1];
      if (v > to) return beyond(above, v - to, roomAbove)[1];
      const i = placeOf(knots, v);
      return (shares[i + 1] - shares[i]) / (knots[i + 1] - knots[i]);
    },
    /** The value with the given share below it. */
    quantile: (share: number): number => {
      if (share < shares[0]) return from - distance(below / share, roomBelow);
      if (share > shares[last]) return to + distance(above / (1 - share), roomAbove);
      const i = placeOf(shares, share);
      const part = (share - shares[i]) / (shares[i + 1] - shares[i]);
      return knots[i] + part * (knots[i + 1] - knots[i]);
    },
  };
}

/** The value with the given share below it, also beyond the knots. */
export const quantileOf = (options: EmpiricalOptions, share: number): number =>
  distribution(options).quantile(share);

const rises = (list: readonly number[]): boolean =>
  list.every((v, i) => Number.isFinite(v) && (i === 0 || v > list[i - 1]));

function requireDistribution({ knots, shares, step, low, high }: EmpiricalOptions): void {
  if (knots.length < 2 || knots.length !== shares.length || !rises(knots) || !rises(shares))
    fail(
      "usage",
      `empirical: ${knots.length} knots and ${shares.length} shares are not a distribution ` +
        "function",
      "give increasing lists of the same length, at least 2",
    );
  if (!(shares[0] > 0 && (shares.at(-1) as number) < 1))
    fail(
      "usage",
      "empirical: the shares leave no probability for values beyond the knots",
      "give shares above 0 and below 1",
    );
  if (step !== undefined && !(step > 0 && Number.isFinite(step)))
    fail("usage", `empirical: \`step\` is ${step}`, "give a number above 0");
  if (!((low ?? -Infinity) < knots[0] && (high ?? Infinity) > (knots.at(-1) as number)))
    fail("usage", "empirical: a knot is outside the bounds", "give bounds outside the knots");
}

/** The domain of numbers with a given distribution function, which are standard normal in y. */
export function empirical(options: EmpiricalOptions): Domain {
  requireDistribution(options);
  const { knots, shares, step, low = -Infinity, high = Infinity } = options;
  const { tails, slope, quantile } = distribution(options);
  const [from, to] = [knots[0], knots[knots.length - 1]];
  /** The shares below, within and above the interval of a value. */
  const cell = (v: number): readonly [below: number, own: number, above: number] => {
    if (step === undefined) {
      const [below, above] = tails(v);
      return [below, 0, above];
    }
    const [first, second] = [tails(v - step / 2), tails(v + step / 2)];
    // Computed from the side with less cancellation.
    const own = first[0] < second[1] ? second[0] - first[0] : first[1] - second[1];
    return [first[0], own, second[1]];
  };
  const written = (v: number): number => {
    const half = (step ?? 0) / 2;
    const inside = Math.min(Math.max(v, from + half), to - half);
    return step === undefined ? inside : nearestMultiple(inside, step);
  };
  return domain({
    kind: "empirical",
    spec: { kind: "empirical", ...options, knots: [...knots], shares: [...shares] },
    map: identity(),
    dimension: 1,
    noise: step === undefined ? 0 : 1,
    fault: ([v]) => (v > low && v < high ? undefined : `${v} is not between ${low} and ${high}`),
    encode: ([v], u) => {
      const [below, own, above] = cell(v as number);
      const part = own === 0 ? 0 : u[0];
      return [normalPoint(below + part * own, above + (1 - part) * own)];
    },
    decode: (y) => [written(quantile(normalShare(y[0])))],
    logUnitOf: ([v], x) => {
      const own = step === undefined ? 0 : cell(v as number)[1];
      // The difference of two shares has 16 digits; an interval this small is between two knots.
      const density = step === undefined || own < FEW_DIGITS ? slope(v as number) : own / step;
      return Math.log(density) - logNormal(x[0]);
    },
    values: (y) => quantileTensor(y, knots, shares),
  });
}

/** F⁻¹(Φ(y)) as a sum of ramps, one per pair of neighbouring knots. */
function quantileTensor(y: Tensor, knots: readonly number[], shares: readonly number[]): Tensor {
  const share = mul(erfc(mul(y, -Math.SQRT1_2)), 0.5);
  const from = constant(shares.slice(0, -1), y.dtype);
  const width = shares.slice(1).map((v, i) => v - shares[i]);
  const steep = constant(
    width.map((v, i) => (knots[i + 1] - knots[i]) / v),
    y.dtype,
  );
  const within = minimum(maximum(sub(share, from), 0), constant(width, y.dtype));
  return add(sum(mul(within, steep), -1, { keepDims: true }), knots[0]);
}
