/** What a network may predict, and how its errors are weighed. */

import {
  BOUND,
  categorical,
  type Denoiser,
  denoiserLoss,
  denoiserScore,
  type Parameterisation,
  parameterisations,
  standardise,
} from "diffeo/categorical";
import { compile, evaluate } from "diffeo/engine";
import {
  add,
  constant,
  div,
  expandDims,
  gradEach,
  jacobian,
  log,
  logSumExp,
  mean,
  mul,
  type NdArray,
  neg,
  oneHot,
  softmax,
  square,
  sub,
  sum,
  type Tensor,
  take,
} from "diffeo/graph";
import { denoising } from "diffeo/matching";
import { type NetworkSpec, networkOf, type Parameters } from "diffeo/model";
import { fold, integers, key, normal, uniform } from "diffeo/random";
import { vp } from "diffeo/sde";
import { flatten, unflatten } from "diffeo/train";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

const names = Object.keys(parameterisations) as Parameterisation[];
const SHARES = [0.2, 0.1, 0.7];
const N = SHARES.length - 1;
const encodingOf = (grid: readonly number[]) =>
  categorical(standardise(SHARES, { grid, epsilon: 0.05 }));
const points = (grid: readonly number[] = [1]): NdArray => ({
  shape: [N + 1, N],
  dtype: "float64",
  data: encodingOf(grid).points,
});

describe("the four parameterisations", () => {
  it("have the same score and mean for exact networks, those of the closed form", async () => {
    const f = compile(
      (x: Tensor, m: Tensor, sigma: Tensor, shares: Tensor) => {
        // One site of known shares: p_t = Σ p_k N(m c_k, σ²I). Its score by autodiff; the posterior
        // by Bayes.
        const codes = constant(points(), "float64");
        const logits = (z: Tensor): Tensor => {
          const gap = sub(expandDims(z, -2), mul(m, codes));
          return sub(log(shares), div(sum(square(gap), -1), mul(square(sigma), 2)));
        };
        const exact = gradEach((z: Tensor) => logSumExp(logits(z), -1))(x);
        const x0 = sum(mul(expandDims(softmax(logits(x)), -1), codes), -2);
        const out = { noise: neg(mul(sigma, exact)), score: exact, x0, posterior: logits(x) };
        const at = { x, m, sigma, codes };
        return {
          exact,
          x0,
          scores: Object.fromEntries(
            names.map((name) => [name, parameterisations[name].score(out[name], at)]),
          ),
          means: Object.fromEntries(
            names.map((name) => [name, parameterisations[name].mean(out[name], at)]),
          ),
        };
      },
      [[null, N], [], [], [N + 1]],
      { type: "float64", threads: 1 },
    );
    const number = (min: number, max: number) => fc.double({ min, max, noNaN: true });
    await fc.assert(
      fc.asyncProperty(
        fc.array(number(-3, 3), { minLength: 5 * N, maxLength: 5 * N }),
        number(0.05, 0.999),
        fc.array(number(0.05, 1), { minLength: N + 1, maxLength: N + 1 }),
        async (x, m, weights) => {
          const total = weights.reduce((a, b) => a + b);
          const shares = weights.map((w) => w / total);
          const result = await f(Float64Array.from(x), m, Math.sqrt(1 - m * m), shares);
          for (const name of names)
            x.forEach((_, i) => {
              const s = Number(result.exact.data[i]);
              const mean = Number(result.x0.data[i]);
              expect(
                Math.abs(Number(result.scores[name].data[i]) - s),
                `score, ${name}`,
              ).toBeLessThan(1e-9 * (1 + Math.abs(s)));
              expect(
                Math.abs(Number(result.means[name].data[i]) - mean),
                `mean, ${name}`,
              ).toBeLessThan(1e-9);
            });
        },
      ),
      { numRuns: 50 },
    );
    await f.dispose();
  });

  it.each(names)(
    "%s: an output without loss has the score −ε/σ of the noise that was added",
    async (name) => {
      const [m, sigma] = [0.6, 0.8];
      const noise = normal(key("truth"), [4, N], { dtype: "float64" });
      const { loss, score } = await evaluate(
        (classes: Tensor, e: Tensor) => {
          const codes = constant(points(), "float64");
          const x0 = take(codes, classes);
          const x = add(mul(x0, m), mul(e, sigma));
          const certain = mul(sub(oneHot(classes, N + 1, "float64"), 1), 50);
          const out = { noise: e, score: mul(e, -1 / sigma), x0, posterior: certain }[name];
          const at = { x, m: constant(m, "float64"), sigma: constant(sigma, "float64"), codes };
          const { loss: lossOf, score: scoreOf } = parameterisations[name];
          return { loss: lossOf(out, at, { classes, x0, noise: e }), score: scoreOf(out, at) };
        },
        { shape: [4], dtype: "int32", data: Int32Array.of(0, 1, 2, 1) },
        noise,
      );
      expect(Math.abs(Number(loss.data[0]))).toBeLessThan(1e-15);
      noise.data.forEach((e, i) => {
        expect(Math.abs(Number(score.data[i]) + e / sigma)).toBeLessThan(1e-12);
      });
    },
  );
});

