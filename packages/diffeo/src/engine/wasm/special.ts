/**
 * erf, erfc and xʸ in float64, one number at a time, within 2 units in the last place.
 *
 *   erf x  = x + x·N(x²)                    |x| < 1
 *   erfc x = e^{−x²} E(x),  E(x) = erfc x · e^{x²}: polynomials in x − middle on four intervals,
 *            and x E(x) one in 1/x² on two
 *   xʸ     = e^{y log x}
 *
 * Both exponents are a sum of two numbers without rounding error to speak of, e^{h + l} = 2ᵏ(1 + q)
 * with a small q, so that only the last sum and product are rounded. The polynomials are Chebyshev
 * fits whose errors are below 2⁻⁵⁷; the coefficient beside 1 or the largest one is added last.
 */
import { apply, type Code, type Expr, f64, i32, i64, int, long, select } from "./code.ts";
import { horner } from "./exponential.ts";
import { bitsOf, lanes } from "./lanes.ts";

const l = lanes.f64.one;
const b = bitsOf(l);
const SHIFTER = 6755399441055744;
const SHIFTER_BITS = 0x4338000000000000n;
const { LOG2E } = Math;
const LN2_HIGH = 0.6931471803691238;
const LN2_LOW = 1.9082149292705877e-10;

const NEAR = [
  0.1283791670955126, -0.3761263890318375, 0.11283791670954879, -0.026866170645076792,
  0.0052239776248180145, -0.000854832698083379, 0.0001205533111164271, -1.4925595266831182e-5,
  1.6461000484121368e-6, -1.6350312701054695e-7, 1.4659775274047436e-8, -1.1372848856791674e-9,
  5.957176147748911e-11,
];

/** E on [from, to], in x − (from + to)/2. */
const middle: readonly (readonly [number, number, readonly number[]])[] = [
  [
    0.5,
    1,
    [
      0.5069376502931449, -0.3679726916557954, 0.23095813155129497, -0.12983606199488007,
      0.06679054252841538, -0.031897262039946896, 0.01428919858470859, -0.006051532271776434,
      0.002437641069942269, -0.000938513222881505, 0.00034666379283020214, -0.00012332717214560827,
      4.337915907561481e-5, -1.440376961255891e-5,
    ],
  ],
  [
    1,
    1.5,
    [
      0.3678229164523611, -0.20882187596460985, 0.10679557149659845, -0.05021827439590747,
      0.022011364250946238, -0.009081627632959959, 0.003553109894683297, -0.0013257829272368543,
      0.0004739707006153454, -0.00016296012111131222, 5.404491508514403e-5, -1.7341459254977562e-5,
      5.501701839828387e-6, -1.6610767030625112e-6,
    ],
  ],
  [
    1.5,
    2.25,
    [
      0.2694299851646704, -0.11801672272799839, 0.04814863004967349, -0.018492027589904418,
      0.006738039159298214, -0.0023432816666913497, 0.0007814620115951737, -0.0002508686773845506,
      7.777080542407303e-5, -2.3344212495600806e-5, 6.800156278353333e-6, -1.9250516047599416e-6,
      5.311530349163942e-7, -1.482352789649107e-7, 3.891425683887272e-8,
    ],
  ],
  [
    2.25,
    3.5,
    [
      0.1860549346844711, -0.05856329265980373, 0.017685468287535682, -0.0051450475554263835,
      0.0014467282828266466, -0.00039428149689851383, 0.00010438966007118375,
      -2.6903207245013404e-5, 6.760731554383288e-6, -1.6591314745618157e-6, 3.9816351277698713e-7,
      -9.354232783719645e-8, 2.1484323184199907e-8, -4.853448422932521e-9, 1.160776771395984e-9,
      -2.523381290678995e-10,
    ],
  ],
];

