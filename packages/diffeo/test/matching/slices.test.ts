/**
 * Slice families: derivatives compared with autodiff, C and div C with sample means, and the O(n)
 * sampler with an explicit A.
 */
import { describe, expect, it } from "vitest";
import {
  add,
  constant,
  cos as cosine,
  dot,
  jacobian,
  jvp,
  mul,
  reference,
  slice,
  squeeze,
  sub,
  sum,
  type Tensor,
} from "../../src/graph/index.ts";
import { sliceDrift } from "../../src/matching/family.ts";
import {
  applyMetric,
  type Draws,
  fourierSlices,
  gssm,
  gssmVr,
  linearSlices,
  lossOf,
  metricForm,
  networkSlices,
  quadraticSlices,
  type SliceFamily,
  smoothFamily,
  ssm,
  ssmVr,
  withMonteCarlo,
} from "../../src/matching/index.ts";
import { unitSlice } from "../../src/matching/normalised.ts";
import { at, drawn, field, misses, moments, numbers, repeated, traceWith } from "./support.ts";

const DRAWS = 16_000;
/**
 * A mean of so many draws misses its value by more than this once in 16,000 times; all draws are
 * fixed.
 */
const SIGMAS = 4;

/** Every family, with n. σ₁² above, at and below 2σ₂², and n = 1 and 2, take different ways. */
const families: readonly (readonly [string, SliceFamily, number])[] = [
  ["linear, Rademacher", linearSlices("rademacher"), 4],
  ["linear, normal", linearSlices("normal"), 4],
  ["linear, sphere", linearSlices("sphere"), 4],
  ["quadratic", quadraticSlices(), 4],
  ["quadratic, normal b", quadraticSlices({ linear: "normal" }), 4],
  [
    "quadratic with σ₁² > 2σ₂²",
    quadraticSlices({ varDiagonal: 2, varOffDiagonal: 0.4, varLinear: 0.5 }),
    4,
  ],
  ["quadratic with σ₁² < 2σ₂²", quadraticSlices({ varDiagonal: 0.3, varOffDiagonal: 0.8 }), 4],
  ["quadratic from A", quadraticSlices({ explicit: true }), 4],
  ["quadratic, n = 2", quadraticSlices(), 2],
  ["quadratic, n = 1", quadraticSlices(), 1],
  ["random Fourier", fourierSlices(0.7), 3],
  ["random network", withMonteCarlo(networkSlices(3), 4), 3],
];

const point = (n: number): number[] => Array.from(numbers("point", [n]).data as Float64Array);

it("a random network divides the sum of its hidden units by √m: at 0, without biases, ∇v = m^{−½} Σ aⱼwⱼ", () => {
  const draws = {
    w: constant([[[1, -2], [0.5, 3], [2, 1], [-1, 4]]], "float64"), // biome-ignore format: units
    b: constant([[0, 0, 0, 0]], "float64"),
    a: constant([[1, 2, -1, 0.5]], "float64"),
  };
  const [slope] = reference(
    [networkSlices(4).slice(constant([[0, 0]], "float64"), draws).grad],
    new Map(),
  );
  expect([...slope]).toEqual([(1 + 1 - 2 - 0.5) / 2, (-2 + 6 - 1 + 2) / 2]);
});

