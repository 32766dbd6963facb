/**
 * eˣ, eˣ − 1, log x, log(1 + x) and functions made of them, in float64, each within 1 or 2 units in
 * the last place. They use only + − × ÷ and integer operations on the bits, which all machines
 * round alike.
 *
 *   exp     x = k log 2 + r, |r| ≤ ½ log 2;   eˣ = 2ᵏ (1 + r + r²/2! + … + r¹³/13!)
 *   expm1   2ᵏ ((1 − 2⁻ᵏ) + (r + r²/2! + …)): no cancellation, since 1 − 2⁻ᵏ is exact
 *   log     x = 2ᵏ m, √½ ≤ m < √2;   log x = k log 2 + log m
 *   log m   f = m − 1, s = f/(2 + f):  f − (f²/2 − s(f²/2 + R)),  R = 2(s²/3 + s⁴/5 + …)
 *           (`graph/normal.ts` proves it)
 *   log1p   u = fl(1 + x): log u + (x − (u − 1))/u
 *
 * log 2 is in two parts, the first of 33 bits, so that its product with k is exact.
 */
import type { Code, Expr } from "./code.ts";
import { bitsOf, type Lanes } from "./lanes.ts";

const { LOG2E } = Math;
const LN2_HIGH = 0.6931471803691238;
const LN2_LOW = 1.9082149292705877e-10;
/** fl(x + 1.5·2⁵²) has the integer nearest to x in its low bits. */
const SHIFTER = 6755399441055744;
const SHIFTER_BITS = 0x4338000000000000n;
const SIGN = 1n << 63n;

export type Elementary = (code: Code, l: Lanes, x: Expr) => Expr;

/** c₀ + c₁x + c₂x² + … */
export const horner = (l: Lanes, c: readonly number[], x: Expr): Expr =>
  c
    .slice(0, -1)
    .reduceRight<Expr>(
      (sum, a) => l.add(l.mul(sum, x), l.constant(a)),
      l.constant(c.at(-1) as number),
    );

/**
 * The same in pairs, (c₀ + c₁x) + (c₂ + c₃x)x² + …, then pairs of pairs and so on: a processor
 * computes several at once, while each step of Horner's scheme waits for the previous one (G.
 * Estrin, 1960).
 */
function estrin(code: Code, l: Lanes, c: readonly number[], x: Expr): Expr {
  let terms = c.map((a) => l.constant(a));
  for (let power = x; terms.length > 1; power = code.let(l.mul(power, power))) {
    const pairs: Expr[] = [];
    for (let i = 0; i < terms.length; i += 2) {
      const high = terms[i + 1];
      pairs.push(high ? code.let(l.add(terms[i], l.mul(high, power))) : terms[i]);
    }
    terms = pairs;
    if (terms.length === 1) return terms[0];
  }
  return terms[0];
}

const reciprocalFactorials = (from: number, to: number): number[] => {
  const out: number[] = [];
  let factorial = 1;
  for (let n = 1; n <= to; n++) {
    factorial *= n;
    if (n >= from) out.push(1 / factorial);
  }
  return out;
};

/** x with the sign of `from`, for x ≥ 0. */
export function withSign(l: Lanes, x: Expr, from: Expr): Expr {
  const b = bitsOf(l);
  return b.toFloat(b.or(b.of(x), b.and(b.of(from), b.constant(SIGN))));
}

/** k as a float, and r = x − k log 2 in two parts: r and its rounding error. */
function reduced(code: Code, l: Lanes, x: Expr) {
  const b = bitsOf(l);
  const shifted = code.let(l.add(l.mul(x, l.constant(LOG2E)), l.constant(SHIFTER)));
  const k = code.let(l.sub(shifted, l.constant(SHIFTER)));
  const high = code.let(l.sub(x, l.mul(k, l.constant(LN2_HIGH))));
  const low = code.let(l.mul(k, l.constant(LN2_LOW)));
  const r = code.let(l.sub(high, low));
  const whole = code.let(b.sub(b.of(shifted), b.constant(SHIFTER_BITS)));
  return { k, high, low, r, whole };
}

/** y·2ᵏ for an integer k, in two factors, neither of which over- or underflows. */
function scaled(code: Code, l: Lanes, y: Expr, whole: Expr): Expr {
  const b = bitsOf(l);
  const half = code.let(b.shr(whole, 1));
  const power = (n: Expr): Expr => b.toFloat(b.shl(b.add(n, b.constant(1023n)), 52));
  return l.mul(l.mul(y, power(half)), power(b.sub(whole, half)));
}

/** x clamped to an interval; NaN is unchanged. */
function clamp(code: Code, l: Lanes, given: Expr, low: number, high: number): Expr {
  const x = code.let(given);
  const above = code.let(l.select(l.lt(x, l.constant(low)), l.constant(low), x));
  return l.select(l.lt(l.constant(high), above), l.constant(high), above);
}

export const exp: Elementary = (code, l, given) => {
  const x = code.let(clamp(code, l, given, -746, 710));
  const { r, whole } = reduced(code, l, x);
  const tail = l.mul(l.mul(r, r), estrin(code, l, reciprocalFactorials(2, 13), r));
  return scaled(code, l, code.let(l.add(l.constant(1), l.add(r, tail))), whole);
};

