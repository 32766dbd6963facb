/**
 * Elementary functions of the compiler are within 2 units in the last place of numbers with 60
 * digits, on dense grids and at the ends of their range; for float32 numbers they are those of
 * float64 rounded once; special values are exact; vector lanes have the bits of scalars.
 */
import { describe, expect, it } from "vitest";
import { compile } from "../../src/engine/index.ts";
import {
  atan,
  cos,
  erf,
  erfc,
  exp,
  expm1,
  gradEach,
  log,
  log1p,
  logGamma,
  logSumExp,
  polygamma,
  pow,
  sigmoid,
  sin,
  softplus,
  type Tensor,
  tanh,
} from "../../src/graph/index.ts";

/** Fixed-point numbers with so many bits behind the point. */
const BITS = 400n;
const ONE = 1n << BITS;
const times = (a: bigint, b: bigint): bigint => (a * b) >> BITS;
const over = (a: bigint, b: bigint): bigint => (a << BITS) / b;

/** A float64 number exactly, as long as it is not below 2⁻³⁴⁰. */
function fixed(x: number): bigint {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, Math.abs(x));
  const bits = view.getBigUint64(0);
  const exponent = bits >> 52n;
  const digits = (bits & ((1n << 52n) - 1n)) | (exponent === 0n ? 0n : 1n << 52n);
  const shift = BITS + (exponent === 0n ? 1n : exponent) - 1075n;
  const size = shift >= 0n ? digits << shift : digits >> -shift;
  return x < 0 ? -size : size;
}

/** Σ of terms that fall, each made from the one before. */
function series(first: bigint, next: (term: bigint, k: bigint) => bigint): bigint {
  let [sum, term] = [first, first];
  for (let k = 1n; term !== 0n && term !== -1n; k++) {
    term = next(term, k);
    sum += term;
  }
  return sum;
}

/** eˣ: the series at x/2²⁴, squared 24 times. */
function exact(x: bigint): bigint {
  const halvings = 24n;
  let y = series(ONE, (term, k) => times(term, x >> halvings) / k);
  for (let i = 0n; i < halvings; i++) y = times(y, y);
  return y;
}

/** √x by Newton's steps from above. */
function root(x: bigint): bigint {
  const n = x << BITS;
  let y = 1n << (BigInt(n.toString(2).length + 1) / 2n);
  for (;;) {
    const z = (y + n / y) >> 1n;
    if (z >= y) return y;
    y = z;
  }
}

/** atan x by its series, after the angle was halved eight times. */
function arctan(x: bigint): bigint {
  if (x < 0n) return -arctan(-x);
  if (x > ONE) return (PI >> 1n) - arctan(over(ONE, x));
  let [y, doublings] = [x, 0n];
  for (; doublings < 8n; doublings++) y = over(y, ONE + root(ONE + times(y, y)));
  const square = times(y, y);
  let [sum, power] = [0n, y];
  for (let k = 1n; power !== 0n && power !== -1n; k += 2n) {
    sum += (k % 4n === 1n ? power : -power) / k;
    power = times(power, square);
  }
  return sum << doublings;
}
/** 4(4 atan 1/5 − atan 1/239) */
const inverse = (n: bigint): bigint => {
  let [sum, power] = [0n, ONE / n];
  for (let k = 1n; power !== 0n; k += 2n) {
    sum += (k % 4n === 1n ? power : -power) / k;
    power /= n * n;
  }
  return sum;
};
const PI = 4n * (4n * inverse(5n) - inverse(239n));

/** log x = k log 2 + log m, ½ ≤ m < 1, by Newton's steps on eʸ = m from the float64 number. */
function logarithm(x: bigint): bigint {
  const k = BigInt(x.toString(2).length) - BITS;
  const m = k < 0n ? x << -k : x >> k;
  let y = fixed(Math.log(Number(m >> (BITS - 60n)) / 2 ** 60));
  for (let i = 0; i < 3; i++) y += times(m, exact(-y)) - ONE;
  return y + k * LN2;
}
/** log 2 = Σ 1/(k 2ᵏ) */
const LN2 = series(ONE >> 1n, (term, k) => (term * k) / (2n * (k + 1n)));