describe.each(families)("%s slices", (_, family, n) => {
  const spec = { ...family.draws(n), ...family.controlDraws?.(n) };
  const x = repeated(point(n), DRAWS);

  it("have E[∇v ∇vᵀ] = C and E[H∇v + Δv ∇v] = div C", async () => {
    const found = await at(
      (y, draws) => {
        const slice = family.slice(y, draws);
        const { covariance, divergence } = family.moments?.(y, draws) ?? { covariance: {} };
        const u = field(y);
        const drift = sliceDrift(slice);
        const product = dot(slice.grad, u);
        return {
          quadratic: add(mul(product, product), mul(metricForm(covariance, u), -1)),
          wrong: add(mul(product, product), mul(metricForm(covariance, u), -1.2)),
          linear: add(
            drift ? dot(drift, u) : mul(product, 0),
            divergence ? mul(dot(divergence, u), -1) : mul(product, 0),
          ),
        };
      },
      x,
      drawn(spec, [DRAWS]),
    );
    expect(misses(found.quadratic, 0)).toBeLessThan(SIGMAS);
    // So many draws tell a C that is a fifth too large.
    expect(misses(found.wrong, 0)).toBeGreaterThan(SIGMAS);
    if (moments(found.linear).error > 0) expect(misses(found.linear, 0)).toBeLessThan(SIGMAS);
    else expect(moments(found.linear).mean).toBe(0);
  });

  it.runIf(family.unitMoments)("have E[ddᵀ] and its divergence, d = ∇v/‖∇v‖", async () => {
    const found = await at(
      (y, draws) => {
        const { direction, drift } = unitSlice(family.slice(y, draws));
        const { covariance, divergence } = family.unitMoments!(y, draws);
        const u = field(y);
        const product = dot(direction, u);
        return {
          quadratic: sub(mul(product, product), metricForm(covariance, u)),
          linear: sub(
            drift ? dot(drift, u) : mul(product, 0),
            divergence ? dot(divergence, u) : mul(product, 0),
          ),
        };
      },
      x,
      drawn(spec, [DRAWS]),
    );
    expect(misses(found.quadratic, 0)).toBeLessThan(SIGMAS);
    if (moments(found.linear).error > 0) expect(misses(found.linear, 0)).toBeLessThan(SIGMAS);
    else expect(moments(found.linear).mean).toBe(0);
  });

  it("give a GSSM whose mean is ½sᵀCs + tr(C∇s) + div C·s, and a GSSM-VR with the same mean", async () => {
    const whole = { ...gssm(family).draws(n), ...gssmVr(family).draws(n) };
    const found = await at(
      (y, draws) => ({
        plain: lossOf(gssm(family))(field, y, draws),
        reduced: lossOf(gssmVr(family))(field, y, draws),
      }),
      x,
      drawn(whole, [DRAWS]),
    );
    // A C in closed form is one number at one point, whatever is drawn.
    const rows = family.controlDraws ? DRAWS : 2;
    const exact = await at(
      (y, draws) => {
        const { covariance, divergence } = (family.moments as NonNullable<typeof family.moments>)(
          y,
          draws,
        );
        const s = field(y);
        const value = add(mul(metricForm(covariance, s), 0.5), traceWith(covariance, field, y));
        return divergence ? add(value, dot(divergence, s)) : value;
      },
      repeated(point(n), rows),
      drawn(whole, [rows], "other"),
    );
    const expected = moments(exact);
    const slack = expected.error * SIGMAS;
    for (const values of [found.plain, found.reduced])
      expect(Math.abs(moments(values).mean - expected.mean)).toBeLessThan(
        moments(values).error * SIGMAS + slack + 1e-12,
      );
  });
});

it("has the C and div C of L₁ and L₂ in the paper", async () => {
  const [d, o, l, n] = [1.3, 0.4, 0.7, 3];
  const family = quadraticSlices({ varDiagonal: d, varOffDiagonal: o, varLinear: l });
  const x = numbers("some points", [5, n]);
  const found = await at(
    (y) => {
      const { covariance, divergence } = (family.moments as NonNullable<typeof family.moments>)(
        y,
        {},
      );
      const s = field(y);
      const [xx, ss, xs] = [dot(y, y), dot(s, s), dot(y, s)];
      const l1 = add(
        add(
          mul(sum(mul(mul(s, s), mul(y, y)), -1), d - 2 * o),
          mul(add(mul(xx, ss), mul(xs, xs)), o),
        ),
        mul(ss, l),
      );
      // div C once more, as the divergence of the rows of C.
      const rows = jacobian(
        (z: Tensor) =>
          applyMetric(
            (family.moments as NonNullable<typeof family.moments>)(z, {}).covariance,
            field(y),
          ),
        y,
      );
      return {
        l1: add(metricForm(covariance, s), mul(l1, -1)),
        l2: add(dot(divergence as Tensor, s), mul(xs, -(2 * d + (n - 1) * o))),
        div: add(dot(divergence as Tensor, s), mul(traceOf(rows), -1)),
      };
    },
    x,
    {},
  );
  for (const values of Object.values(found))
    for (const v of values) expect(Math.abs(v)).toBeLessThan(1e-12);
});

