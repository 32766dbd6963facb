/** Reversal compared with finite differences, exact marginals and closed forms. */
import { describe, expect, it } from "vitest";
import { columnsOf } from "../../src/bijector/coefficient.ts";
import {
  additiveLogistic,
  expMap,
  itoTrace,
  pullItoTrace,
  pullVector,
  timeAffine,
  unitBall,
} from "../../src/bijector/index.ts";
import { gaussian, mixture } from "../../src/distribution/index.ts";
import {
  add,
  div,
  dot,
  expandDims,
  jvp,
  log,
  mul,
  neg,
  onesLike,
  square,
  sub,
  sum,
  type Tensor,
  traceJacobian,
  transpose,
} from "../../src/graph/index.ts";
import { key, normal, sampleKeys } from "../../src/random/index.ts";
import {
  applyCovariance,
  cosineSchedule,
  covarianceDivergence,
  edm,
  flowVelocity,
  type GaussianSde,
  gaussianPrior,
  interpolant,
  linearSchedule,
  ornsteinUhlenbeck,
  push,
  pushedReverseDrift,
  pushPrior,
  reverseDrift,
  type Sde,
  type SdeSpec,
  sdeOf,
  sdes,
  subVp,
  ve,
  vp,
} from "../../src/sde/index.ts";
import { at, draws, field, gaussianSdes, relativeError, slope, stateDependent } from "./table.ts";

const batch = 4;
const times = [[batch], [0.15, 0.4, 0.65, 0.9]] as const;
const shape = [batch, 3];
const x = draws("points", shape).map((v) => 0.4 * v);

describe("∇·(G Gᵀ)", () => {
  const pushed = stateDependent.map((make) => push(make(1), unitBall()));
  for (const sde of [...stateDependent.map((make) => make(1)), ...pushed])
    it(`equals the divergence by finite differences (${sde.name})`, () => {
      const exact = at(
        (z, t) => covarianceDivergence((p) => sde.diffusion(p, t), z, 1),
        [shape, x],
        times,
      );
      const total = new Float64Array(x.length);
      for (let j = 0; j < 3; j++) {
        const unit = [shape, Float64Array.from(x, (_, i) => (i % 3 === j ? 1 : 0))] as const;
        const column = (h: number): Float64Array =>
          at(
            (z, e, t) => applyCovariance(sde.diffusion(add(z, mul(e, h)), t), e, [3]),
            [shape, x],
            unit,
            times,
          );
        slope(column, 1e-3).forEach((v, i) => {
          total[i] += v;
        });
      }
      expect(relativeError(exact, total)).toBeLessThan(1e-9);
    });

  it("is the same for a number, a diagonal and an equal matrix", () => {
    for (const make of stateDependent.slice(0, 2)) {
      const sde = make(1);
      const dense: Sde = {
        ...sde,
        diffusion: (z, t) => {
          const columns = columnsOf(sde.diffusion(z, t), z, 1);
          const axes = [...columns.shape.keys()];
          return { kind: "matrix", value: transpose(columns, [...axes.slice(1), 0]) };
        },
      };
      for (const of of [reverseDrift, flowVelocity]) {
        const own = at((z, t) => of(sde, field(1), z, t), [shape, x], times);
        const same = at((z, t) => of(dense, field(1), z, t), [shape, x], times);
        expect(relativeError(own, same)).toBeLessThan(1e-12);
      }
    }
  });
});

/** ∂ₜ log p + v·∇ log p + ∇·v, which vanishes if v carries p_t along. */
function continuity(
  logDensity: (z: Tensor, t: Tensor) => Tensor,
  score: (z: Tensor, t: Tensor) => Tensor,
  sde: Sde,
  points: Float64Array,
): { readonly residual: Float64Array; readonly rate: Float64Array } {
  const rate = (z: Tensor, t: Tensor): Tensor =>
    jvp((s: Tensor) => logDensity(z, s), t, onesLike(t))[1];
  const residual = (z: Tensor, t: Tensor): Tensor => {
    const v = (p: Tensor): Tensor => flowVelocity(sde, score, p, t);
    return add(add(rate(z, t), dot(v(z), score(z, t))), traceJacobian(v, z));
  };
  return { residual: at(residual, [shape, points], times), rate: at(rate, [shape, points], times) };
}

const size = (v: Float64Array): number => Math.max(...v.map(Math.abs));