/** sin of a number that is reduced by π first. */
function sine(x: bigint, quarter: bigint): bigint {
  const turned = x + quarter * (PI >> 1n);
  const turns = turned / PI;
  const rest = turned - turns * PI;
  const value = series(
    rest,
    (term, k) => -times(times(term, rest), rest) / (2n * k * (2n * k + 1n)),
  );
  return turns % 2n === 0n ? value : -value;
}

/** 2/√π Σ (−1)ᵏ x^{2k+1}/(k!(2k + 1)) */
function errorFunction(x: bigint): bigint {
  const square = times(x, x);
  let [sum, power] = [0n, x];
  for (let k = 0n; power !== 0n && power !== -1n; k++) {
    sum += power / (2n * k + 1n);
    power = -times(power, square) / (k + 1n);
  }
  return times(over(2n * ONE, root(PI)), sum);
}

/** B₂, B₄, … as fractions, by Σ_k C(n + 1, k) B_k = 0. */
const BERNOULLI = ((): (readonly [bigint, bigint])[] => {
  const all: [bigint, bigint][] = [[1n, 1n]];
  for (let n = 1n; n <= 80n; n++) {
    let [sum, whole, choose] = [0n, 1n, 1n];
    all.forEach(([p, q], k) => {
      sum = sum * q + choose * p * whole;
      whole *= q;
      choose = (choose * (n + 1n - BigInt(k))) / BigInt(k + 1);
      const by = gcd(sum, whole);
      [sum, whole] = [sum / by, whole / by];
    });
    all.push([-sum, whole * (n + 1n)]);
  }
  return all.filter((_, n) => n > 0 && n % 2 === 0);
})();
function gcd(a: bigint, b: bigint): bigint {
  let [x, y] = [a < 0n ? -a : a, b];
  while (y !== 0n) [x, y] = [y, x % y];
  return x === 0n ? 1n : x;
}

/** Stirling's series with 40 terms is exact to 10⁻⁶⁰ from 64 on. */
const shiftOf = (x: bigint): bigint => (x > 64n * ONE ? 0n : 64n);

/** log Γ of 2⁻³⁰⁰ and more: Stirling's series at x + 64, less the logarithm of a product. */
function logGammaOf(x: bigint): bigint {
  const shift = shiftOf(x);
  const z = x + shift * ONE;
  let product = ONE;
  for (let j = 0n; j < shift; j++) product = times(product, x + j * ONE);
  const inverse = over(ONE, z);
  const square = times(inverse, inverse);
  let [tail, power] = [0n, inverse];
  BERNOULLI.forEach(([p, q], i) => {
    const k = BigInt(i + 1);
    tail += (power * p) / (q * 2n * k * (2n * k - 1n));
    power = times(power, square);
  });
  const stirling = times(z - (ONE >> 1n), logarithm(z)) - z + (logarithm(2n * PI) >> 1n) + tail;
  return stirling - logarithm(product);
}

/** ψ the same way. */
function digammaOf(x: bigint): bigint {
  const shift = shiftOf(x);
  const z = x + shift * ONE;
  let sum = 0n;
  for (let j = 0n; j < shift; j++) sum += over(ONE, x + j * ONE);
  const square = times(over(ONE, z), over(ONE, z));
  let [tail, power] = [0n, square];
  BERNOULLI.forEach(([p, q], i) => {
    tail += (power * p) / (q * 2n * BigInt(i + 1));
    power = times(power, square);
  });
  return logarithm(z) - over(ONE >> 1n, z) - tail - sum;
}

/** xʸ */
const powerOf =
  (y: number) =>
  (x: bigint): bigint =>
    exact(times(logarithm(x), fixed(y)));

