/**
 * sin x and cos x in float64 within 1 unit in the last place, for every x.
 *
 *   x = k·π/2 + r, |r| ≤ π/4;   ± sin r or ± cos r by k mod 4, from their power series
 *
 * r is in two parts. Up to 2²⁰ it is x − k(P₁ + P₂ + P₃) with P₁, P₂ of 33 bits, so that their
 * products with k are exact (W. Cody and W. Waite, 1980). Beyond, x = m·2ᵉ with an integer m, and
 * of the binary digits of 2/π only those matter that are neither a multiple of 4 after the product
 * with m·2ᵉ nor too small (M. Payne and R. Hanek, 1983): 192 of them.
 */
import { apply, type Code, type Expr, f64, i32, i64, long, memory, select, simd } from "./code.ts";
import { horner, withSign } from "./exponential.ts";
import { bitsOf, type Lanes, lane, lanes, withLane } from "./lanes.ts";
import { product } from "./pair.ts";

/** Arithmetic on one float64. */
const l = lanes.f64.one;

const SHIFTER = 6755399441055744;
const SHIFTER_BITS = 0x4338000000000000n;
const TWO_OVER_PI = 2 / Math.PI;
/** π/2 in binary: 1.5707963267341256, then 33 bits, then 53. */
const [P1, P2, P3] = [1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21];
const PIO2_HIGH = Math.PI / 2;
const PIO2_LOW = 6.123233995736766e-17;
/** Beyond, k has more than 20 bits. */
const FAR = 2 ** 20;

/** 1/3!, 1/5!, … with alternating signs, from the power `from` to `to`. */
function alternating(from: number, to: number, sign: number): number[] {
  const out: number[] = [];
  let factorial = 1;
  let s = sign;
  for (let n = 1; n <= to; n++) {
    factorial *= n;
    if (n >= from && (n - from) % 2 === 0) {
      out.push(s / factorial);
      s = -s;
    }
  }
  return out;
}
const SIN = alternating(3, 17, -1);
const COS = alternating(4, 18, 1);

/** sin(r + t) = r + (r³S(r²) + t(1 − r²/2)), t below the last digit of r. */
function sinPart(code: Code, l: Lanes, r: Expr, t: Expr, z: Expr): Expr {
  const cube = code.let(l.mul(z, r));
  const tail = l.sub(l.mul(cube, horner(l, SIN, z)), l.mul(l.mul(l.constant(0.5), z), t));
  return l.add(r, l.add(tail, t));
}

/** cos(r + t) = w + ((1 − w − r²/2) + (r⁴C(r²) − rt)), w = fl(1 − r²/2). */
function cosPart(code: Code, l: Lanes, r: Expr, t: Expr, z: Expr): Expr {
  const half = code.let(l.mul(l.constant(0.5), z));
  const w = code.let(l.sub(l.constant(1), half));
  const tail = l.sub(l.mul(l.mul(z, z), horner(l, COS, z)), l.mul(r, t));
  return l.add(w, l.add(l.sub(l.sub(l.constant(1), w), half), tail));
}

interface Reduced {
  readonly r: Expr;
  readonly t: Expr;
  /** k, of which the last two bits matter. */
  readonly quadrant: Expr;
}

function reduceNear(code: Code, l: Lanes, x: Expr): Reduced {
  const b = bitsOf(l);
  const shifted = code.let(l.add(l.mul(x, l.constant(TWO_OVER_PI)), l.constant(SHIFTER)));
  const k = code.let(l.sub(shifted, l.constant(SHIFTER)));
  const first = code.let(l.sub(x, l.mul(k, l.constant(P1))));
  const w = code.let(l.mul(k, l.constant(P2)));
  // first − w and its error, without knowing which is larger.
  const d = code.let(l.sub(first, w));
  const back = code.let(l.sub(d, first));
  const error = code.let(l.sub(l.sub(first, l.sub(d, back)), l.add(w, back)));
  const rest = code.let(l.sub(l.mul(k, l.constant(P3)), error));
  const r = code.let(l.sub(d, rest));
  const t = code.let(l.sub(l.sub(d, r), rest));
  return { r, t, quadrant: code.let(b.sub(b.of(shifted), b.constant(SHIFTER_BITS))) };
}

/** sin for `turn` 0, cos for 1, given r, t and the quadrant. */
function ofReduced(code: Code, l: Lanes, { r, t, quadrant }: Reduced, turn: bigint): Expr {
  const b = bitsOf(l);
  const n = code.let(b.add(quadrant, b.constant(turn)));
  const z = code.let(l.mul(r, r));
  const s = code.let(sinPart(code, l, r, t, z));
  const c = code.let(cosPart(code, l, r, t, z));
  // Bit 0 of n as a condition, bit 1 as the sign.
  const odd = l.width === 1 ? long.wrap(long.and(n, i64(1))) : b.shr(b.shl(n, 63), 63);
  const sign = b.shl(b.shr(n, 1), 63);
  const value = code.let(l.select(odd, c, s));
  const flipped = l.width === 1 ? long.xor(b.of(value), sign) : l.xor(value, sign);
  return b.toFloat(flipped);
}

