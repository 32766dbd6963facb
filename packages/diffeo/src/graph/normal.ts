/**
 * Φ⁻¹ and the inverse of erf, one number at a time.
 *
 * JavaScript engines differ in the last bit of Math.log, cos and exp. These functions use only + −
 * × ÷ and √, which IEEE 754 rounds correctly, so every engine gives the same numbers.
 */

const TWO_31 = 0x80000000;
const SQRT_2 = Math.sqrt(2);
/** ln 2 in two parts; the first has 33 bits, so that its product with an exponent is exact. */
const LN2_HIGH = 0.6931471803691238;
const LN2_LOW = 1.9082149292705877e-10;

/**
 * ln x for 0 < x ≤ 1, within one unit in the last place.
 *
 * Write x = 2ᵉ(1 + f) with √½ < 1 + f ≤ √2, and s = f / (2 + f), so that 1 + f = (1 + s)/(1 − s)
 * and |s| < 0.1716.
 * Then ln(1 + f) = 2s + sR with R = 2(s²/3 + s⁴/5 + s⁶/7 + …); the terms after s²⁰/21 add less than
 * 10⁻¹⁸.
 * Claim: 2s = f − f²/2 + s·f²/2.  Indeed f − 2s = sf, and f²/2·(1 − s) = f²/2 · 2/(2 + f) = sf.
 * Hence ln(1 + f) = f − (f²/2 − s(f²/2 + R)): f is exact, and only small terms are rounded.
 */
export function logValue(x: number): number {
  let m = x;
  let e = 0;
  while (m < 1 / TWO_31) {
    m *= TWO_31;
    e -= 31;
  }
  const zeros = Math.clz32(m * TWO_31);
  m *= (1 << zeros) >>> 0;
  e -= zeros;
  if (m > SQRT_2) {
    m *= 0.5;
    e += 1;
  }
  const f = m - 1;
  const s = f / (2 + f);
  const w = s * s;
  const half = 0.5 * f * f;
  let r = 2 / 19 + w * (2 / 21);
  r = 2 / 15 + w * (2 / 17 + w * r);
  r = 2 / 11 + w * (2 / 13 + w * r);
  r = 2 / 7 + w * (2 / 9 + w * r);
  r = w * (2 / 3 + w * (2 / 5 + w * r));
  return e * LN2_HIGH - (half - (s * (half + r) + e * LN2_LOW) - f);
}

/** A ratio of two polynomials of degree seven, coefficients from the constant term up. */
function ratio(x: number, a: readonly number[], b: readonly number[]): number {
  const top =
    ((((((a[7] * x + a[6]) * x + a[5]) * x + a[4]) * x + a[3]) * x + a[2]) * x + a[1]) * x + a[0];
  const bottom =
    ((((((b[7] * x + b[6]) * x + b[5]) * x + b[4]) * x + b[3]) * x + b[2]) * x + b[1]) * x + b[0];
  return top / bottom;
}

/** Coefficients of Wichura's three ratios, from the constant term up. */
const CENTRE_TOP = [
  3.3871328727963665, 133.14166789178438, 1971.5909503065513, 13731.69376550946, 45921.95393154987,
  67265.7709270087, 33430.57558358813, 2509.0809287301227,
];
const CENTRE_BOTTOM = [
  1, 42.31333070160091, 687.1870074920579, 5394.196021424751, 21213.794301586597, 39307.89580009271,
  28729.085735721943, 5226.495278852854,
];
const TAIL_TOP = [
  1.4234371107496835, 4.630337846156546, 5.769497221460691, 3.6478483247632045, 1.2704582524523684,
  0.2417807251774506, 0.022723844989269184, 0.0007745450142783414,
];
const TAIL_BOTTOM = [
  1, 2.053191626637759, 1.6763848301838038, 0.6897673349851, 0.14810397642748008,
  0.015198666563616457, 0.0005475938084995345, 1.0507500716444169e-9,
];
const FAR_TOP = [
  6.657904643501103, 5.463784911164114, 1.7848265399172913, 0.29656057182850487,
  0.026532189526576124, 0.0012426609473880784, 2.7115555687434876e-5, 2.0103343992922881e-7,
];
const FAR_BOTTOM = [
  1, 0.599832206555888, 0.1369298809227358, 0.014875361290850615, 0.0007868691311456133,
  1.8463183175100548e-5, 1.421511758316446e-7, 2.0442631033899397e-15,
];

/** Wichura's ratios: around the median, in the tails, and in the far tails. */
export const ratios = {
  centre: [CENTRE_TOP, CENTRE_BOTTOM],
  tail: [TAIL_TOP, TAIL_BOTTOM],
  far: [FAR_TOP, FAR_BOTTOM],
} as const;

/**
 * Φ⁻¹ from q = p − ½ and the smaller tail τ = min(p, 1 − p), with a relative error below 10⁻¹⁵: M.
 * Wichura, "Algorithm AS 241: the percentage points of the normal distribution", Applied Statistics
 * 37 (1988), routine PPND16. One ratio in 0.425² − q² around the median and two in √(−ln τ) for the
 * tails.
 */
function quantileFrom(q: number, tau: number): number {
  if (q >= -0.425 && q <= 0.425) return q * ratio(0.180625 - q * q, CENTRE_TOP, CENTRE_BOTTOM);
  if (!(tau > 0)) return tau === 0 ? Math.sign(q) * Number.POSITIVE_INFINITY : Number.NaN;
  const r = Math.sqrt(-logValue(tau));
  const z = r <= 5 ? ratio(r - 1.6, TAIL_TOP, TAIL_BOTTOM) : ratio(r - 5, FAR_TOP, FAR_BOTTOM);
  return q < 0 ? -z : z;
}

/**
 * Φ⁻¹(p). If p is a multiple of 2⁻⁵³, q and 1 − p are exact, so Φ⁻¹(1 − p) = −Φ⁻¹(p) bit for bit.
 */
export const normalQuantileValue = (p: number): number =>
  quantileFrom(p - 0.5, p < 0.5 ? p : 1 - p);

/**
 * erf⁻¹(y) = Φ⁻¹((1 + y)/2)/√2: q = y/2 keeps all digits of a small y, and τ = (1 − |y|)/2 those of
 * a y close to ±1.
 */
export const erfInverseValue = (y: number): number =>
  quantileFrom(y / 2, (1 - Math.abs(y)) / 2) / SQRT_2;