it("has a closed form of E[ddᵀ] of normalised quadratic slices, and of its divergence", async () => {
  const [tau2, sigma2, n] = [0.8, 0.3, 5];
  const family = quadraticSlices({
    varDiagonal: 2 * tau2,
    varOffDiagonal: tau2,
    varLinear: sigma2,
    linear: "normal",
  });
  // a = ½ρ ∫₀¹ u^{n/2 − 1}(ρ − (ρ − 1)u)^{−3/2} du by Simpson's rule in √u, where it is smooth
  const along = (r2: number): number => {
    const rho = (2 * tau2 * r2 + sigma2) / (tau2 * r2 + sigma2);
    const f = (w: number): number => w ** (n - 1) * (rho - (rho - 1) * w * w) ** -1.5;
    const cells = 2000;
    let total = f(0) + f(1);
    for (let i = 1; i < cells; i++) total += (i % 2 === 0 ? 2 : 4) * f(i / cells);
    return (rho * total) / (3 * cells);
  };
  const scales = [0, 1e-4, 0.3, 1, 10, 1e4];
  const points = scales.map((s) => [0.2, -0.5, 0.1, 0.7, 0.4].map((v) => s * v));
  const x = constant(points, "float64");
  const moments = family.unitMoments!;
  const [form, flux, trace] = reference(
    [
      metricForm(moments(x, {}).covariance, x),
      dot(moments(x, {}).divergence as Tensor, field(x)),
      traceOf(jacobian((z: Tensor) => applyMetric(moments(z, {}).covariance, field(x)), x)),
    ],
    new Map(),
  );
  scales.forEach((s, i) => {
    const r2 = 0.95 * s * s;
    expect(Math.abs(form[i] - along(r2) * r2)).toBeLessThanOrEqual(1e-12 * r2);
    expect(Math.abs(flux[i] - trace[i])).toBeLessThan(1e-12 + 1e-9 * Math.abs(trace[i]));
  });
});

it("has by default σ₁² = 2/√n, σ₂² = 1/√n, σ₃² = 1 and Rademacher signs, as in the paper's protocol", async () => {
  const n = 5;
  const plain = quadraticSlices();
  const said = quadraticSlices({
    varDiagonal: 2 / Math.sqrt(n),
    varOffDiagonal: 1 / Math.sqrt(n),
    varLinear: 1,
  });
  expect(plain.draws(n)).toEqual(said.draws(n));
  const found = await at(
    (x, d) => ({ plain: plain.slice(x, d).hvp as Tensor, said: said.slice(x, d).hvp as Tensor }),
    numbers("points", [4, n]),
    drawn(plain.draws(n), [4]),
  );
  expect(found.plain).toEqual(found.said);
  expect([plain.draws(n).b.distribution, linearSlices().draws(n).v.distribution]).toEqual([
    "rademacher",
    "rademacher",
  ]);
  for (const objective of [ssm(), ssmVr()])
    expect(objective.draws(n).v.distribution).toBe("rademacher");
});

const traceOf = (m: Tensor): Tensor => {
  const n = m.shape.at(-1) as number;
  return sum(
    mul(
      m,
      Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => (i === j ? 1 : 0))),
    ),
    [-2, -1],
  );
};