/** The distance of a float64 number from a fixed-point one, in units in its last place. */
function ulps(found: number, expected: bigint): number {
  const unit = Math.max(
    2 ** -1074,
    2 ** (Math.floor(Math.log2(Math.abs(found) || 2 ** -1022)) - 52),
  );
  const off = fixed(found) - expected;
  return Number((off << 20n) / (fixed(unit) || 1n)) / 2 ** 20;
}

const sigmoidOf = (x: bigint): bigint => over(ONE, ONE + exact(-x));

interface Function {
  readonly f: (x: Tensor) => Tensor;
  readonly exact: (x: bigint) => bigint;
  readonly from: number;
  readonly to: number;
  /** Numbers beside the grid. */
  readonly more?: readonly number[];
}

const small = [1e-9, -1e-9, 3e-20, 1e-60];
/** Beside the zeros of log Γ, and where its intervals meet. */
const gammaPoints = [1, 2, 0.5, 0.75, 1.5, 3, 5, 8].flatMap((x) => [x * (1 - 2 ** -53), x * (1 + 2 ** -52), x + 1e-7]); // biome-ignore format: a list
/** ψ is 0 between this number and the next. */
const ZERO = 1.4616321449683622;
const functions: Readonly<Record<string, Function>> = {
  exp: { f: exp, exact, from: -40, to: 40, more: [...small, -60, 200, 709.7] },
  expm1: { f: expm1, exact: (x) => exact(x) - ONE, from: -20, to: 20, more: small },
  log: { f: log, exact: logarithm, from: 1e-3, to: 4, more: [1 + 2 ** -52, 1 - 2 ** -53, 1e40, 1e-40] },
  log1p: { f: log1p, exact: (x) => logarithm(ONE + x), from: -0.999, to: 5, more: [1e-9, -1e-9, 1e40] },
  tanh: { f: tanh, exact: (x) => over(exact(2n * x) - ONE, exact(2n * x) + ONE), from: -20, to: 20, more: small },
  sigmoid: { f: sigmoid, exact: sigmoidOf, from: -40, to: 40, more: small },
  softplus: { f: softplus, exact: (x) => logarithm(ONE + exact(x)), from: -40, to: 40, more: small },
  sin: { f: sin, exact: (x) => sine(x, 0n), from: -30, to: 30, more: [...small, Math.PI, 22, 1e6, 1e15, 1e22] },
  cos: { f: cos, exact: (x) => sine(x, 1n), from: -30, to: 30, more: [...small, Math.PI / 2, 11, 1e6, 1e15, 1e22] },
  atan: { f: atan, exact: arctan, from: -30, to: 30, more: [...small, 1e10] },
  erf: { f: erf, exact: errorFunction, from: -5, to: 5, more: small },
  "pow 2.75": { f: (x) => pow(x, 2.75), exact: powerOf(2.75), from: 1e-3, to: 30, more: [1 + 2 ** -52, 1e-20, 1e60] },
  "pow -0.3125": { f: (x) => pow(x, -0.3125), exact: powerOf(-0.3125), from: 1e-3, to: 30, more: [1e-60, 1e60] },
  "pow 200.5": { f: (x) => pow(x, 200.5), exact: powerOf(200.5), from: 0.5, to: 4, more: [30] },
  "pow of 1.75": { f: (y) => pow(1.75, y), exact: (y) => exact(times(logarithm(fixed(1.75)), y)), from: -50, to: 50, more: [...small, 1000] },
  logGamma: { f: logGamma, exact: logGammaOf, from: 1e-3, to: 12, more: [...gammaPoints, 20, 171.3, 1e4, 1e15, 1e30, 1e-30, 1e-60] },
  digamma: { f: (x) => polygamma(0, x), exact: digammaOf, from: 1e-3, to: 12, more: [...gammaPoints, ZERO - 1e-9, ZERO, ZERO + 2 ** -52, 20, 1e4, 1e15, 1e-30] },
  erfc: { f: erfc, exact: (x) => ONE - errorFunction(x), from: -5, to: 7, more: small },
}; // biome-ignore format: a table