describe("the probability flow", () => {
  const data = mixture([
    { weight: 2, distribution: gaussian({ mean: [1, -0.5, 0.3], covariance: 0.3 }) },
    { distribution: gaussian({ mean: [-0.8, 0.6, 0], covariance: [0.5, 0.1, 0.4] }) },
  ]);

  for (const make of Object.values(gaussianSdes))
    it(`preserves the exact marginals of a mixture (${make(1).name})`, () => {
      const sde = make(1);
      const { meanFactor, std } = sde.transition;
      const distribution = (t: Tensor) => data.marginal(meanFactor(t), std(t));
      const { residual, rate } = continuity(
        (z, t) => distribution(t).logDensity(z),
        (z, t) => distribution(t).score(z),
        sde,
        x,
      );
      expect(size(residual) / size(rate)).toBeLessThan(1e-9);
    });

  it("preserves log-normal marginals for noise proportional to x", () => {
    // dX = ½ X dt + X dW is e^W with W ~ N(0.2, 0.3 + t) in each coordinate
    const sde: Sde = {
      name: "geometric Brownian motion",
      eventRank: 1,
      horizon: 1,
      drift: (z) => mul(z, 0.5),
      diffusion: (z) => ({ kind: "diagonal", value: z }),
    };
    const variance = (t: Tensor): Tensor => expandDims(add(t, 0.3), -1);
    const logDensity = (z: Tensor, t: Tensor): Tensor => {
      const w = log(z);
      const quadratic = div(square(sub(w, 0.2)), mul(variance(t), 2));
      return neg(sum(add(add(quadratic, w), mul(log(variance(t)), 0.5)), -1));
    };
    const score = (z: Tensor, t: Tensor): Tensor =>
      neg(div(add(div(sub(log(z), 0.2), variance(t)), 1), z));
    const { residual, rate } = continuity(logDensity, score, sde, x.map(Math.exp));
    expect(size(residual) / size(rate)).toBeLessThan(1e-12);
  });
});

/** Each SDE with options of its own. */
const specs: readonly (readonly [SdeSpec, GaussianSde])[] = [
  [{ kind: "vp", min: 0.2, max: 7 }, vp({ schedule: linearSchedule({ min: 0.2, max: 7 }) })],
  [
    { kind: "vpCosine", offset: 0.1, horizon: 0.8 },
    vp({ schedule: cosineSchedule({ offset: 0.1, horizon: 0.8 }) }),
  ],
  [{ kind: "subVp", max: 7 }, subVp({ schedule: linearSchedule({ max: 7 }) })],
  [{ kind: "ve", sigmaMin: 0.1 }, ve({ sigmaMin: 0.1 })],
  [
    { kind: "ornsteinUhlenbeck", rate: 2, noise: 0.5, horizon: 3 },
    ornsteinUhlenbeck({ rate: 2, noise: 0.5, horizon: 3 }),
  ],
  [{ kind: "edm", sigmaMax: 5 }, edm({ sigmaMax: 5 })],
  [{ kind: "interpolant", horizon: 0.95 }, interpolant({ horizon: 0.95 })],
];

describe("an SDE by its name", () => {
  const state = [
    [2, 1],
    [0.7, -1.3],
  ] as const;
  const t = [[2], [0.2, 0.6]] as const;

  it.each(specs)("%o has the options it names", (spec, sde) => {
    const found = sdeOf(spec);
    expect([found.name, found.horizon]).toEqual([sde.name, sde.horizon]);
    expect(at(found.drift, state, t)).toEqual(at(sde.drift, state, t));
    expect(at(found.transition.std, t)).toEqual(at(sde.transition.std, t));
  });

  it("is one of the table", () => {
    expect(specs.map(([{ kind }]) => kind)).toEqual(Object.keys(sdes));
    expect(() => sdeOf({ kind: "brownian" } as never)).toThrow(/unknown SDE "brownian".*vpCosine/);
    expect(() => sdeOf({ kind: "ve", sigma: 1 } as never)).toThrow(
      /SDE has no option "sigma"\. It has sigmaMin, sigmaMax/,
    );
  });
});

describe("a Gaussian transition", () => {
  for (const [kind, make] of Object.entries(gaussianSdes))
    it.each([
      ["by default", make(1)],
      ["with options", specs.find(([spec]) => spec.kind === kind)?.[1] as GaussianSde],
    ])(`solves the moment equations of its SDE and begins at the data (${kind} %s)`, (_, sde) => {
      const { meanFactor, std } = sde.transition;
      // f = a(t) x and G = g(t):  m′ = a m,  (σ²)′ = 2aσ² + g²
      const grid = [[4], [0.02, 0.3, 0.6, 0.9]] as const;
      const rate = (t: Tensor): Tensor => sum(sde.drift(expandDims(onesLike(t), -1), t), -1);
      const noise = (t: Tensor): Tensor => square(sde.diffusion(expandDims(t, -1), t).value);
      const slopeOf = (f: (t: Tensor) => Tensor) => (t: Tensor) => jvp(f, t, onesLike(t))[1];
      const variance = (t: Tensor): Tensor => square(std(t));
      const scale = at((t) => noise(t), grid);
      const mean = at((t) => sub(slopeOf(meanFactor)(t), mul(rate(t), meanFactor(t))), grid);
      const spread = at(
        (t) => sub(slopeOf(variance)(t), add(mul(mul(rate(t), variance(t)), 2), noise(t))),
        grid,
      );
      expect(size(mean)).toBeLessThan(1e-12 * Math.max(1, size(scale)));
      expect(size(spread)).toBeLessThan(1e-12 * Math.max(1, size(scale)));
      expect(at((t) => meanFactor(t), [[1], [0]])[0]).toBeCloseTo(1, 14);
      expect(at((t) => std(t), [[1], [0]])[0]).toBe(0);
    });
});

