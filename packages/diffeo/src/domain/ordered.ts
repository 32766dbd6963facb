/**
 * Increasing numbers y₁ < y₂ < … < y_n, without bounds or with bounds a and b:
 *
 *   free          y₁ = x₁, yᵢ = yᵢ₋₁ + eˣⁱ           above a   yᵢ = a + Σⱼ≤ᵢ eˣʲ           below b   yᵢ = b − Σⱼ≥ᵢ eˣʲ
 *   between them yᵢ = Σⱼ≤ᵢ sⱼ, s the first n of the n + 1 shares of the gaps; cells are a + (b −
 *   a)y
 *
 * Numbers recorded in steps of s are decoded to such. If neighbours may be equal, v₁ ≤ … ≤ v_n, y
 * represents the numbers vᵢ + (i − 1)s, which increase strictly.
 */
import {
  affineMatrix,
  type Bijector,
  chain,
  expMap,
  ordered as orderedMap,
} from "../bijector/index.ts";
import { fail } from "../graph/index.ts";
import { type Domain, domain, above as next, requireCount, requireInterval } from "./domain.ts";
import { nearestMultiple, requireRecorded } from "./recorded.ts";
import { shareMap } from "./simplex.ts";
import type { SimplexMap } from "./spec.ts";

/** Options of `ordered`: bounds, steps and ties. */
export interface OrderedOptions {
  /** A bound below all of them. */
  readonly above?: number;
  /** A bound above all of them. */
  readonly below?: number;
  /** With two bounds, the map onto the gaps. Default `additiveLogistic`. */
  readonly map?: SimplexMap;
  /** Decoded values are multiples of this. Default: numbers with all their digits. */
  readonly step?: number;
  /** Whether neighbours may be equal; requires `step`. Default false. */
  readonly ties?: boolean;
}

/** The matrix of sums up to each index, or of negative sums from it on. */
const sums = (n: number, sign: 1 | -1): number[][] =>
  Array.from({ length: n }, (_, i) =>
    Array.from({ length: n }, (_, j) => ((sign > 0 ? j <= i : j >= i) ? sign : 0)),
  );

function mapOf(n: number, { above, below, map = "additiveLogistic" }: OrderedOptions): Bijector {
  if (above !== undefined && below !== undefined)
    return chain(shareMap(map), affineMatrix(sums(n, 1)));
  if (above !== undefined) return chain(expMap(), affineMatrix(sums(n, 1), above));
  if (below !== undefined) return chain(expMap(), affineMatrix(sums(n, -1), below));
  return orderedMap();
}

/** The domain of increasing numbers.
 *
 * @param parts the number of numbers, or their names */
export function ordered(parts: number | readonly string[], options: OrderedOptions = {}): Domain {
  const n = typeof parts === "number" ? parts : parts.length;
  requireCount(n, 1, "ordered: the number of values");
  const { above: low = Number.NEGATIVE_INFINITY, below: high = Number.POSITIVE_INFINITY } = options;
  const bounded = options.above !== undefined && options.below !== undefined;
  if (bounded) requireInterval(low, high, "ordered");
  const [shift, scale] = bounded ? [low, high - low] : [0, 1];
  for (const bound of [options.above, options.below])
    if (bound !== undefined && !Number.isFinite(bound))
      fail("usage", `ordered: a bound is ${bound}`, "give a finite number");
  const { step, ties = false } = options;
  requireRecorded({ step }, "ordered");
  if (ties && (step === undefined || bounded || options.below !== undefined))
    fail(
      "usage",
      `ordered: \`ties\` is set ${step === undefined ? "without `step`" : "with an upper bound"}`,
      "give `step` and no upper bound, or leave `ties` out",
    );
  const shifts = Array.from({ length: n }, (_, i) => (ties ? i * (step as number) : 0));
  return domain({
    kind: "ordered",
    spec: { kind: "ordered", parts: typeof parts === "number" ? parts : [...parts], ...options },
    map: mapOf(n, options),
    dimension: n,
    ...(typeof parts !== "number" && { names: parts }),
    fault: (y) => {
      const at = y.findIndex((v, i) => i > 0 && !(ties ? v >= y[i - 1] : v > y[i - 1]));
      if (at > 0) return `${y[at]} is not greater than ${y[at - 1]}`;
      if (!(y[0] > low)) return `${y[0]} is not above ${low}`;
      return y[n - 1] < high ? undefined : `${y[n - 1]} is not below ${high}`;
    },
    encode: (cells) => (cells as readonly number[]).map((v, i) => (v + shifts[i] - shift) / scale),
    decode: (y) => {
      const values = Array.from(y, (v) => shift + scale * v);
      if (step === undefined) return increasing(values, low, high);
      const stepped = steppedUp(values, step, low);
      // There may be too little room for the steps below the bound, or between large numbers.
      const isRoom = stepped.every((v, i) => v < (stepped[i + 1] ?? high));
      if (!isRoom) return increasing(values, low, high);
      return stepped.map((v, i) => nearestMultiple(v - shifts[i], step));
    },
    logUnit: -n * Math.log(scale),
  });
}

/** The nearest strictly increasing numbers within bounds, if rounding made some equal. */
function increasing(values: number[], low: number, high: number): number[] {
  let least = low;
  const up = values.map((v) => {
    least = v > least ? v : next(least);
    return least;
  });
  let most = high;
  return up
    .reverse()
    .map((v) => {
      most = v < most ? v : -next(-most);
      return most;
    })
    .reverse();
}

/** Multiples of a step close to the numbers, each above the one before it and above a bound. */
function steppedUp(values: readonly number[], step: number, low: number): number[] {
  let least = low;
  return values.map((v) => {
    const near = nearestMultiple(v, step);
    least =
      near > least ? near : nearestMultiple(Math.floor(least / step + 1e-9) * step + step, step);
    return least;
  });
}
