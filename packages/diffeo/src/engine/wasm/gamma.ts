/**
 * log Γ and its derivative ψ in float64 for x ≥ 0, one number at a time, within 2 units in the last
 * place, also near their zeros.
 *
 *   log Γ x = (x − 1)(x − 2) R(x)                        ½ ≤ x < 3
 *           = log Γ(1 + x) − log x                       below
 *           = log((x − 1) … (x − n)) + log Γ(x − n)      3 ≤ x < 8, x − n in [2, 3)
 *           = (x − ½)(log x − 1) + ½ log 2π − ½ + S(x)   from 8 on: Stirling
 *   ψ x     = (x − x₀) Q(x)                              ½ ≤ x < 8
 *           = ψ(1 + x) − 1/x                             below
 *           = log x − 1/2x − T(1/x²)                     from 8 on
 *
 * Stirling's product and x₀ = 1.4616… are in two parts. R is a polynomial on each of five
 * intervals; it has no zero, and x − 1 and x − 2 are exact. R and Q are interpolated at Chebyshev
 * points with errors below 2⁻⁵⁹, in x minus the midpoint of their interval; the first coefficient
 * is in two parts.
 */
import { type Code, type Expr, f64, int, select } from "./code.ts";
import { horner } from "./exponential.ts";
import { digammaFits, type Fit, logGammaFits } from "./gamma-fits.ts";
import { type Case, chooseBySize, exactSum, l, logPair, type Pair, product } from "./pair.ts";

/** ψ(x₀) = 0 */
const ZERO = 1.4616321449683622;
const ZERO_LOW = 9.549995429965697e-17;
const HALF_LOG_TAU = 0.9189385332046727;
/** B₂, B₄, … B₁₈ */
const BERNOULLI = [
  ...[1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730],
  ...[7 / 6, -3617 / 510, 43867 / 798],
];
/** Coefficients of S(x)·x in 1/x², and of T(1/x²)·x². */
const STIRLING = BERNOULLI.map((b, k) => b / (2 * (k + 1) * (2 * k + 1)));
const DERIVED = BERNOULLI.map((b, k) => b / (2 * k + 2));

/** Stirling's series is used from here on; from FAR on only (x − ½)(log x − 1). */
const LARGE = 8;
const FAR = 2 ** 60;

/** The value of fits at x + shift, in two parts; x is below the end of the last fit. */
function fitted(code: Code, fits: readonly Fit[], x: Expr, shift = 0): Pair {
  const [high, low] = [code.local("f64"), code.local("f64")];
  const write = ({ from, to, low: rest, c }: Fit): void => {
    const u = code.let(l.sub(x, f64((from + to) / 2 - shift)));
    const tail = code.let(l.add(l.mul(horner(l, c.slice(1), u), u), f64(rest)));
    code.set(high, l.add(f64(c[0]), tail));
    code.set(low, l.sub(tail, l.sub(high, f64(c[0]))));
  };
  const last = fits[fits.length - 1];
  const cases = fits.slice(0, -1).map((fit): Case => [fit.to - shift, () => write(fit)]);
  chooseBySize(code, x, cases, () => write(last));
  return { high, low };
}

const times = (a: Expr, { high, low }: Pair): Expr => l.add(l.mul(a, high), l.mul(a, low));

/** log x of any positive number, in two parts. */
function wholeLog(code: Code, x: Expr): Pair {
  const tiny = code.let(l.lt(x, f64(2 ** -1022)));
  const normal = code.let(select(tiny, l.mul(x, f64(2 ** 54)), x));
  return logPair(code, normal, code.let(select(tiny, f64(54), f64(0))));
}

/** The cases in which x is 0, negative, infinite or NaN. */
function edges(code: Code, x: Expr, at0: Expr, inside: (out: (value: Expr) => void) => void): Expr {
  const out = code.local("f64");
  const set = (value: Expr): void => code.set(out, value);
  const ordinary = int.and(l.lt(f64(0), x), l.lt(x, f64(Number.POSITIVE_INFINITY)));
  code.when(
    ordinary,
    () => inside(set),
    () => {
      const below = select(l.lt(x, f64(0)), f64(Number.NaN), x);
      set(select(l.eq(x, f64(0)), at0, below));
    },
  );
  return out;
}

