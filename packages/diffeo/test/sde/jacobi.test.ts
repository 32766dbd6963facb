/** The Jacobi diffusion: its transition, exact samples, angles, reversal, and the simplex. */
import { describe, expect, it } from "vitest";
import { compile } from "../../src/engine/index.ts";
import {
  add,
  constant,
  mul,
  type NdArray,
  ndarray,
  reference,
  reshape,
  softmax,
  stack,
  sub,
  sum,
  type Tensor,
} from "../../src/graph/index.ts";
import { type FloatArray, key, sampleKeys, uniform } from "../../src/random/index.ts";
import { sample } from "../../src/sampler/index.ts";
import { pulledScore, pushLogDensity, pushScore } from "../../src/score/index.ts";
import {
  jacobi,
  jacobiSimplex,
  type MarginalScore,
  pushedDiffusion,
  pushedDrift,
  reversePush,
} from "../../src/sde/index.ts";
import { energyDistance } from "../../src/two-sample/index.ts";

const numbers = (t: Tensor): number[] => Array.from(reference([t], new Map())[0] as Float64Array);
const f64 = (values: number | number[] | number[][]): Tensor =>
  constant(values as never, "float64");
const GRID = 2000;
const midpoints = Array.from({ length: GRID }, (_, i) => (i + 0.5) / GRID);

describe("the transition of the Jacobi diffusion", () => {
  const a = 1.7;
  const b = 2.4;
  const { logTransition, firstTime, sampleTransition } = jacobi({ a, b, rate: 0.8 });
  const from = (z0: number, t: number): number[] =>
    numbers(logTransition(f64(midpoints.map((z) => [z])), f64([[z0]]), f64(t))).map(Math.exp);
  const mean = (density: number[], f: (z: number) => number): number =>
    density.reduce((s, p, i) => s + p * f(midpoints[i]), 0) / GRID;

  it.each([
    [0.15, 0.2],
    [0.9, 1],
    [0.5, 3],
  ])("from %f at t = %f has mass 1 and the mean of the linear drift", (z0, t) => {
    const density = from(z0, t);
    const rest = a / (a + b);
    expect(mean(density, () => 1)).toBeCloseTo(1, 5);
    expect(mean(density, (z) => z)).toBeCloseTo(
      rest + (z0 - rest) * Math.exp((-0.8 * (a + b) * t) / 2),
      5,
    );
  });

  it("composes: p₀ₛ and pₛₜ make p₀ₜ", () => {
    const first = from(0.2, 0.3);
    const second = numbers(logTransition(f64([[0.7]]), f64(midpoints.map((z) => [z])), f64(0.4)));
    const [direct] = numbers(logTransition(f64([[0.7]]), f64([[0.2]]), f64(0.7)));
    const composed = first.reduce((s, p, i) => s + p * Math.exp(second[i]), 0) / GRID;
    expect(composed).toBeCloseTo(Math.exp(direct), 5);
  });

  it("is finite from `firstTime` on, and positive far from its starting point", () => {
    expect(
      from(0.5, firstTime)
        .slice(600, 1400)
        .every((p) => p > 0),
    ).toBe(true);
  });

  it.each([0.02, 0.4, 2])("has exact samples at t = %f", (t) => {
    const count = 4000;
    const z0 = ndarray(
      Array.from({ length: count }, () => [0.3]),
      "float64",
    ) as FloatArray;
    const { data } = sampleTransition(sampleKeys(key(4), count), z0, t);
    // E z² by its equation m₂˙ = s((1 + a)m₁ − (1 + a + b)m₂), in closed form.
    const [s, theta, rest] = [0.8, a + b, a / (a + b)];
    const first = (at: number): number => rest + (0.3 - rest) * Math.exp((-s * theta * at) / 2);
    let m2 = 0.09;
    const steps = 20_000;
    for (let k = 0; k < steps; k++) {
      const at = ((k + 0.5) * t) / steps;
      m2 += (t / steps) * s * ((1 + a) * first(at) - (1 + theta) * m2);
    }
    const all = Array.from(data as Float64Array);
    const seen = [1, 2].map((k) => all.reduce((sum, z) => sum + z ** k, 0) / count);
    const variance = m2 - first(t) ** 2;
    expect(Math.abs(seen[0] - first(t))).toBeLessThan(4 * Math.sqrt(variance / count));
    expect(seen[1] - seen[0] ** 2).toBeCloseTo(variance, 2);
    expect(Math.abs((seen[1] - seen[0] ** 2) / variance - 1)).toBeLessThan(0.1);
  });

  it("is reflected Brownian motion of the angle for a = b = ½", () => {
    const { logTransition: log, phi } = jacobi({ a: 0.5, b: 0.5, rate: 1.3 });
    const [theta0, theta, t] = [0.4, 0.9, 0.3];
    const z = phi.forward(f64([[theta]]));
    const [logZ] = numbers(log(z, phi.forward(f64([[theta0]])), f64(t)));
    const [slope] = numbers(phi.logDet(f64([[theta]])));
    const bell = (d: number): number =>
      Math.exp((-d * d) / (2 * 1.3 * t)) / Math.sqrt(2 * Math.PI * 1.3 * t);
    const images = [-2, -1, 0, 1, 2].flatMap((k) => [
      bell(theta - theta0 + 2 * Math.PI * k),
      bell(theta + theta0 + 2 * Math.PI * k),
    ]);
    expect(Math.exp(logZ + slope)).toBeCloseTo(
      images.reduce((x, y) => x + y, 0),
      9,
    );
  });
});