export const expm1: Elementary = (code, l, given) => {
  const b = bitsOf(l);
  const from = code.let(given);
  const x = code.let(clamp(code, l, from, -50, 710));
  const { k, high, low, r, whole } = reduced(code, l, x);
  const lost = l.sub(l.sub(high, r), low);
  const tail = l.add(l.mul(l.mul(r, r), estrin(code, l, reciprocalFactorials(2, 14), r)), lost);
  const p = code.let(l.add(r, tail));
  // For k ≥ 60, 1 + 2⁻ᵏ rounds to 1.
  const least = code.let(l.sub(l.constant(SHIFTER), l.min(k, l.constant(60))));
  const inverse = b.toFloat(
    b.shl(b.add(b.sub(b.of(least), b.constant(SHIFTER_BITS)), b.constant(1023n)), 52),
  );
  const sum = code.let(l.add(l.sub(l.constant(1), inverse), p));
  const far = code.let(scaled(code, l, sum, whole));
  const near = code.let(l.select(l.eq(k, l.constant(0)), p, far));
  return l.select(l.lt(l.abs(from), l.constant(2 ** -54)), from, near);
};

/** R = 2(w/3 + w²/5 + …), w = s² < 0.0295: the terms after w¹⁰/21 are less than 10⁻¹⁸. */
const series = Array.from({ length: 10 }, (_, i) => 2 / (2 * i + 3));

/** k log 2 + log(1 + f) + c. */
function fromParts(code: Code, l: Lanes, k: Expr, f: Expr, c?: Expr): Expr {
  const s = code.let(l.div(f, l.add(l.constant(2), f)));
  const w = code.let(l.mul(s, s));
  const half = code.let(l.mul(l.mul(l.constant(0.5), f), f));
  const r = l.mul(w, estrin(code, l, series, w));
  const low = l.mul(k, l.constant(LN2_LOW));
  const small = l.add(l.mul(s, l.add(half, r)), c ? l.add(low, c) : low);
  return l.sub(l.mul(k, l.constant(LN2_HIGH)), l.sub(l.sub(half, small), f));
}

/** k, as a float, and m of 2ᵏm, √½ ≤ m < √2, of a normal number. */
function split(code: Code, l: Lanes, x: Expr): { k: Expr; m: Expr } {
  const b = bitsOf(l);
  const whole = code.let(b.shr(b.sub(b.of(x), b.constant(0x3fe6a09e667f3bcdn)), 52));
  const m = code.let(b.toFloat(b.sub(b.of(x), b.shl(whole, 52))));
  const k = code.let(l.sub(b.toFloat(b.add(whole, b.constant(SHIFTER_BITS))), l.constant(SHIFTER)));
  return { k, m };
}

/** −∞ at 0, NaN below, ∞ and NaN unchanged; otherwise `value`. */
function ofLog(l: Lanes, u: Expr, value: Expr): Expr {
  const edge = l.select(
    l.eq(u, l.constant(0)),
    l.constant(Number.NEGATIVE_INFINITY),
    l.select(l.lt(u, l.constant(0)), l.constant(Number.NaN), u),
  );
  const inside = l.and(l.lt(l.constant(0), u), l.lt(u, l.constant(Number.POSITIVE_INFINITY)));
  return l.select(inside, value, edge);
}

export const log: Elementary = (code, l, given) => {
  const x = code.let(given);
  const tiny = code.let(l.lt(x, l.constant(2 ** -1022)));
  const { k, m } = split(code, l, code.let(l.select(tiny, l.mul(x, l.constant(2 ** 54)), x)));
  const exponent = code.let(l.select(tiny, l.sub(k, l.constant(54)), k));
  const value = code.let(fromParts(code, l, exponent, code.let(l.sub(m, l.constant(1)))));
  return ofLog(l, x, value);
};

export const log1p: Elementary = (code, l, given) => {
  const x = code.let(given);
  const u = code.let(l.add(l.constant(1), x));
  const { k, m } = split(code, l, u);
  const near = code.let(l.eq(k, l.constant(0)));
  const f = code.let(l.select(near, x, l.sub(m, l.constant(1))));
  // 1 + x = u + lost, whichever of 1 and x is larger.
  const large = l.sub(l.constant(1), l.sub(u, x));
  const small = l.sub(x, l.sub(u, l.constant(1)));
  const lost = l.div(l.select(l.lt(l.constant(2), x), large, small), u);
  const c = code.let(l.select(near, l.constant(0), lost));
  const value = code.let(fromParts(code, l, k, f, c));
  return l.select(l.lt(l.abs(x), l.constant(2 ** -54)), x, ofLog(l, u, value));
};

/** With e = e^{2|x|} − 1: e/(e + 2), or 1 − 2/(e + 2) if that is larger than ½. */
export const tanh: Elementary = (code, l, given) => {
  const x = code.let(given);
  const a = code.let(l.min(l.abs(x), l.constant(22)));
  const e = code.let(expm1(code, l, l.add(a, a)));
  const plus = code.let(l.add(e, l.constant(2)));
  const near = l.div(e, plus);
  const far = l.sub(l.constant(1), l.div(l.constant(2), plus));
  return withSign(l, code.let(l.select(l.lt(a, l.constant(0.55)), near, far)), x);
};

/** 1/(1 + e) or e/(1 + e), e = e^{−|x|}. */
export const sigmoid: Elementary = (code, l, given) => {
  const x = code.let(given);
  const e = code.let(exp(code, l, l.neg(l.abs(x))));
  const top = l.select(l.lt(x, l.constant(0)), e, l.constant(1));
  return l.div(top, l.add(l.constant(1), e));
};

export const softplus: Elementary = (code, l, given) => {
  const x = code.let(given);
  const e = code.let(exp(code, l, l.neg(l.abs(x))));
  return l.add(l.max(x, l.constant(0)), log1p(code, l, e));
};