describe("the joint sampler of (Ax, A(Ax + b), tr A)", () => {
  const cases = [
    ["with the paper's variances", {}, [0.7, -1.1, 0.4, 1.6]],
    [
      "with a heavier diagonal",
      { varDiagonal: 1.9, varOffDiagonal: 0.5, varLinear: 0.6 },
      [0.7, -1.1, 0.4, 1.6],
    ],
    ["at the origin", {}, [0, 0, 0]],
    ["in two dimensions", {}, [1.2, -0.5]],
  ] as const;
  it.each(cases)(
    "agrees %s with explicit A in all first to third moments",
    async (_, options, x) => {
      const n = x.length;
      const sample = async (explicit: boolean) => {
        const family = quadraticSlices({ ...options, explicit });
        return at(
          (y, draws) => {
            const { grad: w, hvp: aw, laplacian: trace } = family.slice(y, draws);
            return { w, aw: aw as Tensor, trace: trace as Tensor };
          },
          repeated(x, DRAWS),
          drawn(family.draws(n), [DRAWS], explicit ? "explicit" : "joint"),
        );
      };
      const found = [await sample(false), await sample(true)];
      const columns = found.map(({ w, aw, trace }) => [
        ...columnsOf(w, n),
        ...columnsOf(aw, n),
        trace,
      ]);
      const compare = (f: (columns: readonly Float64Array[]) => Float64Array): number => {
        const [p, q] = columns.map((each) => moments(f(each)));
        const error = Math.hypot(p.error, q.error);
        return error === 0 ? Math.abs(p.mean - q.mean) : Math.abs(p.mean - q.mean) / error;
      };
      for (let j = 0; j <= 2 * n; j++) {
        expect(compare((c) => c[j])).toBeLessThan(SIGMAS);
        for (let k = j; k <= 2 * n; k++) {
          expect(compare((c) => product(c[j], c[k]))).toBeLessThan(SIGMAS);
          expect(compare((c) => product(product(c[j], c[k]), c[2 * n]))).toBeLessThan(SIGMAS);
        }
      }
    },
  );
});

const columnsOf = (rows: Float64Array, n: number): Float64Array[] =>
  Array.from({ length: n }, (_, j) => rows.filter((_, i) => i % n === j));
const product = (a: Float64Array, b: Float64Array): Float64Array => a.map((v, i) => v * b[i]);

it("finds the derivatives of any smooth v by autodiff", async () => {
  // v of the Fourier family, once in closed form and once from its value.
  const closed = fourierSlices(1.3);
  const bare = smoothFamily({
    name: "bare",
    draws: closed.draws,
    value: (x, { omega, phase }) =>
      mul(cosine(add(mul(dot(omega, x), 1.3), mul(phase, 2 * Math.PI))), Math.SQRT2 / 1.3),
  });
  const found = await at(
    (x, draws) => {
      const [p, q] = [closed.slice(x, draws), bare.slice(x, draws)];
      return {
        grad: add(p.grad, mul(q.grad, -1)),
        hvp: add(p.hvp as Tensor, mul(q.hvp as Tensor, -1)),
        laplacian: add(p.laplacian as Tensor, mul(q.laplacian as Tensor, -1)),
      };
    },
    numbers("points", [6, 3]),
    drawn(closed.draws(3), [6]),
  );
  for (const values of Object.values(found))
    for (const v of values) expect(Math.abs(v)).toBeLessThan(1e-12);
});

it("averages several slices per point", async () => {
  const family = quadraticSlices();
  const many = gssm(family, { slices: 3 });
  const x = numbers("points", [4, 3]);
  const draws = drawn(many.draws(3), [4]);
  const whole = await at((y, d) => lossOf(many)(field, y, d), x, draws);
  const each = await Promise.all(
    [0, 1, 2].map((k) =>
      at((y, d: Draws<Tensor>) => lossOf(gssm(family))(field, y, cut(d, k)), x, draws),
    ),
  );
  whole.forEach((v, i) => {
    expect(v).toBeCloseTo((each[0][i] + each[1][i] + each[2][i]) / 3, 11);
  });
});

it("with linear slices equals sliced score matching", async () => {
  const family = linearSlices();
  const x = numbers("points", [7, 5]);
  const draws = drawn(gssm(family).draws(5), [7]);
  const found = await at(
    (y, d) => {
      const v = squeezed(d.v);
      const product = dot(v, field(y));
      const direct = add(mul(mul(product, product), 0.5), dot(v, directional(y, v)));
      return { gssm: lossOf(gssm(family))(field, y, d), ssm: lossOf(ssm())(field, y, d), direct };
    },
    x,
    draws,
  );
  expect(found.gssm).toEqual(found.ssm);
  found.gssm.forEach((v, i) => {
    expect(v).toBeCloseTo(found.direct[i], 12);
  });
});

const cut = (draws: Draws<Tensor>, k: number): Draws<Tensor> =>
  Object.fromEntries(Object.entries(draws).map(([name, t]) => [name, slice(t, null, [k, k + 1])]));
const squeezed = (v: Tensor): Tensor => squeeze(v, -2);
const directional = (x: Tensor, v: Tensor): Tensor => jvp(field, x, v)[1];