describe("priors", () => {
  it("are pushed with the map's volume: N(0, s²) through exp is log-normal", () => {
    const pushed = pushPrior(gaussianPrior(1.5, 1), expMap(), 1);
    const y = x.map(Math.exp);
    const found = at((p) => pushed.logDensity(p), [shape, y]);
    const expected = at(
      (p) => {
        const w = log(p);
        const each = add(
          add(div(square(w), 2 * 1.5 ** 2), w),
          Math.log(1.5) + 0.5 * Math.log(2 * Math.PI),
        );
        return neg(sum(each, -1));
      },
      [shape, y],
    );
    expect(relativeError(found, expected)).toBeLessThan(1e-13);
  });

  it("are pushed by the map at T, samples like the density", () => {
    // At T = 2 this is y = 0.6x + 2, so that N(0, 1.5²) becomes N(2, 0.9²).
    const map = timeAffine({ scale: (t) => add(mul(t, -0.2), 1), shift: (t) => t });
    const [own, pushed] = [gaussianPrior(1.5, 1), pushPrior(gaussianPrior(1.5, 1), map, 2)];
    const exact = Math.log(0.9) + 0.5 * Math.log(2 * Math.PI);
    const found = at((p) => pushed.logDensity(p), [[3, 1], [1, 2, 4]]); // biome-ignore format: points
    [1, 2, 4].forEach((y, i) => {
      expect(found[i]).toBeCloseTo(-exact - (y - 2) ** 2 / (2 * 0.81), 13);
    });
    const keys = sampleKeys(key("prior"), 3);
    const standard = normal(keys, [2], { dtype: "float64" }).data;
    own.sample(keys, [2], "float64").data.forEach((v, i) => {
      expect(v).toBeCloseTo(1.5 * standard[i], 15);
    });
    pushed.sample(keys, [2], "float64").data.forEach((v, i) => {
      expect(v).toBeCloseTo(0.9 * standard[i] + 2, 14);
    });
  });

  it("match the process: at T the transition is independent of the data", () => {
    const slow = ornsteinUhlenbeck({ rate: 0.5, noise: 3, horizon: 10 });
    for (const make of [...Object.values(gaussianSdes), () => slow]) {
      const sde = make(1);
      const { meanFactor, std } = sde.transition;
      const [m] = at((t) => meanFactor(t), [[1], [sde.horizon]]);
      const [sigma] = at((t) => std(t), [[1], [sde.horizon]]);
      expect(m / sigma, sde.name).toBeLessThan(0.021);
      const [density] = at(
        (z) => (sde.prior as NonNullable<Sde["prior"]>).logDensity(z),
        [[1, 1], [0]],
      );
      const spread = Math.exp(-density) / Math.sqrt(2 * Math.PI);
      expect(Math.abs(spread / sigma - 1), sde.name).toBeLessThan(1e-4);
    }
  });
});

describe("on the simplex", () => {
  const sde = ornsteinUhlenbeck({ noise: 1.3 });
  const phi = additiveLogistic();

  it("the reverse drift is f̂ᵢ = yᵢ(kᵢ − Σ yⱼkⱼ) with k = f̄ + ½g²(2y − 1)", () => {
    const lemma = at((z, t) => pushedReverseDrift(sde, phi, field(1), z, t), [shape, x], times);
    const closed = at(
      (z, t) => {
        const y = phi.forward(z);
        const k = add(reverseDrift(sde, field(1), z, t), mul(sub(mul(y, 2), 1), 0.5 * 1.3 ** 2));
        return mul(y, sub(k, expandDims(dot(y, k), -1)));
      },
      [shape, x],
      times,
    );
    expect(relativeError(lemma, closed)).toBeLessThan(1e-13);
  });

  it("J⁻¹Tr[GᵀHG] = g²(1 − 2y) is the change in x from scaling the drift of y", () => {
    const found = at(
      (z, t) => pullVector(phi, z, itoTrace(phi, z, sde.diffusion(z, t))),
      [shape, x],
      times,
    );
    const closed = at((z) => mul(sub(1, mul(phi.forward(z), 2)), 1.3 ** 2), [shape, x]);
    expect(relativeError(found, closed)).toBeLessThan(1e-12);
    // Far beyond the last positive number that y could be, the closed form is still one.
    const far = at(
      (z, t) => pullItoTrace(phi, z, sde.diffusion(z, t)),
      [
        [1, 2],
        [-2000, 2000],
      ],
      [[1], [0.5]],
    );
    expect(Array.from(far)).toEqual([1.3 ** 2, -(1.3 ** 2)]);
  });
});

it("rejects a map and an SDE whose events have different ranks", () => {
  expect(() => push(ornsteinUhlenbeck({ eventRank: 3 }), additiveLogistic())).toThrow(
    /eventRank 3.* has 1/,
  );
});