/** x E(x) in 1/x² for x in [3.5, 6], and beyond. */
const FAR = [
  0.5641895835262158, -0.28209478569278645, 0.423141399127541, -1.0577931226875197,
  3.699127624549487, -16.5293539754621, 87.74570037697198, -506.7334963809501, 2853.2428199377096,
  -13926.156082122629, 52171.50035355502, -128601.67444231527, 153180.95592771476,
];
const FURTHER = [
  0.5641895835477562, -0.2820947917736846, 0.4231421875204269, -1.0578554158216689,
  3.7024821065013502, -16.659493963598358, 91.47198618343951, -585.0251591189383,
  4002.2479045020195, -24194.64454393511, 86636.6555751445,
];

/** An unevaluated sum of two numbers, the second beside the last digit of the first. */
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

const reciprocalFactorials = [1];
for (let n = 3; n <= 14; n++)
  reciprocalFactorials.push((reciprocalFactorials.at(-1) as number) / n);
/** 1/2!, 1/3!, … */
const SERIES = reciprocalFactorials.map((c) => c / 2);

/** c·e^{h + l}, rounded twice; |h| below 1100. */
function timesExp(code: Code, c: Expr, { high, low }: Pair): Expr {
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

/** c₀ + x(c₁ + c₂x + …) */
const aroundFirst = (c: readonly number[], x: Expr): Expr =>
  l.add(l.mul(horner(l, c.slice(1), x), x), f64(c[0]));

/** erfc x for ½ ≤ x < 28. */
function erfcTail(code: Code, x: Expr): Expr {
  const e = code.local("f64");
  const place = (at: number): void => {
    const [from, to, c] = middle[at];
    const u = code.let(l.sub(x, f64((from + to) / 2)));
    const fit = (): void => code.set(e, aroundFirst(c, u));
    if (at === middle.length - 1) fit();
    else code.when(l.lt(x, f64(to)), fit, () => place(at + 1));
  };
  code.when(
    l.lt(x, f64(3.5)),
    () => place(0),
    () => {
      const v = code.let(l.div(f64(1), l.mul(x, x)));
      code.when(
        l.lt(x, f64(6)),
        () => code.set(e, l.div(aroundFirst(FAR, v), x)),
        () => code.set(e, l.div(aroundFirst(FURTHER, v), x)),
      );
    },
  );
  const square = product(code, x, x);
  return timesExp(code, e, {
    high: code.let(l.neg(square.high)),
    low: code.let(l.neg(square.low)),
  });
}

const erfNear = (code: Code, x: Expr): Expr => {
  const w = code.let(l.mul(x, x));
  return l.add(x, l.mul(x, horner(l, NEAR, w)));
};

export function erf(code: Code, given: Expr): Expr {
  const x = code.let(given);
  const a = code.let(l.abs(x));
  const out = code.local("f64");
  code.when(
    l.lt(a, f64(1)),
    () => code.set(out, erfNear(code, x)),
    () =>
      code.when(
        l.lt(a, f64(6)),
        () => code.set(out, apply("f64", 0xa6, l.sub(f64(1), erfcTail(code, a)), x)),
        // 1 and −1; NaN is itself.
        () => code.set(out, select(l.eq(x, x), apply("f64", 0xa6, f64(1), x), x)),
      ),
  );
  return out;
}

export function erfc(code: Code, given: Expr): Expr {
  const x = code.let(given);
  const a = code.let(l.abs(x));
  const out = code.local("f64");
  code.when(
    l.lt(a, f64(0.5)),
    () => code.set(out, l.sub(f64(1), erfNear(code, x))),
    () => {
      code.when(
        l.lt(a, f64(28)),
        () => code.set(out, erfcTail(code, a)),
        () => code.set(out, select(l.eq(x, x), f64(0), x)),
      );
      code.when(l.lt(x, f64(0)), () => code.set(out, l.sub(f64(2), out)));
    },
  );
  return out;
}

/** 2/5, 2/7, …: what log m has after its first two terms, in s². */
const LOG_SERIES = Array.from({ length: 10 }, (_, i) => 2 / (2 * i + 5));

/** log x of a positive normal number, in two parts. */
export function logPair(code: Code, x: Expr, shift: Expr): Pair {
  const whole = code.let(b.shr(b.sub(b.of(x), b.constant(0x3fe6a09e667f3bcdn)), 52));
  const m = code.let(b.toFloat(b.sub(b.of(x), b.shl(whole, 52))));
  const k = code.let(l.sub(apply("f64", 0xb9, whole), shift));
  // s = f/(2 + f) in two parts: what is left of f after s(2 + f). f and 1 + m are exact.
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

/** xʸ as ECMAScript has it: NaN for 1^{±∞} and x^NaN, 1 for x⁰. */
export function pow(code: Code, givenX: Expr, givenY: Expr): Expr {
  const [x, y] = [code.let(givenX), code.let(givenY)];
  const out = code.local("f64");
  const a = code.let(l.abs(x));
  const finite = (v: Expr): Expr => l.lt(l.abs(v), f64(Number.POSITIVE_INFINITY));
  const whole = code.let(l.eq(l.trunc(y), y));
  const halfOf = code.let(l.mul(y, f64(0.5)));
  // Beyond 2⁵³ all are even, and their halves are integers.
  const odd = code.let(int.and(whole, int.eqz(l.eq(l.trunc(halfOf), halfOf))));
  const negative = code.let(long.lt(apply("i64", 0xbd, x), i64(0)));
  const ordinary = int.and(int.and(finite(x), finite(y)), l.lt(f64(0), a));
  code.when(
    l.eq(y, f64(0)),
    () => code.set(out, f64(1)),
    () =>
      code.when(
        ordinary,
        () => {
          const tiny = code.let(l.lt(a, f64(2 ** -1022)));
          const normal = code.let(select(tiny, l.mul(a, f64(2 ** 54)), a));
          const log = logPair(code, normal, code.let(select(tiny, f64(54), f64(0))));
          // So far out that only 0, 1 or ∞ is near: held where no product overflows.
          const by = code.let(l.min(l.max(y, f64(-(2 ** 66))), f64(2 ** 66)));
          const main = product(code, by, log.high);
          const rest = code.let(l.add(main.low, l.mul(by, log.low)));
          const inside = l.lt(l.abs(main.high), f64(1000));
          code.when(
            inside,
            () => code.set(out, timesExp(code, f64(1), { high: main.high, low: rest })),
            () =>
              code.set(out, select(l.lt(main.high, f64(0)), f64(0), f64(Number.POSITIVE_INFINITY))),
          );
          code.when(negative, () => {
            const signed = select(odd, l.neg(out), out);
            code.set(out, select(whole, signed, f64(Number.NaN)));
          });
        },
        () => code.set(out, extremePower(code, { x, y, a, odd, negative })),
      ),
  );
  return out;
}

/** Where x or y is infinite or NaN, or x is 0; y is not 0. */
function extremePower(
  code: Code,
  { x, y, a, odd, negative }: Readonly<Record<"x" | "y" | "a" | "odd" | "negative", Expr>>,
): Expr {
  const up = code.let(l.lt(f64(0), y));
  const infinity = f64(Number.POSITIVE_INFINITY);
  // 0ʸ and ∞ʸ, with the sign of an odd power.
  const large = code.let(select(l.eq(a, infinity), i32(1), i32(0)));
  const size = code.let(select(int.eq(large, up), infinity, f64(0)));
  const power = code.let(select(int.and(negative, odd), l.neg(size), size));
  // x^{±∞} for |x| not 1: grows if |x| > 1 and y > 0, or neither.
  const grows = int.eq(l.lt(f64(1), a), up);
  const limit = select(l.eq(a, f64(1)), f64(Number.NaN), select(grows, infinity, f64(0)));
  const value = code.let(select(l.eq(l.abs(y), infinity), limit, power));
  const known = int.and(l.eq(x, x), l.eq(y, y));
  return select(known, value, f64(Number.NaN));
}
