/**
 * Slices for bounded data: v(x) = Σᵢ uᵢ wᵢ(xᵢ) with random signs u, where w′ vanishes at the faces,
 *
 *   w′ = ((x − low)(high − x)/L)^p,   (x − low)^p,   (high − x)^p   or   1
 *
 * where L is the length of the side; the form depends on which faces exist.
 *
 * The losses are derived by integration by parts, whose boundary term ∮ p (∇v·s)(∇v·n) is 0 for
 * these slices without any decay of p (assumption:boundary). So the density may have any value at a
 * face, and no map to Rⁿ is needed. C = diag(w′²), div C = (w′²)′.
 *
 * With p = 1 this is score matching through a map: φ with φ′ = w′ is the sigmoid for two faces and
 * exp for one, and score matching of φ⁻¹(X) is score matching of X with C = JJᵀ (through.ts). On
 * the half-line it is the score matching of non-negative data (A. Hyvärinen, 2007); p = ½ is the
 * linear weight of generalised score matching (S. Yu, M. Drton, A. Shojaie, 2019).
 */
import { div, fail, fill, mul, pow, sub, sum, type Tensor } from "../graph/index.ts";
import type { SliceFamily } from "./family.ts";

/** Options of `boundedSlices`. */
export interface BoundedOptions {
  /** The faces, for all coordinates; −∞ and ∞ mean no face. Default 0 and 1. */
  readonly low?: number;
  readonly high?: number;
  /** p, the power at which w′ decreases to 0, at least ½. Default 1; with less, Δv is unbounded. */
  readonly power?: number;
}

/**
 * Slices whose gradient vanishes at the faces of a box, for data in a box. They need no assumption
 * about the density at the faces.
 */
export function boundedSlices({ low = 0, high = 1, power = 1 }: BoundedOptions = {}): SliceFamily {
  if (!(low < high))
    fail("usage", `boundedSlices: \`low\` is ${low} and \`high\` is ${high}`, "give low < high");
  if (!(power >= 0.5 && power < Infinity))
    fail("usage", `boundedSlices: \`power\` is ${power}`, "use a number of at least 1/2");
  const [below, above] = [Number.isFinite(low), Number.isFinite(high)];
  const side = below && above ? high - low : 1;
  /** The distance r to the faces, and its derivative. */
  const distance = (x: Tensor): { r: Tensor; slope: Tensor } => {
    const [up, down] = [sub(x, low), sub(high, x)];
    if (below && above)
      return { r: mul(mul(up, down), 1 / side), slope: mul(sub(down, up), 1 / side) };
    const one = fill(x.shape, 1, x.dtype);
    return below
      ? { r: up, slope: one }
      : above
        ? { r: down, slope: mul(one, -1) }
        : { r: one, slope: mul(one, 0) };
  };
  return {
    name: `bounded (${low} to ${high})`,
    draws: (n) => ({ u: { distribution: "rademacher", shape: [n] } }),
    slice: (x, { u }) => {
      const { r, slope } = distance(x);
      const grad = mul(u, pow(r, power));
      // (r^p)′ = p r^p r′/r
      const bend = power === 1 ? mul(u, slope) : mul(grad, div(mul(slope, power), r));
      return { grad, hvp: mul(bend, grad), laplacian: sum(bend, -1) };
    },
    moments: (x) => {
      const { r, slope } = distance(x);
      const last = power === 0.5 ? slope : mul(mul(pow(r, 2 * power - 1), slope), 2 * power);
      return { covariance: { diagonal: pow(r, 2 * power) }, divergence: last };
    },
  };
}
