/** Predictions compared with closed forms. */
import { describe, expect, it } from "vitest";
import {
  dirichlet,
  halfNormal,
  multinomial,
  multivariateNormal,
  normal,
  poisson,
} from "../../src/distribution/index.ts";
import { ordered, real } from "../../src/domain/index.ts";
import { mul, take } from "../../src/graph/index.ts";
import {
  logLikelihood,
  model,
  type Posterior,
  posteriorPredictive,
  priorPredictive,
  samplePosterior,
} from "../../src/mcmc/index.ts";
import { key } from "../../src/random/index.ts";

const moments = (v: ArrayLike<number>): { mean: number; sd: number; error: number } => {
  const mean = Array.from(v).reduce((a, b) => a + b, 0) / v.length;
  const sd = Math.sqrt(Array.from(v).reduce((s, x) => s + (x - mean) ** 2, 0) / v.length);
  return { mean, sd, error: sd / Math.sqrt(v.length) };
};
const column = (data: Float64Array, i: number, of: number): Float64Array =>
  data.filter((_, k) => k % of === i);

describe("the prior predictive", () => {
  it("samples parameters in order, derived quantities and observations", async () => {
    const m = model(({ parameter, observe, derive }, { group }) => {
      const mu = parameter("mu", normal(1, 2));
      const theta = parameter("theta", normal(mu, 0.5), { shape: 3, centred: false });
      derive("twice", mul(mu, 2));
      observe("y", poisson({ logRate: mul(take(theta, group), 0.1) }));
    });
    const draws = 4000;
    const { prior, predictive } = await priorPredictive(m, {
      key: key(1),
      draws,
      data: { group: [0, 2, 2, 1] },
    });
    expect([prior.mu.shape, prior.theta.shape, predictive.y.shape]).toEqual([
      [1, draws],
      [1, draws, 3],
      [1, draws, 4],
    ]);
    const mu = moments(prior.mu.data);
    expect(Math.abs(mu.mean - 1)).toBeLessThan(4.5 * mu.error);
    expect(mu.sd).toBeCloseTo(2, 0);
    const apart = moments(column(prior.theta.data, 1, 3).map((t, s) => t - prior.mu.data[s]));
    expect(Math.abs(apart.mean)).toBeLessThan(4.5 * apart.error);
    expect(Math.abs(apart.sd - 0.5)).toBeLessThan(0.03);
    expect(prior.twice.data[7]).toBe(2 * prior.mu.data[7]);
    const excess = moments(
      column(predictive.y.data, 1, 4).map(
        (n, s) => n - Math.exp(0.1 * prior.theta.data[3 * s + 2]),
      ),
    );
    expect(Math.abs(excess.mean)).toBeLessThan(4.5 * excess.error);
  });

  it("stays in the domains of parameters", async () => {
    const m = model(({ parameter, observe }) => {
      const a = parameter("a", normal([0, 1], 1), { domain: ordered(2) });
      const top = parameter("top", halfNormal(1));
      const b = parameter("b", normal(0, 1), { domain: { above: 0, below: top } });
      const p = parameter("p", dirichlet([1, 2, 3]), { shape: 2 });
      observe("n", multinomial(5, p));
      observe(
        "v",
        multivariateNormal({
          mean: a,
          covariance: [
            [1, 0.5],
            [0.5, 1],
          ],
        }),
      );
      observe("w", normal(b, 1));
    });
    const { prior, predictive } = await priorPredictive(m, { key: key(2), draws: 300 });
    for (let s = 0; s < 300; s++) {
      expect(prior.a.data[2 * s + 1]).toBeGreaterThan(prior.a.data[2 * s]);
      expect(prior.b.data[s] > 0 && prior.b.data[s] < prior.top.data[s]).toBe(true);
      const [x, y, z] = predictive.n.data.subarray(6 * s + 3, 6 * s + 6);
      expect(x + y + z).toBe(5);
    }
    expect(predictive.v.shape).toEqual([1, 300, 2]);
  });

  it("rejects models that cannot be sampled", async () => {
    const flat = model(({ parameter, observe }) =>
      observe("y", normal(parameter("mu", real()), 1)),
    );
    await expect(priorPredictive(flat, { key: key(1) })).rejects.toThrow(
      'parameter("mu") has a flat density',
    );
    const other = model(({ parameter, factor }) => factor("f", parameter("mu", normal())));
    await expect(priorPredictive(other, { key: key(1) })).rejects.toThrow('factor("f")');
  });
});

describe("a posterior", () => {
  const m = model(({ parameter, observe }, { x }) => {
    const b = parameter("b", normal(0, 10));
    observe("y", normal(mul(b, x), 0.5));
  });
  // With prior precision 1/100 and Σ x²/σ² = 14/0.25: b ~ N(m, v).
  const data = { x: [1, 2, 3], y: [1.1, 1.8, 3.3] };
  const v = 1 / (0.01 + 14 / 0.25);
  const mean = v * ((1.1 + 3.6 + 9.9) / 0.25);
  const drawn = (): Promise<Posterior> => samplePosterior(m, { data, key: key(3), draws: 1000 });

  it("predicts at other data, and replicates the observations", async () => {
    const posterior = await drawn();
    const { y } = await posteriorPredictive(m, posterior, { key: key(4), data: { x: [10, 20] } });
    expect(y.shape).toEqual([4, 1000, 2]);
    const far = moments(column(y.data, 1, 2));
    expect(Math.abs(far.mean - 20 * mean)).toBeLessThan(0.4);
    expect(Math.abs(far.sd / Math.sqrt(400 * v + 0.25) - 1)).toBeLessThan(0.1);
    const again = await posteriorPredictive(m, posterior, { key: key(4) });
    expect(again.y.shape).toEqual([4, 1000, 3]);
    const likelihood = await logLikelihood(m, posterior);
    expect(likelihood.y.shape).toEqual([4, 1000, 3]);
    const b = posterior.draws.b.data[1234];
    [1.1, 1.8, 3.3].forEach((seen, i) => {
      const z = (seen - b * (i + 1)) / 0.5;
      const wanted = -0.5 * z * z - Math.log(0.5) - 0.5 * Math.log(2 * Math.PI);
      expect(likelihood.y.data[1234 * 3 + i]).toBeCloseTo(wanted, 12);
    });
  });

  it("rejects other groups, and models without statements", async () => {
    const groups = model(({ parameter, observe }, { n }) => {
      const t = parameter("t", normal(), { shape: n });
      observe("y", normal(t, 1));
    });
    const posterior = await samplePosterior(groups, {
      data: { n: 2, y: [1, 2] },
      key: key(5),
      draws: 20,
      warmup: 20,
    });
    await expect(
      posteriorPredictive(groups, posterior, { key: key(1), data: { n: 3 } }),
    ).rejects.toThrow('parameter("t") has shape [3] at these data, and [2]');
    const { program: _, ...rest } = groups;
    await expect(
      posteriorPredictive(rest as typeof groups, posterior, { key: key(1) }),
    ).rejects.toThrow("need a model of statements");
  });

  it("is refused for a model without observations", async () => {
    const m = model(({ parameter, factor }) => {
      const mu = parameter("mu", normal(0, 1));
      factor("likelihood", mul(mu, -0.5));
    });
    const options = { key: key(1), warmup: 50, draws: 10, device: "wasm" } as const;
    const posterior = await samplePosterior(m, options);
    const message = "the model has no observations";
    await expect(logLikelihood(m, posterior)).rejects.toThrow(message);
    await expect(posteriorPredictive(m, posterior, { key: key(2) })).rejects.toThrow(message);
  });
});
