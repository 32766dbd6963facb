/** log q(y) by the probability flow compared with its exact value. */
import { describe, expect, it } from "vitest";
import {
  additiveLogistic,
  type Bijector,
  each,
  sigmoidMap,
  unitBall,
} from "../../src/bijector/index.ts";
import { gaussian, sampleFrom } from "../../src/distribution/index.ts";
import { evaluate } from "../../src/engine/index.ts";
import { constant, expandDims, type NdArray, type Tensor } from "../../src/graph/index.ts";
import { key } from "../../src/random/index.ts";
import { logDensity } from "../../src/sampler/index.ts";
import { pushLogDensity } from "../../src/score/index.ts";
import { reverse, reversePush, type Sde, vp } from "../../src/sde/index.ts";
import { clusters, exactScore } from "./tools.ts";

const count = 40;
const data = clusters(2);
const x = sampleFrom(data, key("points"), count, "float64");

async function exact(phi: Bijector): Promise<{ y: NdArray; logq: NdArray }> {
  const [y, logq] = await evaluate(
    (z: Tensor) => [phi.forward(z), pushLogDensity(phi, z, data.logDensity(z))],
    x,
  );
  return { y, logq };
}

const worst = (a: NdArray, b: NdArray): number =>
  Math.max(...Array.from(a.data as Float64Array, (v, i) => Math.abs(v - Number(b.data[i]))));

describe("the density of a mixture through a map", () => {
  const sde = vp();
  const score = exactScore(sde, data);

  for (const phi of [sigmoidMap(-1, 3), additiveLogistic(), unitBall()])
    it(`is exact to 1e-3 nats by the probability flow (${phi.name})`, async () => {
      const { y, logq } = await exact(phi);
      const found = await logDensity(reversePush(sde, phi, score), y, {
        tStart: 0,
        type: "float64",
        threads: 1,
      });
      const error = worst(found.logDensity, logq);
      console.log(
        `${phi.name}: worst error ${error.toExponential(1)} nats in ${found.scoreEvaluations} evaluations`,
      );
      expect(error).toBeLessThan(1e-3);
    });

  it("is as exact as the tolerance if the prior is the distribution at T", async () => {
    const { meanFactor, std } = sde.transition;
    const exactPrior: Sde = {
      ...sde,
      prior: {
        ...(sde.prior as NonNullable<Sde["prior"]>),
        logDensity: (z) => {
          const end = constant(sde.horizon, z.dtype);
          return data.marginal(meanFactor(end), std(end)).logDensity(z);
        },
      },
    };
    const { y, logq } = await exact(sigmoidMap());
    const found = await logDensity(reversePush(exactPrior, sigmoidMap(), score), y, {
      tStart: 0,
      tolerance: 1e-8,
      type: "float64",
    });
    expect(worst(found.logDensity, logq)).toBeLessThan(1e-6);
  });

  it("is estimated without bias by random signs, independent per point", async () => {
    const process = reverse(sde, score);
    const options = { tStart: 0, type: "float64", tolerance: 1e-6 } as const;
    const one = await logDensity(process, x, {
      ...options,
      divergence: { probes: 1, key: key(1) },
    });
    const many = await logDensity(process, x, {
      ...options,
      divergence: { probes: 400, key: key(1) },
    });
    const { logDensity: truth } = await logDensity(process, x, options);
    const spread = ({ data }: NdArray): number => {
      const errors = Array.from(data as Float64Array, (v, i) => v - Number(truth.data[i]));
      return Math.hypot(...errors) / Math.sqrt(count);
    };
    console.log(
      `random signs: error ${spread(one.logDensity).toFixed(4)} with 1, ${spread(many.logDensity).toFixed(4)} with 400`,
    );
    expect(spread(many.logDensity)).toBeLessThan(0.1 * spread(one.logDensity));
    const parts = await logDensity(process, x, {
      ...options,
      divergence: { probes: 1, key: key(1) },
      batch: 17,
    });
    expect(worst(parts.logDensity, one.logDensity)).toBeLessThan(1e-4);
  });

  it("is exact with random signs if the Jacobian D is diagonal: eᵀDe is tr D", async () => {
    const round = gaussian({ mean: [0.4, -0.2], covariance: [0.3, 1.4] });
    const process = reverse(sde, exactScore(sde, round));
    const options = { tStart: 0, type: "float64", threads: 1 } as const;
    const { logDensity: exact } = await logDensity(process, x, options);
    const { logDensity: signs } = await logDensity(process, x, {
      ...options,
      divergence: { probes: 3, key: key(1) },
    });
    expect(worst(signs, exact)).toBeLessThan(1e-12);
  });

  it("accepts nested numbers, and refuses points that are not a list of events", async () => {
    const process = reverse(sde, score);
    const rows = [0, 1].map((i) => Array.from((x.data as Float64Array).subarray(2 * i, 2 * i + 2)));
    const options = { type: "float64", tolerance: 1e-3 } as const;
    const [nested, plain] = [
      rows,
      { shape: [2, 2], dtype: "float64" as const, data: Float64Array.from(rows.flat()) },
    ];
    const found = await logDensity(process, nested, options);
    expect(found.logDensity.data).toEqual(
      (await logDensity(process, plain, options)).logDensity.data,
    );
    await expect(logDensity(process, [0.2, 0.3])).rejects.toThrow(
      "the points have shape [2], but the process has eventRank 1",
    );
    await expect(logDensity(process, Float64Array.of(0.2, 0.3) as never)).rejects.toThrow(
      "a Float64Array is given instead of a number",
    );
  });

  it("sums over the sites of a grid", async () => {
    // To the score of one site, sites are only more batch.
    const onSites = (z: Tensor, t: Tensor): Tensor => score(z, expandDims(t, -1));
    const process = reversePush(vp({ eventRank: 2 }), each(additiveLogistic()), onSites);
    const single = await exact(additiveLogistic());
    const y = { ...single.y, shape: [count / 2, 2, 2] };
    const found = await logDensity(process, y, { tStart: 0, type: "float64" });
    const logq = single.logq.data as Float64Array;
    const expected = Array.from({ length: count / 2 }, (_, i) => logq[2 * i] + logq[2 * i + 1]);
    expect(
      Math.max(...expected.map((v, i) => Math.abs(v - Number(found.logDensity.data[i])))),
    ).toBeLessThan(2e-3);
  });

  it("ends with an error after the maximum of steps, which says how far they led", async () => {
    const fine = { tStart: 0, type: "float64", threads: 1, tolerance: 1e-9 } as const;
    const process = reverse(sde, score);
    await expect(logDensity(process, x, { ...fine, mostSteps: 5 })).rejects.toThrow(
      /^after 5 steps with the tolerance 1e-9 from t = 0 the time is 0\.\d+, not 1\. Increase the tolerance/,
    );
    const { steps } = await logDensity(process, x, fine);
    expect((await logDensity(process, x, { ...fine, mostSteps: 2 * steps })).steps).toBe(steps);
  });

  it("refuses points outside the domain, and a missing prior", async () => {
    const outside: NdArray = {
      shape: [2, 2],
      dtype: "float64",
      data: Float64Array.of(0.2, 0.3, 0.9, 0.2),
    };
    await expect(logDensity(reversePush(sde, additiveLogistic(), score), outside)).rejects.toThrow(
      /point 1 is outside the domain of additive logistic/,
    );
    const { prior: _, ...bare } = sde;
    await expect(logDensity(reverse(bare, score), x)).rejects.toThrow(/no prior/);
  });
});