/** An odd count, so that a vector and a single number are both used. */
const GRID = 201;
const gridOf = ({ from, to, more = [] }: Function): number[] => [
  ...Array.from({ length: GRID }, (_, i) => from + ((to - from) * (i + 0.37)) / GRID),
  ...more,
];

describe("an elementary function of the compiler", () => {
  it.each(Object.keys(functions))("%s is within 2 units in the last place", async (name) => {
    const { f, exact: oracle } = functions[name];
    const points = gridOf(functions[name]);
    const compiled = compile(f, [[null]], { device: "wasm", type: "float64" });
    const { data } = await compiled(points);
    const off = points.map((x, i) => Math.abs(ulps(data[i] as number, oracle(fixed(x)))));
    const worst = off.indexOf(Math.max(...off));
    expect(off[worst], `at ${points[worst]}`).toBeLessThan(2);
    // Nobody rounds all of them as they should be: the numbers are compared indeed.
    expect(off[worst]).toBeGreaterThan(0.3);
    // One number at a time is the same function.
    const single = compile(f, [[1]], { device: "wasm", type: "float64" });
    for (let i = 0; i < points.length; i += 13)
      expect((await single([points[i]])).data[0]).toBe(data[i]);
    await compiled.dispose();
    await single.dispose();
  });

  it.each(Object.keys(functions))("%s of float32 numbers is rounded once", async (name) => {
    const { f } = functions[name];
    const points = gridOf(functions[name]).map(Math.fround);
    const [narrow, wide] = await Promise.all(
      (["float32", "float64"] as const).map((type) =>
        compile(f, [[null]], { device: "wasm", type })(points),
      ),
    );
    // Which is within 2 units in its own last place, as above.
    expect([...narrow.data]).toEqual([...(wide.data as Float64Array)].map(Math.fround));
  });

  it("has the zeros of log Γ, and the factorials", async () => {
    const compiled = compile(logGamma, [[null]], { device: "wasm", type: "float64" });
    const { data } = await compiled([1, 2, 3, 5, 23]);
    expect([...data]).toEqual([0, 0, Math.LN2, Math.log(24), 48.47118135183523]);
    await compiled.dispose();
  });

  it("has the special values of the reference, in both types and in vectors", async () => {
    const edges = [0, -0, Infinity, -Infinity, Number.NaN, 5e-324, -5e-324, 1e308, -1e308, 745.2, -745.2]; // biome-ignore format: a list
    for (const [name, { f }] of Object.entries(functions))
      for (const type of ["float64", "float32"] as const) {
        const points = type === "float64" ? edges : edges.map(Math.fround);
        const [own, other] = await Promise.all(
          ["wasm", "reference"].map((device) =>
            compile(f, [[edges.length]], { device, type })(points),
          ),
        );
        own.data.forEach((v, i) => {
          const expected = Number(other.data[i]);
          const label = `${name}(${points[i]}) in ${type}`;
          if (Number.isFinite(expected) && expected !== 0 && Math.abs(points[i]) < 1e300)
            expect(Math.abs(Number(v) / expected - 1), label).toBeLessThan(1e-6);
          else if (Math.abs(points[i]) < 1e300 || !/sin|cos/.test(name))
            expect(Number(v), label).toBe(expected);
        });
      }
  });

  it("shares the exponentials of a log-sum-exp with its derivative", async () => {
    const f = (x: Tensor): Tensor[] => [
      logSumExp(x, -1),
      gradEach((y: Tensor) => logSumExp(y, -1))(x),
    ];
    const rows = [[1, 2, 3], [800, -800, 799], [-1e4, -1e4, -1e4], [0, Number.NEGATIVE_INFINITY, 1]]; // biome-ignore format: rows
    const [own, other] = await Promise.all(
      ["wasm", "reference"].map((device) =>
        compile(f, [[4, 3]], { device, type: "float64" })(rows),
      ),
    );
    own.forEach(({ data }, k) => {
      data.forEach((v, i) => {
        expect(Number(v)).toBeCloseTo(Number(other[k].data[i]), 12);
      });
    });
  });
});