const BATCH = 6;

/** A denoiser on a small grid, with weights drawn so that nothing is zero, and a batch for it. */
function toy(grid: readonly [number, number], parameterisation: Parameterisation) {
  const network: NetworkSpec = {
    kind: "unet",
    channels: N,
    width: 8,
    multipliers: [1],
    blocks: 1,
    groups: 4,
    position: grid,
    outputs: parameterisations[parameterisation].outputs(N + 1, N),
  };
  const encoding = encodingOf(grid);
  const denoiser: Denoiser = {
    network: networkOf(network),
    parameterisation,
    codes: points(grid),
    site: encoding.site,
    sde: vp({ eventRank: 3 }),
  };
  const k = key(`toy ${grid} ${parameterisation}`);
  const parameters = networkOf(network).init(k);
  const theta = normal(fold(k, "theta"), [flatten(parameters).length], { dtype: "float64" });
  const unpack = (flat: Tensor): Parameters<Tensor> => unflatten(mul(flat, 0.3), parameters);
  const classes = integers(fold(k, "classes"), [BATCH, ...grid], 0, N + 1);
  const t = uniform(fold(k, "t"), [BATCH], { dtype: "float64", low: 0.05, high: 1 });
  const noise = normal(fold(k, "noise"), [BATCH, ...grid, N], { dtype: "float64" });
  return { denoiser, encoding, unpack, arrays: [theta, classes, t, noise] as const };
}

const close = (a: NdArray, b: NdArray): void => {
  const [x, y] = [Number(a.data[0]), Number(b.data[0])];
  expect(Math.abs(y)).toBeGreaterThan(1e-3);
  expect(Math.abs(x / y - 1)).toBeLessThan(1e-10);
};

describe.each(["jacobian", "bounded"] as const)("the weight %s", (weight) => {
  it.each(names)(
    "equals the general loss through the map on one square, for a network that predicts %s",
    async (name) => {
      const { denoiser, encoding, unpack, arrays } = toy([1, 1], name);
      const general = denoising(denoiser.sde, {
        through: encoding.phi,
        ...(weight === "bounded" && { bound: BOUND }),
      });
      const { own, other } = await evaluate(
        (theta: Tensor, classes: Tensor, t: Tensor, noise: Tensor) => {
          const p = unpack(theta);
          const x0 = take(constant(denoiser.codes, "float64"), classes);
          return {
            own: denoiserLoss(denoiser, p, classes, t, noise, { weight }),
            other: mul(mean(general(denoiserScore(denoiser, p), x0, t, noise)), 1 / N),
          };
        },
        ...arrays,
      );
      close(own, other);
    },
  );

  it.each(names)("measures each square's error on its own simplex: %s", async (name) => {
    const grid = [2, 2] as const;
    const { denoiser, encoding, unpack, arrays } = toy(grid, name);
    const bound = 50;
    const { own, other } = await evaluate(
      (theta: Tensor, classes: Tensor, t: Tensor, noise: Tensor) => {
        const p = unpack(theta);
        const own = denoiserLoss(denoiser, p, classes, t, noise, { weight, bound });
        // σ²‖J_{φ⁻¹}ᵀ(s + ε/σ)‖² with J_{φ⁻¹} by autodiff of the inverse, a row of squares at a
        // time.
        const time = expandDims(expandDims(expandDims(t, -1), -1), -1);
        const [m, sigma] = [
          denoiser.sde.transition.meanFactor(time),
          denoiser.sde.transition.std(time),
        ];
        const x0 = take(constant(denoiser.codes, "float64"), classes);
        const x = add(mul(m, x0), mul(sigma, noise));
        const error = add(denoiserScore(denoiser, p)(x, t), div(noise, sigma));
        const inverse = jacobian((y: Tensor) => encoding.site.inverse(y), encoding.site.forward(x));
        const seen = sum(mul(inverse, expandDims(error, -1)), -2);
        const size = mul(square(sigma), expandDims(sum(square(seen), -1), -1));
        const stretch = expandDims(mul(sum(square(inverse), [-2, -1]), 1 / N), -1);
        const weighed = weight === "bounded" ? div(size, add(div(stretch, bound), 1)) : size;
        return { own, other: mul(mean(weighed), 1 / N) };
      },
      ...arrays,
    );
    close(own, other);
  });
});

it("equals the plain loss without a weight", async () => {
  const { denoiser, unpack, arrays } = toy([2, 2], "noise");
  const { own, other } = await evaluate(
    (theta: Tensor, classes: Tensor, t: Tensor, noise: Tensor) => {
      const p = unpack(theta);
      const general = denoising(denoiser.sde);
      const x0 = take(constant(denoiser.codes, "float64"), classes);
      return {
        own: denoiserLoss(denoiser, p, classes, t, noise),
        other: mul(mean(general(denoiserScore(denoiser, p), x0, t, noise)), 1 / (4 * N)),
      };
    },
    ...arrays,
  );
  close(own, other);
});
