/** xʸ in float64, one number at a time, within 2 units in the last place: e^{y log x}. */
import { apply, type Code, type Expr, f64, i32, i64, int, long, select } from "./code.ts";
import { l, logPair, product, timesExp } from "./pair.ts";

/** xʸ as in ECMAScript: NaN for 1^{±∞} and x^NaN, 1 for x⁰. */
export function pow(code: Code, givenX: Expr, givenY: Expr): Expr {
  const [x, y] = [code.let(givenX), code.let(givenY)];
  const out = code.local("f64");
  const a = code.let(l.abs(x));
  const finite = (v: Expr): Expr => l.lt(l.abs(v), f64(Number.POSITIVE_INFINITY));
  const whole = code.let(l.eq(l.trunc(y), y));
  const halfOf = code.let(l.mul(y, f64(0.5)));
  // Beyond 2⁵³ all numbers are even, and their halves are integers.
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
          // The exponent is clamped where the result is 0, 1 or ∞ and no product overflows.
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

/** The cases in which x or y is infinite or NaN, or x is 0; y is not 0. */
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
