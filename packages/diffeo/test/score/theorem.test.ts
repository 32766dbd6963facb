import { describe, expect, it } from "vitest";
import {
  additiveLogistic,
  catalogue,
  chain,
  expMap,
  isometricLogRatio,
  pullVector,
  pushVector,
  sigmoidMap,
  stereographic,
  unitBall,
} from "../../src/bijector/index.ts";
import { gaussian, mixture } from "../../src/distribution/index.ts";
import {
  add,
  div,
  dot,
  exp,
  expandDims,
  gradEach,
  log,
  mul,
  neg,
  softplus,
  sqrt,
  squaredNorm,
  stack,
  sub,
  sum,
  type Tensor,
  tanh,
} from "../../src/graph/index.ts";
import {
  pulledScore,
  pullLogDensity,
  pullScore,
  pushedScore,
  pushLogDensity,
  pushScore,
  pushScoreLine,
  pushScoreLineInverse,
  stackedMarginalScores,
} from "../../src/score/index.ts";
import { distance, run } from "../bijector/support.ts";

const distribution = mixture([
  {
    weight: 0.3,
    distribution: gaussian({
      mean: [1, -0.5],
      covariance: [
        [0.8, 0.3],
        [0.3, 0.5],
      ],
    }),
  },
  { weight: 0.7, distribution: gaussian({ mean: [-1, 0.4], covariance: 0.6 }) },
]);

describe("Theorem 1", () => {
  const x = [
    [0.3, -0.8],
    [1.4, 0.6],
  ];

  it("gives, in the paper's form with the divergence of a matrix, the same score", async () => {
    for (const phi of [additiveLogistic(), unitBall(), isometricLogRatio(), sigmoidMap(-2, 5)]) {
      const printed = (at: Tensor): Tensor => {
        // A(x) = J_{φ⁻¹}(φ(x))ᵀ by rows: Aᵢ = J⁻¹eᵢ, whose divergence is the i-th term.
        const rows = [0, 1].map((i) => {
          const row = (z: Tensor): Tensor =>
            pullVector(phi, z, add(mul(z, 0), i === 0 ? [1, 0] : [0, 1]));
          const score = distribution.score(at);
          const divergence = [0, 1].map((k) =>
            gradEach((z) => dot(row(z), k === 0 ? [1, 0] : [0, 1]))(at),
          );
          const trace = add(dot(divergence[0], [1, 0]), dot(divergence[1], [0, 1]));
          return add(dot(row(at), score), trace);
        });
        return stack(rows, -1);
      };
      const ours = await run((z) => pushScore(phi, z, distribution.score(z)), x);
      expect(distance(ours, await run(printed, x)), phi.name).toBeLessThan(1e-10);
    }
  });

  it("pushes the score to the gradient of the pushed density, as a function of y", async () => {
    for (const phi of [additiveLogistic(), unitBall(), chain(unitBall(), expMap())]) {
      const logDensity = (y: Tensor): Tensor => {
        const z = phi.inverse(y);
        return pushLogDensity(phi, z, distribution.logDensity(z));
      };
      const y = await run((z) => phi.forward(z), x);
      const points = [y.slice(0, 2), y.slice(2)];
      const score = await run((z) => pushedScore(phi, distribution.score)(z), points);
      expect(distance(score, await run(gradEach(logDensity), points)), phi.name).toBeLessThan(
        1e-10,
      );
    }
  });

  it("pulls a score back to the gradient of the pulled density", async () => {
    const phi = additiveLogistic();
    const logDensity = (z: Tensor): Tensor =>
      pullLogDensity(phi, z, distribution.logDensity(phi.forward(z)));
    const score = await run((z) => pulledScore(phi, distribution.score)(z), x);
    expect(distance(score, await run(gradEach(logDensity), x))).toBeLessThan(1e-12);
  });

  it("pushes through one map after another as through their composition", async () => {
    const [a, b] = [unitBall(), additiveLogistic()];
    const stepwise = await run(
      (z) => pushScore(b, a.forward(z), pushScore(a, z, distribution.score(z))),
      x,
    );
    expect(
      distance(await run((z) => pushScore(chain(a, b), z, distribution.score(z)), x), stepwise),
    ).toBeLessThan(1e-12);
  });

  it("depends on time with the map", async () => {
    const { map } = catalogue.find((e) => e.name === "timeAffine") as (typeof catalogue)[number];
    const pushed = await run((z, t) => pushScore(map, z, distribution.score(z), t), x, [0.2, 0.9]);
    const scores = await run((z) => distribution.score(z), x);
    expect(
      distance(
        pushed,
        scores.map((s, i) => s * Math.exp(0.7 * (i < 2 ? 0.2 : 0.9))),
      ),
    ).toBeLessThan(1e-13);
    const back = await run(
      (z, t) => pullScore(map, z, pushScore(map, z, distribution.score(z), t), t),
      x,
      [0.2, 0.9],
    );
    expect(distance(back, scores)).toBeLessThan(1e-14);
    // As functions of a point: with the distribution first as that of x, then as that of y.
    const there = await run(
      (z, t) => pulledScore(map, pushedScore(map, distribution.score))(z, t),
      x,
      [0.2, 0.9],
    );
    expect(distance(there, scores)).toBeLessThan(1e-13);
    const here = await run((z, t) => pulledScore(map, distribution.score)(z, t), x, [0.2, 0.9]);
    const ofImage = await run(
      (z, t) => pullScore(map, z, distribution.score(map.forward(z, t)), t),
      x,
      [0.2, 0.9],
    );
    expect(here).toEqual(ofImage);
  });

  it("preserves probability: a pushed density integrates to 1 over the simplex, and over the ball", async () => {
    // Midpoints of a grid over the square around each domain; the integrand vanishes towards its
    // boundary.
    const cells = 400;
    const inside = (
      phi: typeof additiveLogistic,
      low: number,
      keep: (a: number, b: number) => boolean,
    ) => {
      const h = (1 - low) / cells;
      const points: number[][] = [];
      for (let i = 0; i < cells; i++)
        for (let k = 0; k < cells; k++) {
          const [a, b] = [low + (i + 0.5) * h, low + (k + 0.5) * h];
          if (keep(a, b)) points.push([a, b]);
        }
      return run((y) => {
        const z = phi().inverse(y);
        return mul(sum(exp(pushLogDensity(phi(), z, distribution.logDensity(z)))), h * h);
      }, points);
    };
    const [simplex] = await inside(additiveLogistic, 0, (a, b) => a + b < 1);
    const [ball] = await inside(unitBall, -1, (a, b) => a * a + b * b < 1);
    expect(Math.abs(simplex - 1)).toBeLessThan(2e-3);
    expect(Math.abs(ball - 1)).toBeLessThan(2e-3);
  });

  it("gives a score along the sphere, and a density that integrates to 1 over its area", async () => {
    const phi = stereographic();
    const normal = await run(
      (z) => dot(pushScore(phi, z, distribution.score(z)), phi.forward(z)),
      x,
    );
    expect(distance(normal, [0, 0])).toBeLessThan(1e-13);
    // Along the sphere from y towards a tangent w, on a great circle: d log q is the pushed score's
    // share of w.
    const h = 1e-5;
    const derivative = await run((z) => {
      const y = phi.forward(z);
      const tangent = pushVector(phi, z, add(mul(z, 0), [1, -0.5]));
      const w = div(tangent, expandDims(sqrt(squaredNorm(tangent)), -1));
      const logDensity = (p: Tensor): Tensor => {
        const back = phi.inverse(p);
        return pushLogDensity(phi, back, distribution.logDensity(back));
      };
      const along = (s: number): Tensor =>
        logDensity(add(mul(y, Math.cos(s)), mul(w, Math.sin(s))));
      const slope = mul(sub(along(h), along(-h)), 1 / (2 * h));
      return sub(slope, dot(pushScore(phi, z, distribution.score(z)), w));
    }, x);
    expect(distance(derivative, [0, 0])).toBeLessThan(1e-8);
    // Area of Sⁿ in stereographic coordinates is λⁿ dx: with polar coordinates (θ, a) of S², sin θ
    // dθ da.
    const [rings, turns] = [300, 300];
    const points: number[][] = [];
    const areas: number[] = [];
    for (let i = 0; i < rings; i++)
      for (let k = 0; k < turns; k++) {
        const [theta, a] = [(Math.PI * (i + 0.5)) / rings, (2 * Math.PI * (k + 0.5)) / turns];
        points.push([
          Math.sin(theta) * Math.cos(a),
          Math.sin(theta) * Math.sin(a),
          Math.cos(theta),
        ]);
        areas.push((Math.sin(theta) * Math.PI * 2 * Math.PI) / (rings * turns));
      }
    const [mass] = await run(
      (y, area) => {
        const z = phi.inverse(y);
        return sum(mul(exp(pushLogDensity(phi, z, distribution.logDensity(z))), area));
      },
      points,
      areas,
    );
    expect(Math.abs(mass - 1)).toBeLessThan(1e-4);
  });
});

