/**
 * The error function and its complement, each relative to its own size:
 *   erf(x)  = 2/√π ∫₀ˣ exp(−t²) dt = (2x/√π) exp(−x²) Σₙ (2x²)ⁿ / (2n+1)!!
 *             all terms are positive: for small |x|
 *   erfc(x) = 1 − erf(x) = exp(−x²)/√π · 1/(x + ½/(x + 1/(x + …)))
 *             the continued fraction: for larger x
 * and in a graph erfc(x) = t·Q(t)·exp(−x²), t = 2/(2 + x), x ≥ 0, Q smooth on [0, 1]: a short
 * Chebyshev series. Its coefficients are computed once from the two forms above.
 */
import { abs, add, div, floor, minimum, mul, neg, square, sub } from "./arithmetic.ts";
import { unary } from "./elementwise.ts";
import { internal } from "./error.ts";
import { less, where } from "./logic.ts";
import { asTensor, fill, type Operand, type Tensor } from "./tensor.ts";
import { exp } from "./transcendental.ts";

function seriesErf(x: number): number {
  let term = x;
  let sum = x;
  for (let n = 1; Math.abs(term) > 1e-18 * Math.abs(sum); n++) {
    term *= (2 * x * x) / (2 * n + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

/** erfc(x) exp(x²) for x ≥ ½, by backward recurrence; the error at depth n is about exp(−2x√2n). */
function scaledTail(x: number): number {
  let fraction = 0;
  for (let n = x < 1.5 ? 800 : 200; n >= 1; n--) fraction = n / 2 / (x + fraction);
  return 1 / ((x + fraction) * Math.sqrt(Math.PI));
}

/** exp(−x²); the square of x truncated to sixteenths is exact, and the rest is small. */
function gaussian(x: number): number {
  const near = Math.floor(x * 16) / 16;
  return Math.exp(-near * near) * Math.exp(-(x - near) * (x + near));
}

export function erfValue(x: number): number {
  if (!Number.isFinite(x)) return Number.isNaN(x) ? x : Math.sign(x);
  const a = Math.abs(x);
  return Math.sign(x) * (a < 1.5 ? seriesErf(a) : 1 - scaledTail(a) * Math.exp(-a * a));
}

export function erfcValue(x: number): number {
  if (x < 0.5) return x < -0.5 ? 2 - erfcValue(-x) : 1 - seriesErf(x);
  return x > 30 ? 0 : scaledTail(x) * gaussian(x);
}

/** Chebyshev coefficients of Q(t) = erfc(x) exp(x²)/t in s = 2t − 1, by the discrete cosine sum. */
function chebyshev(terms: number): number[] {
  const nodes = 4 * terms;
  const values = Array.from({ length: nodes }, (_, k) => {
    const t = (1 + Math.cos((Math.PI * (k + 0.5)) / nodes)) / 2;
    const x = 2 / t - 2;
    return (x < 0.5 ? (1 - seriesErf(x)) * Math.exp(x * x) : scaledTail(x)) * (1 + x / 2);
  });
  return Array.from({ length: terms }, (_, j) => {
    // The terms are accurate to 1e-16, and so is their compensated sum (Neumaier); the last
    // coefficients are of this size.
    let [sum, lost] = [0, 0];
    values.forEach((v, k) => {
      const term = v * Math.cos((Math.PI * ((j * (2 * k + 1)) % (4 * nodes))) / (2 * nodes));
      const next = sum + term;
      lost += Math.abs(sum) > Math.abs(term) ? sum - next + term : term - next + sum;
      sum = next;
    });
    return ((j === 0 ? 1 : 2) * (sum + lost)) / nodes;
  });
}

const coefficients = {
  float32: /* @__PURE__ */ chebyshev(16),
  float64: /* @__PURE__ */ chebyshev(30),
};

/**
 * erfc(a) exp(a²) = t·Q(t) for a ≥ 0, Q = Σ c_j T_j(s). The T_j are computed upwards, and summed
 * from the smallest. At the ends of [−1, 1] Clenshaw's recurrence magnifies the rounding of all
 * terms; this sum magnifies only that of T_j, which is multiplied by the small c_j.
 */
export function scaledErfc(a: Tensor): Tensor {
  const c = coefficients[a.dtype as "float32" | "float64"];
  const t = div(2, add(a, 2));
  const s = sub(mul(t, 2), 1);
  const polynomials: Tensor[] = [fill([], 1, a.dtype), s];
  for (let j = 2; j < c.length; j++)
    polynomials.push(sub(mul(mul(s, 2), polynomials[j - 1]), polynomials[j - 2]));
  const terms = polynomials.map((p, j) => mul(p, c[j]));
  return mul(
    t,
    terms.reduceRight((sum, term) => add(sum, term)),
  );
}

const slope = 2 / Math.sqrt(Math.PI);

export const erfNode = unary("erf", {
  f: erfValue,
  vjp: (g, x) => mul(g, mul(exp(neg(mul(x, x))), slope)), // erf′(x) = 2/√π exp(−x²)
});

const erfcNode = unary("erfc", {
  f: erfcValue,
  vjp: (g, x) => mul(g, mul(exp(neg(mul(x, x))), -slope)), // erfc′(x) = −2/√π exp(−x²)
  // Above the bound it is 0 in this type.
  lower: (x) => {
    const a = minimum(abs(x), x.dtype === "float32" ? 12 : 30);
    const near = mul(floor(mul(a, 16)), 1 / 16);
    const falls = mul(exp(neg(square(near))), exp(neg(mul(sub(a, near), add(a, near)))));
    const tail = mul(scaledErfc(a), falls);
    return where(less(x, 0), sub(2, tail), tail);
  },
  emit: () => internal("erfc is lowered before it is written"),
});

/** The error function 2/√π ∫₀ˣ e^{−u²} du, element by element. */
export const erf = (x: Operand): Tensor => erfNode([asTensor(x)], {});
/** The complementary error function 1 − erf(x), element by element, without cancellation. */
export const erfc = (x: Operand): Tensor => erfcNode([asTensor(x)], {});
