/**
 * Numbers as unevaluated sums of two float64 numbers: products, sums, logarithms and exponentials
 * with rounding errors far below those of one float64.
 */
import { apply, type Code, type Expr, f64 } from "./code.ts";
import { horner } from "./exponential.ts";
import { bitsOf, lanes } from "./lanes.ts";

/** Arithmetic on one float64. */
export const l = lanes.f64.one;
const b = bitsOf(l);
const SHIFTER = 6755399441055744;
const SHIFTER_BITS = 0x4338000000000000n;
const { LOG2E } = Math;
const LN2_HIGH = 0.6931471803691238;
const LN2_LOW = 1.9082149292705877e-10;

/** One case of a choice by size: the code for x below the limit. */
export type Case = readonly [limit: number, write: () => void];

/** Runs the first case with a limit above x, or `beyond` if there is none. */
export function chooseBySize(
  code: Code,
  x: Expr,
  [first, ...others]: readonly Case[],
  beyond: () => void,
): void {
  if (!first) {
    beyond();
    return;
  }
  const [limit, write] = first;
  code.when(l.lt(x, f64(limit)), write, () => chooseBySize(code, x, others, beyond));
}

/** An unevaluated sum of two numbers; the second is below the last bit of the first. */
export interface Pair {
  readonly high: Expr;
  readonly low: Expr;
}

/** a·b exactly, by halves of 26 bits (T. Dekker, 1971). */
export function product(code: Code, x: Expr, y: Expr): Pair {
  const halves = (v: Expr): [Expr, Expr] => {
    const big = code.let(l.mul(v, f64(134217729)));
    const high = code.let(l.sub(big, l.sub(big, v)));
    return [high, code.let(l.sub(v, high))];
  };
  const [x1, x2] = halves(x);
  const [y1, y2] = halves(y);
  const high = code.let(l.mul(x, y));
  const outer = l.add(l.sub(l.mul(x1, y1), high), l.mul(x1, y2));
  return { high, low: code.let(l.add(l.add(outer, l.mul(x2, y1)), l.mul(x2, y2))) };
}

/** a + b exactly (D. Knuth). */
export function exactSum(code: Code, x: Expr, y: Expr): Pair {
  const high = code.let(l.add(x, y));
  const part = code.let(l.sub(high, x));
  return { high, low: code.let(l.add(l.sub(x, l.sub(high, part)), l.sub(y, part))) };
}

/** 1/2!, 1/3!, … 1/14! */
function reciprocalFactorials(): number[] {
  const twice = [1];
  for (let n = 3; n <= 14; n++) twice.push((twice.at(-1) as number) / n);
  return twice.map((c) => c / 2);
}

const SERIES = reciprocalFactorials();

/**
 * c·e^{h + l} = c·2ᵏ(1 + q) with a small q, so that only the last sum and product are rounded; |h|
 * below 1100.
 */
export function timesExp(code: Code, c: Expr, { high, low }: Pair): Expr {
  const shifted = code.let(l.add(l.mul(high, f64(LOG2E)), f64(SHIFTER)));
  const k = code.let(l.sub(shifted, f64(SHIFTER)));
  const rest = code.let(l.sub(high, l.mul(k, f64(LN2_HIGH))));
  const small = code.let(l.sub(low, l.mul(k, f64(LN2_LOW))));
  const r = code.let(l.add(rest, small));
  const lost = code.let(l.sub(small, l.sub(r, rest)));
  const tail = l.add(l.mul(l.mul(r, r), horner(l, SERIES, r)), lost);
  const q = code.let(l.add(r, tail));
  const value = code.let(l.add(c, l.mul(c, q)));
  const whole = code.let(b.sub(b.of(shifted), b.constant(SHIFTER_BITS)));
  const half = code.let(b.shr(whole, 1));
  const power = (n: Expr): Expr => b.toFloat(b.shl(b.add(n, b.constant(1023n)), 52));
  return l.mul(l.mul(value, power(half)), power(b.sub(whole, half)));
}

/** 2/5, 2/7, …: the coefficients of log m after its first two terms, in s². */
const LOG_SERIES = Array.from({ length: 10 }, (_, i) => 2 / (2 * i + 5));

/** log x of a positive normal number, in two parts. */
export function logPair(code: Code, x: Expr, shift: Expr): Pair {
  const whole = code.let(b.shr(b.sub(b.of(x), b.constant(0x3fe6a09e667f3bcdn)), 52));
  const m = code.let(b.toFloat(b.sub(b.of(x), b.shl(whole, 52))));
  const k = code.let(l.sub(apply("f64", 0xb9, whole), shift));
  // s = f/(2 + f) in two parts, the second from f − s(2 + f). f and 1 + m are exact.
  const f = code.let(l.sub(m, f64(1)));
  const d = exactSum(code, m, f64(1));
  const s = code.let(l.div(f, d.high));
  const back = product(code, s, d.high);
  const left = l.sub(l.sub(l.sub(f, back.high), back.low), l.mul(s, d.low));
  const t = code.let(l.div(left, d.high));
  // 2s + (2/3)s³ + s⁵(2/5 + …): the cube in two parts too.
  const w = product(code, s, s);
  const lowW = code.let(l.add(w.low, l.mul(l.mul(f64(2), s), t)));
  const cube = product(code, w.high, s);
  const lowCube = code.let(l.add(cube.low, l.add(l.mul(lowW, s), l.mul(w.high, t))));
  const third = product(code, cube.high, f64(2 / 3));
  // 2/3 = fl(2/3) + 3.7·10⁻¹⁷
  const lowThird = l.add(
    third.low,
    l.add(l.mul(lowCube, f64(2 / 3)), l.mul(cube.high, f64(3.700743415417188e-17))),
  );
  const fifth = l.mul(l.mul(cube.high, w.high), horner(l, LOG_SERIES, w.high));
  const first = exactSum(code, code.let(l.mul(f64(2), s)), third.high);
  const small = l.add(l.add(first.low, l.mul(f64(2), t)), l.add(lowThird, fifth));
  const log = exactSum(code, first.high, code.let(small));
  const high = exactSum(code, code.let(l.mul(k, f64(LN2_HIGH))), log.high);
  const low = code.let(l.add(l.add(high.low, log.low), l.mul(k, f64(LN2_LOW))));
  return exactSum(code, high.high, low);
}
