/**
 * The transition of the Jacobi diffusion by its eigenfunctions:
 *
 *   p_t(z | z₀) = Beta(z; a, b) Σₙ e^{−λₙ s t} pₙ(z) pₙ(z₀),   λₙ = n(n − 1 + a + b)/2
 *
 * where pₙ are the Jacobi polynomials, orthonormal under Beta(a, b). Proof: the generator ½ s z(1 −
 * z)∂² + (s/2)(a(1 − z) − bz)∂ is symmetric under Beta(a, b) and maps polynomials of degree n to
 * such, with the factor −λₙ s of zⁿ, so the pₙ are its eigenfunctions.
 */
import { alignToEvent } from "../bijector/index.ts";
import {
  add,
  constant,
  exp,
  fail,
  log,
  log1p,
  logGamma,
  mul,
  neg,
  onesLike,
  sub,
  type Tensor,
  zerosLike,
} from "../graph/index.ts";

/** One number for all coordinates, or one per coordinate. */
type PerCoordinate = number | readonly number[];

/** Options of `jacobi`. */
export interface JacobiOptions {
  /** The stationary distribution is Beta(a, b). Default 1 and 1, the uniform distribution. */
  readonly a?: PerCoordinate;
  readonly b?: PerCoordinate;
  /** The rate s. Default 2/(a + b), for which every mean decays as e^{−t}. */
  readonly rate?: PerCoordinate;
  /** T, the horizon. Default 6. */
  readonly horizon?: number;
  /** Terms of the spectral sum. Default 80. */
  readonly terms?: number;
}

/** The parameters of one coordinate. */
export interface Coordinate {
  readonly a: number;
  readonly b: number;
  readonly s: number;
}

/** λₙ */
export const eigenvalue = (n: number, { a, b }: Coordinate): number => (n * (n - 1 + a + b)) / 2;

/** The centre αₙ of z pₙ = βₙ₊₁pₙ₊₁ + αₙpₙ + βₙpₙ₋₁, from Jacobi's with weight (1 − u)ᴬ(1 + u)ᴮ. */
function centre(n: number, { a, b }: Coordinate): number {
  const [A, B] = [b - 1, a - 1];
  const m = 2 * n + A + B;
  return (1 + (n === 0 ? (B - A) / (m + 2) : (B * B - A * A) / (m * (m + 2)))) / 2;
}

/** βₙ of the same recurrence, n ≥ 1. */
function coupling(n: number, { a, b }: Coordinate): number {
  const [A, B] = [b - 1, a - 1];
  const m = 2 * n + A + B;
  const ends = n === 1 ? 1 : (n + A + B) / (m - 1);
  return Math.sqrt((4 * n * (n + A) * (n + B) * ends) / (m * m * (m + 1))) / 2;
}

const listOf = (value: PerCoordinate): readonly number[] =>
  typeof value === "number" ? [value] : value;

export function coordinatesOf({ a = 1, b = 1, rate }: JacobiOptions): readonly Coordinate[] {
  const lists = [listOf(a), listOf(b), rate === undefined ? [] : listOf(rate)];
  const n = Math.max(...lists.map((list) => list.length));
  for (const [i, list] of lists.entries()) {
    const name = ["a", "b", "rate"][i];
    if (list.length > 1 && list.length !== n)
      fail(
        "usage",
        `jacobi: \`${name}\` has ${list.length} numbers for ${n} coordinates`,
        "give one number, or one per coordinate",
      );
    for (const value of list)
      if (!(value > 0 && value < Infinity))
        fail("usage", `jacobi: \`${name}\` is ${value}`, "use positive numbers");
  }
  const at = (list: readonly number[], i: number): number => list[list.length === 1 ? 0 : i];
  return Array.from({ length: n }, (_, i) => {
    const [p, q] = [at(lists[0], i), at(lists[1], i)];
    return { a: p, b: q, s: lists[2].length === 0 ? 2 / (p + q) : at(lists[2], i) };
  });
}

/**
 * The parts of the transition density: parameters as tensors, the spectral sum, and the stationary
 * density.
 */
export function spectrumOf(all: readonly Coordinate[], terms: number) {
  /** One number per coordinate, which broadcasts against events. */
  const each = ({ dtype }: Tensor, of: (c: Coordinate) => number): Tensor =>
    constant(all.map(of), dtype);

  /** Σₙ e^{−λₙst} pₙ(z)pₙ(z₀), and its derivative with respect to z. */
  const series = (z: Tensor, z0: Tensor, time: Tensor): { sum: Tensor; slope: Tensor } => {
    const t = alignToEvent(time, 1);
    let [p, pBefore, q, qBefore] = [onesLike(z), zerosLike(z), onesLike(z0), zerosLike(z0)];
    let [d, dBefore] = [zerosLike(z), zerosLike(z)];
    let [total, slope] = [onesLike(z), zerosLike(z)];
    for (let n = 1; n <= terms; n++) {
      const alpha = each(z, (c) => centre(n - 1, c));
      const back = each(z, (c) => (n === 1 ? 0 : coupling(n - 1, c)));
      const scale = each(z, (c) => 1 / coupling(n, c));
      const next = (at: Tensor, now: Tensor, before: Tensor): Tensor =>
        sub(mul(sub(at, alpha), now), mul(back, before));
      const dNext = mul(add(next(z, d, dBefore), p), scale);
      [d, dBefore] = [dNext, d];
      [p, pBefore] = [mul(next(z, p, pBefore), scale), p];
      [q, qBefore] = [mul(next(z0, q, qBefore), scale), q];
      const decayed = mul(
        exp(
          mul(
            t,
            each(z, (c) => -c.s * eigenvalue(n, c)),
          ),
        ),
        q,
      );
      total = add(total, mul(decayed, p));
      slope = add(slope, mul(decayed, d));
    }
    return { sum: total, slope };
  };
  /** log Beta(z; a, b) per coordinate. */
  const logBeta = (z: Tensor): Tensor => {
    const [a, b] = [each(z, (c) => c.a), each(z, (c) => c.b)];
    const height = sub(logGamma(add(a, b)), add(logGamma(a), logGamma(b)));
    return add(add(mul(sub(a, 1), log(z)), mul(sub(b, 1), log1p(neg(z)))), height);
  };
  return { each, series, logBeta };
}
