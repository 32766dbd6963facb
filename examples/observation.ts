/**
 * An inverse problem: the prior is a diffusion, and the posterior given an observation is sampled.
 *
 * The prior is a mixture of three kinds of soil, as shares of sand, silt and clay. Two observations
 * of a sample of soil: of ten grains 6 were sand, 1 silt and 3 clay; a sieve found .30 ± .03 of
 * sand. Guidance is an approximation, particles are exact in the limit of many, and weighted
 * samples of the prior are the reference. The first argument is the number of samples of each
 * method (default 1,000).
 */
import { additiveLogistic } from "diffeo/bijector";
import { gaussian, mixture, sampleFrom } from "diffeo/distribution";
import { evaluate } from "diffeo/engine";
import { add, at, log, mul, type NdArray, square, sub, sum, type Tensor } from "diffeo/graph";
import { fold, key } from "diffeo/random";
import { particles, sample } from "diffeo/sampler";
import { condition, reversePush, vp } from "diffeo/sde";

const COUNT = Number(globalThis.process.argv[2] ?? 1000);
const seed = key(7);

// The prior is in x, the plane; φ maps x to the shares (sand, silt), and clay is the rest.
const phi = additiveLogistic();
const soils = mixture([
  { weight: 2, distribution: gaussian({ mean: [1.2, 0.4], covariance: 0.15 }) },
  { weight: 1, distribution: gaussian({ mean: [-0.9, 0.9], covariance: 0.25 }) },
  { weight: 1, distribution: gaussian({ mean: [-0.3, -1.1], covariance: 0.2 }) },
]);
const sde = vp();
const { meanFactor, std } = sde.transition;
const score = (x: Tensor, t: Tensor): Tensor => soils.marginal(meanFactor(t), std(t)).score(x);
const prior = reversePush(sde, phi, score);

// log p(observation | shares), up to a constant.
const grains = (y: Tensor): Tensor => {
  const [sand, silt, clay] = [at(y, 0, -1), at(y, 1, -1), sub(1, sum(y, -1))];
  return add(add(mul(log(sand), 6), log(silt)), mul(log(clay), 3));
};
const sieve = (y: Tensor): Tensor => mul(square(sub(at(y, 0, -1), 0.3)), -0.5 / 0.03 ** 2);

/** The mean ± sd of sand and silt, optionally weighted. */
function moments({ data, shape }: NdArray, weights?: ArrayLike<number>): string {
  const each = (f: (i: number) => number): number => {
    let [total, of] = [0, 0];
    for (let i = 0; i < shape[0]; i++) {
      total += (weights?.[i] ?? 1) * f(i);
      of += weights?.[i] ?? 1;
    }
    return total / of;
  };
  const show = (c: number): string => {
    const mean = each((i) => Number(data[2 * i + c]));
    const sd = Math.sqrt(each((i) => (Number(data[2 * i + c]) - mean) ** 2));
    return `${mean.toFixed(3)} ± ${sd.toFixed(3)}`;
  };
  return `sand ${show(0)}, silt ${show(1)}`;
}

const options = { shape: [2], steps: 100, threads: 1 };
const { samples } = await sample(prior, { ...options, count: COUNT, key: fold(seed, "prior") });
console.log(`prior              ${moments(samples)}`);

const ROWS = 100_000;
const reference = await sampleFrom(soils, fold(seed, "reference"), ROWS);

for (const [name, seen] of Object.entries({ grains, sieve })) {
  const posterior = condition(prior, seen);
  const guided = await sample(posterior, { ...options, count: COUNT, key: fold(seed, "guided") });
  const weighted = await particles(posterior, {
    ...options,
    particles: COUNT,
    key: fold(seed, "particles"),
  });
  const [y, logLikelihood] = (await evaluate((x: Tensor) => {
    const shares = phi.forward(x);
    return [shares, seen(shares)];
  }, reference)) as readonly NdArray[];
  const weights = Array.from(logLikelihood.data as Float32Array, Math.exp);
  const evidence = Math.log(weights.reduce((a, b) => a + b) / ROWS);
  console.log(`
${name}, guidance   ${moments(guided.samples)}
${name}, particles  ${moments(weighted.samples)}, log evidence ${weighted.logEvidence.toFixed(2)}, effective ${weighted.ess.toFixed(0)} of ${COUNT}
${name}, reference  ${moments(y, weights)}, log evidence ${evidence.toFixed(2)}`);
}