describe("maps of the line", () => {
  const x = [-1.3, 0.2, 0.9];
  const score = (z: Tensor): Tensor => sub(tanh(z), z); // of p ∝ cosh(x) e^{−x²/2}, a mixture of two Gaussians

  it("give the same score in both forms of the paper, and by Theorem 1", async () => {
    const forms = [
      await run((z) => pushScoreLine(softplus, z, score(z)), x),
      await run((z) => pushScoreLineInverse((y) => log(sub(exp(y), 1)), softplus(z), score), x),
    ];
    // softplus: y′ = σ(x), y″ = σ(x)σ(−x), by hand.
    const byHand = x.map((v) => {
      const [up, down] = [1 / (1 + Math.exp(-v)), 1 / (1 + Math.exp(v))];
      return (up * (Math.tanh(v) - v) - up * down) / (up * up);
    });
    for (const form of forms) expect(distance(form, byHand)).toBeLessThan(1e-12);
  });

  it("into Rⁿ give the scores of the marginals, stacked", async () => {
    const curve = (z: Tensor): Tensor => stack([exp(z), softplus(z), mul(z, -2)], -1);
    const stacked = await run((z) => stackedMarginalScores(curve, z, score(z)), x);
    const singles = [
      await run((z) => pushScoreLine((w) => exp(w), z, score(z)), x),
      await run((z) => pushScoreLine(softplus, z, score(z)), x),
      await run((z) => neg(mul(score(z), 0.5)), x),
    ];
    expect(
      distance(
        stacked,
        x.flatMap((_, i) => singles.map((s) => s[i])),
      ),
    ).toBeLessThan(1e-13);
    await expect(run((z) => stackedMarginalScores(exp, z, z), x)).rejects.toThrow(
      /return one more axis/i,
    );
  });
});