/** (x − 1)(x − 2) R(x) for ½ ≤ x < 3, or that of 1 + x. */
function logGammaNear(code: Code, x: Expr, fits: readonly Fit[], shift = 0): Expr {
  const value = fitted(code, fits, x, shift);
  const [a, b] = [l.sub(x, f64(1 - shift)), l.sub(x, f64(2 - shift))];
  return times(code.let(l.mul(a, b)), value);
}

/** log((x − 1) … (x − n)) + log Γ(x − n), 2 ≤ x − n < 3. */
function logGammaMiddle(code: Code, x: Expr): Expr {
  const [rest, factors] = [code.local("f64"), code.local("f64")];
  code.set(rest, l.sub(x, f64(1)));
  code.set(factors, rest);
  code.while(
    () => l.le(f64(3), rest),
    () => {
      code.set(rest, l.sub(rest, f64(1)));
      code.set(factors, l.mul(factors, rest));
    },
  );
  const { high, low } = logPair(code, factors, f64(0));
  return l.add(high, l.add(low, logGammaNear(code, rest, logGammaFits.slice(-1))));
}

function logGammaLarge(code: Code, x: Expr): Expr {
  const { high, low } = logPair(code, x, f64(0));
  const size = code.let(l.sub(x, f64(0.5)));
  const main = product(code, size, high);
  const first = exactSum(code, main.high, code.let(l.neg(x)));
  const inverse = code.let(l.div(f64(1), x));
  const series = l.mul(horner(l, STIRLING, code.let(l.mul(inverse, inverse))), inverse);
  const rest = l.add(l.add(main.low, l.mul(size, low)), l.add(f64(HALF_LOG_TAU), series));
  return l.add(first.high, l.add(first.low, rest));
}

/** log Γ x. */
export function logGamma(code: Code, given: Expr): Expr {
  const x = code.let(given);
  return edges(code, x, f64(Number.POSITIVE_INFINITY), (set) => {
    const below = (): void => {
      const { high, low } = wholeLog(code, x);
      const next = logGammaNear(code, x, logGammaFits.slice(2, 3), 1);
      set(l.sub(l.sub(next, low), high));
    };
    const cases: readonly Case[] = [
      [0.5, below],
      [3, () => set(logGammaNear(code, x, logGammaFits))],
      [LARGE, () => set(logGammaMiddle(code, x))],
      [FAR, () => set(logGammaLarge(code, x))],
    ];
    chooseBySize(code, x, cases, () => set(l.mul(x, l.sub(logPair(code, x, f64(0)).high, f64(1)))));
  });
}

/** (x − x₀) Q(x) for ½ ≤ x < 8, or that of 1 + x. */
function digammaNear(code: Code, x: Expr, fits: readonly Fit[], shift = 0): Expr {
  const value = fitted(code, fits, x, shift);
  const off = code.let(l.sub(l.sub(x, f64(ZERO - shift)), f64(ZERO_LOW)));
  return times(off, value);
}

/** ψ, the derivative of log Γ. */
export function digamma(code: Code, given: Expr): Expr {
  const x = code.let(given);
  return edges(code, x, f64(Number.NEGATIVE_INFINITY), (set) => {
    const below = (): void => {
      const inverse = code.let(l.div(f64(1), x));
      set(l.sub(digammaNear(code, x, digammaFits.slice(2, 3), 1), inverse));
    };
    const large = (): void => {
      const { high, low } = logPair(code, x, f64(0));
      const inverse = code.let(l.div(f64(1), x));
      const w = code.let(l.mul(inverse, inverse));
      const rest = l.add(l.mul(inverse, f64(0.5)), l.mul(horner(l, DERIVED, w), w));
      set(l.add(high, l.sub(low, rest)));
    };
    const cases: readonly Case[] = [
      [0.5, below],
      [LARGE, () => set(digammaNear(code, x, digammaFits))],
    ];
    chooseBySize(code, x, cases, large);
  });
}