/** The digits of π to 2^−bits by Machin's formula: π/4 = 4 arctan(1/5) − arctan(1/239). */
function piBits(bits: bigint): bigint {
  const one = 1n << (bits + 32n);
  const arctan = (n: bigint): bigint => {
    let term = one / n;
    let sum = term;
    for (let k = 3n, sign = -1n; term > 0n; k += 2n, sign = -sign) {
      term /= n * n;
      sum += (sign * term) / k;
    }
    return sum;
  };
  return (4n * (4n * arctan(5n) - arctan(239n))) >> 32n;
}

/** ⌊2/π·2ᴺ⌋ as a little-endian integer, with 8 bytes of 0 above it, and below it. */
const DIGITS = 1216;
export function twoOverPi(): Uint8Array {
  const bits = BigInt(DIGITS);
  const value = (1n << (2n * bits + 1n)) / piBits(bits);
  return Uint8Array.from({ length: DIGITS / 8 + 24 }, (_, i) =>
    i < 8 ? 0 : Number((value >> BigInt(8 * (i - 8))) & 255n),
  );
}

const low32 = (a: Expr): Expr => long.and(a, i64(0xffffffffn));
const high32 = (a: Expr): Expr => long.shrU(a, i64(32));
const float = (a: Expr): Expr => apply("f64", 0xba, a);

/**
 * The 192 binary digits of 2/π that matter for x = m·2ᴱ, E = exponent − 1075, in 32-bit numbers,
 * the lowest first. They begin with the digit of weight 2^{2−E}, so the lowest one is bit
 * DIGITS − (E − 2) − 192 of the table, and 64 more for the zeros below it.
 */
function digitsFor(code: Code, exponent: Expr, table: number): readonly Expr[] {
  const lowest = code.let(apply("i32", 0x6b, i32(DIGITS + 1075 + 2 - 192 + 64), exponent));
  const at = code.let(apply("i32", 0x76, lowest, i32(3)));
  const shift = code.let(long.extend(apply("i32", 0x71, lowest, i32(7))));
  const word = (i: number): Expr => code.let(apply("i64", memory(0x29, table + 8 * i), at));
  const words = [0, 1, 2, 3].map(word);
  return [0, 1, 2].flatMap((i) => {
    const upper = long.shl(long.shl(words[i + 1], i64(1)), long.sub(i64(63), shift));
    const limb = code.let(long.or(long.shrU(words[i], shift), upper));
    return [code.let(low32(limb)), code.let(high32(limb))];
  });
}

/** m·V mod 2¹⁹² in columns of 32 bits, as three 64-bit integers, the lowest first. */
function timesDigits(code: Code, m: Expr, digits: readonly Expr[]): readonly Expr[] {
  const [m0, m1] = [code.let(low32(m)), code.let(high32(m))];
  const p = digits.map((h) => code.let(long.mul(h, m0)));
  const q = digits.map((h) => code.let(long.mul(h, m1)));
  const columns: Expr[] = [];
  let carry: Expr = i64(0);
  for (let i = 0; i < 6; i++) {
    const terms = [low32(p[i])];
    if (i >= 1) terms.push(high32(p[i - 1]), low32(q[i - 1]));
    if (i >= 2) terms.push(high32(q[i - 2]));
    const total = code.let(terms.reduce((a, b) => long.add(a, b), carry));
    columns.push(code.let(low32(total)));
    carry = code.let(high32(total));
  }
  return [0, 2, 4].map((i) => code.let(long.or(columns[i], long.shl(columns[i + 1], i64(32)))));
}

/** The |fraction| of a turn as (s + e)·2^{−zeros}, s and e float64, and whether it is negative. */
interface Fraction {
  readonly s: Expr;
  readonly e: Expr;
  readonly zeros: Expr;
  readonly down: Expr;
  /** Quarter turns, with the fraction between −½ and ½. */
  readonly turns: Expr;
}

/** Splits the product into two bits of the quadrant and a fraction with a sign. */
function fractionOf(code: Code, [low, middle, high]: readonly Expr[]): Fraction {
  const f1 = code.let(long.or(long.shl(high, i64(2)), long.shrU(middle, i64(62))));
  const f0 = code.let(long.or(long.shl(middle, i64(2)), long.shrU(low, i64(62))));
  const down = code.let(long.lt(f1, i64(0)));
  const turns = code.let(long.add(long.shrU(high, i64(62)), long.extendU(down)));
  const borrow = long.extendU(apply("i32", 0x45, long.eqz(f0)));
  const n0 = code.let(select(down, long.sub(i64(0), f0), f0));
  const n1 = code.let(select(down, long.sub(long.sub(i64(0), f1), borrow), f1));
  const zeros = code.let(long.clz(n1));
  const rest = long.shrU(long.shrU(n0, i64(1)), long.sub(i64(63), zeros));
  const top = code.let(long.or(long.shl(n1, zeros), rest));
  const next = code.let(long.shl(n0, zeros));
  const a = code.let(l.mul(float(high32(top)), f64(2 ** -32)));
  const b = code.let(l.mul(float(low32(top)), f64(2 ** -64)));
  const c = l.mul(float(high32(next)), f64(2 ** -96));
  const s = code.let(l.add(a, b));
  const e = code.let(l.add(l.add(l.sub(a, s), b), c));
  return { s, e, zeros, down, turns };
}