describe("the angle", () => {
  const { sde, angle, phi } = jacobi({ a: [1.2, 3], b: [2, 0.8], rate: [0.7, 1] });
  it("follows z by Itô's lemma, and has the prior of z", () => {
    const [theta, t] = [f64([[0.4, 2.6]]), f64([0.5])];
    const z = phi.forward(theta);
    const pairs = [
      [pushedDrift(angle, phi, theta, t), sde.drift(z, t)],
      [pushedDiffusion(angle, phi, theta, t).value, sde.diffusion(z, t).value],
      [
        pushLogDensity(phi, theta, angle.prior?.logDensity(theta) as Tensor),
        sde.prior?.logDensity(z) as Tensor,
      ],
      [phi.inverse(z), theta],
    ];
    for (const [pushed, own] of pairs)
      numbers(pushed).forEach((v, i) => {
        expect(v).toBeCloseTo(numbers(own)[i], 10);
      });
  });
});

describe("the reversed process", () => {
  it("ends in its initial distribution on the simplex", async () => {
    const { angle, sticks, phi, logTransition, transitionScore, sampleTransition } = jacobiSimplex({
      alpha: [1, 1, 1],
      terms: 40,
    });
    const atoms = [
      [0.1, 0.5],
      [0.7, 0.9],
      [0.5, 0.2],
    ];
    const [count, tEnd] = [1000, 0.15];
    const likeAtom = (z: Tensor, a: number[]): Tensor => add(mul(z, 0), constant(a, z.dtype));
    /** Of three equal atoms, in sticks. */
    const score: MarginalScore = (z, t) => {
      const weights = softmax(
        stack(
          atoms.map((a) => logTransition(z, likeAtom(z, a), t)),
          -1,
        ),
        -1,
      );
      const scores = stack(
        atoms.map((a) => transitionScore(z, likeAtom(z, a), t)),
        -1,
      );
      return sum(mul(scores, reshape(weights, [...z.shape.slice(0, -1), 1, 3])), -1);
    };
    const inSimplex = (y: Tensor, t?: Tensor): Tensor => {
      const z = sticks.inverse(y);
      return pushScore(sticks, z, score(z, t as Tensor));
    };
    const engine = { device: "wasm", type: "float64" } as const;
    const process = reversePush(angle, phi, pulledScore(phi, inSimplex) as MarginalScore);
    const { samples } = await sample(process, {
      ...{ shape: [2], count, key: key(5), steps: 100, tEnd, solver: "domainPreserving" },
      ...engine,
    });
    const which = uniform(key(6), [count]).data;
    const start = ndarray(
      Array.from({ length: count }, (_, i) => atoms[Math.floor(3 * which[i])]),
      "float64",
    ) as FloatArray;
    const end = sampleTransition(sampleKeys(key(7), count), start, tEnd);
    const forward = compile((z: Tensor) => sticks.forward(z), [[count, 2]], engine);
    const exact: NdArray = await forward(end);
    const { excess } = energyDistance(samples, exact, { key: key(8) });
    expect(Math.abs(excess)).toBeLessThan(4);
    await forward.dispose();
  });

  it("has the Dirichlet distribution at the end", () => {
    const alpha = [0.8, 2.5, 1.4];
    const { sde, sticks } = jacobiSimplex({ alpha });
    const y = f64([[0.2, 0.45]]);
    const z = sticks.inverse(y);
    const log = pushLogDensity(sticks, z, sde.prior?.logDensity(z) as Tensor);
    // Γ(4.7)/(Γ(.8)Γ(2.5)Γ(1.4)) = 11.2306…, from Γ(4.7) = 15.431412, Γ(.8) = 1.164230,
    // Γ(2.5) = 1.329340, Γ(1.4) = .887264
    const height = 15.431412 / (1.16423 * 1.32934 * 0.887264);
    const expected = height * 0.2 ** -0.2 * 0.45 ** 1.5 * 0.35 ** 0.4;
    expect(Math.exp(numbers(log)[0]) / expected).toBeCloseTo(1, 5);
    expect(numbers(sub(sticks.forward(z), y)).every((d) => Math.abs(d) < 1e-12)).toBe(true);
  });
});

it("rejects numbers that are not positive, and lists of different lengths", () => {
  expect(() => jacobi({ a: 0 })).toThrow(/positive/);
  expect(() => jacobi({ a: [1, 2], b: [1, 2, 3] })).toThrow(/2 numbers for 3/);
  expect(() => jacobiSimplex({ alpha: [1] })).toThrow(/at least two/);
});
