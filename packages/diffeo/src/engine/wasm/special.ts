/**
 * erf and erfc in float64, one number at a time, within 2 units in the last place.
 *
 *   erf x  = x + x·N(x²)                    |x| < 1
 *   erfc x = e^{−x²} E(x),  E(x) = erfc x · e^{x²}: polynomials in x − middle on four intervals,
 *            and x E(x) one in 1/x² on two
 *
 * The exponent is a sum of two numbers with a negligible rounding error (`pair.ts`). The
 * polynomials are Chebyshev fits whose errors are below 2⁻⁵⁷; their largest coefficient is added
 * last.
 */
import { apply, type Code, type Expr, f64, select } from "./code.ts";
import { horner } from "./exponential.ts";
import { type Case, chooseBySize, l, product, timesExp } from "./pair.ts";

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

/** c₀ + x(c₁ + c₂x + …) */
const aroundFirst = (c: readonly number[], x: Expr): Expr =>
  l.add(l.mul(horner(l, c.slice(1), x), x), f64(c[0]));

/** erfc x for ½ ≤ x < 28. */
function erfcTail(code: Code, x: Expr): Expr {
  const e = code.local("f64");
  const close = ([from, to, c]: (typeof middle)[number]): Case => [
    to,
    () => code.set(e, aroundFirst(c, code.let(l.sub(x, f64((from + to) / 2))))),
  ];
  const far = (c: readonly number[]) => (): void => {
    const v = code.let(l.div(f64(1), l.mul(x, x)));
    code.set(e, l.div(aroundFirst(c, v), x));
  };
  chooseBySize(code, x, [...middle.map(close), [6, far(FAR)]], far(FURTHER));
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
        // 1 and −1; NaN is unchanged.
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