/** x − k·π/2 for |x| ≥ 2²⁰. `table` is the address of `twoOverPi`. */
function reduceFar(code: Code, x: Expr, table: number): Reduced {
  const bits = code.let(apply("i64", 0xbd, x));
  const exponent = code.let(long.wrap(long.and(long.shrU(bits, i64(52)), i64(0x7ff))));
  const m = code.let(long.or(long.and(bits, i64((1n << 52n) - 1n)), i64(1n << 52n)));
  const digits = digitsFor(code, exponent, table);
  const { s, e, zeros, down, turns } = fractionOf(code, timesDigits(code, m, digits));
  const { high, low } = product(code, s, f64(PIO2_HIGH));
  const tail = l.add(l.add(low, l.mul(s, f64(PIO2_LOW))), l.mul(e, f64(PIO2_HIGH)));
  // 2^{−zeros}, with the signs of the fraction and of x.
  const negative = code.let(long.lt(bits, i64(0)));
  const scale = code.let(apply("f64", 0xbf, long.shl(long.sub(i64(1023), zeros), i64(52))));
  const factor = code.let(select(apply("i32", 0x73, down, negative), l.neg(scale), scale));
  return {
    r: code.let(l.mul(high, factor)),
    t: code.let(l.mul(tail, factor)),
    quadrant: code.let(select(negative, long.sub(i64(0), turns), turns)),
  };
}

/**
 * (atan t − t)/t³ in t² for |t| ≤ tan π/8: a Chebyshev fit, whose error is below 2⁻⁵⁸ of atan t.
 */
const ARCTAN = [
  -0.3333333333333333, 0.19999999999999804, -0.14285714285659806, 0.11111111105153429,
  -0.09090908753400499, 0.07692296372129964, -0.06666424833613552, 0.05878928398517232,
  -0.052304498567092406, 0.04551573086664191, -0.034570044186095536, 0.016285183029865667,
];
const TAN_EIGHTH = Math.SQRT2 - 1;

/** atan a = c + atan t: c = 0, t = a; c = π/4, t = (a − 1)/(a + 1); or c = π/2, t = −1/a. */
export function atan(code: Code, l: Lanes, given: Expr): Expr {
  const x = code.let(given);
  const a = code.let(l.abs(x));
  const near = code.let(l.lt(a, l.constant(TAN_EIGHTH)));
  const far = code.let(l.lt(l.constant(1 / TAN_EIGHTH), a));
  const by = (close: Expr, middle: Expr, beyond: Expr): Expr =>
    code.let(l.select(near, close, l.select(far, beyond, middle)));
  const one = l.constant(1);
  const top = by(a, l.sub(a, one), l.constant(-1));
  const bottom = by(one, l.add(a, one), a);
  const t = code.let(l.div(top, bottom));
  const c = by(l.constant(0), l.constant(PIO2_HIGH / 2), l.constant(PIO2_HIGH));
  const low = by(l.constant(0), l.constant(PIO2_LOW / 2), l.constant(PIO2_LOW));
  const w = code.let(l.mul(t, t));
  const tail = l.add(l.mul(l.mul(t, w), horner(l, ARCTAN, w)), low);
  return withSign(l, code.let(l.add(c, l.add(t, tail))), x);
}

/** The body of sin (turn 0) or cos (turn 1); `far` calls the same for one number beyond 2²⁰. */
export function circular(
  code: Code,
  l: Lanes,
  given: Expr,
  turn: bigint,
  far: (x: Expr) => Expr,
): Expr {
  const x = code.let(given);
  const near = code.let(ofReduced(code, l, reduceNear(code, l, x), turn));
  const out = code.local(l.type);
  // sin(−0) = −0
  code.set(out, turn === 0n ? l.select(l.eq(x, l.constant(0)), x, near) : near);
  const beyond = code.let(l.not(l.lt(l.abs(x), l.constant(FAR))));
  const any = l.width === 1 ? beyond : apply("i32", simd(0x53), beyond);
  code.when(any, () => {
    if (l.width === 1) code.set(out, far(x));
    else
      for (let k = 0; k < l.width; k++) {
        const one = code.let(lane(x, k, "f64"));
        code.when(apply("i32", 0x45, apply("i32", 0x63, apply("f64", 0x99, one), f64(FAR))), () =>
          code.set(out, withLane(out, k, far(one), "f64")),
        );
      }
  });
  return out;
}

/** sin or cos of one number beyond 2²⁰; NaN for ∞ and NaN. */
export function circularFar(code: Code, l: Lanes, x: Expr, turn: bigint, table: number): Expr {
  const held = code.let(x);
  const out = code.local("f64");
  code.set(out, f64(Number.NaN));
  code.when(l.lt(l.abs(held), l.constant(Number.POSITIVE_INFINITY)), () =>
    code.set(out, ofReduced(code, l, reduceFar(code, held, table), turn)),
  );
  return out;
}
