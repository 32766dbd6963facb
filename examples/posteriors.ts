/** Three advanced models: a Gaussian process, a hidden Markov model and a differential equation. */
import { ordered, positive, simplex } from "diffeo/domain";
import {
  add,
  addAll,
  at,
  cholesky,
  combineAll,
  div,
  exp,
  expand,
  expandDims,
  eye,
  flip,
  log,
  logSumExp,
  mul,
  neg,
  slice,
  solve,
  square,
  squaredNorm,
  squeeze,
  stack,
  sub,
  sum,
  type Tensor,
} from "diffeo/graph";
import { approximate, type PosteriorModel, samplePosterior } from "diffeo/mcmc";
import { key, normal } from "diffeo/random";

const noise = (seed: number, count: number) =>
  Array.from(normal(key(seed), [count], { dtype: "float64" }).data);
/** One number per chain, with one or two additional axes. */
const wide = (v: Tensor): Tensor => expandDims(v, -1);
const cell = (v: Tensor): Tensor => wide(wide(v));
const halfNormal = (v: Tensor): Tensor => mul(square(v), -0.5);

// y ~ N(0, K + σ²I), K_ij = α² exp(−(x_i − x_j)²/2ρ²). With L Lᵀ the covariance: log p = −½|L⁻¹y|²
// − Σ log L_ii.
const gaussianProcess: PosteriorModel = {
  parameters: { rho: positive(), alpha: positive(), sigma: positive() },
  logDensity: ({ rho, alpha, sigma }, { x, y }) => {
    const [chains, n] = [rho.shape[0], y.shape[0]];
    const one = eye(n, "float64");
    const distance = div(sub(wide(x), x), cell(rho));
    const kernel = mul(square(cell(alpha)), exp(mul(square(distance), -0.5)));
    const l = cholesky(add(kernel, mul(square(cell(sigma)), one)));
    const residual = squeeze(solve(l, expand(wide(y), [chains, n, 1])), -1);
    const logDet = sum(log(sum(mul(l, one), -1)), -1);
    const priors = [sub(mul(log(rho), 4), mul(rho, 4)), halfNormal(alpha), halfNormal(sigma)];
    return addAll([mul(squaredNorm(residual), -0.5), neg(logDet), ...priors]);
  },
};

// States z_t with z_t ~ P[z_{t−1}], y_t ~ N(μ_{z_t}, σ). The sum over all sequences of states is a
// product of matrices, computed pairwise. A loop over t would make a graph of many more, smaller
// operations.
const logProduct = (a: Tensor, b: Tensor): Tensor =>
  logSumExp(add(expandDims(a, -1), expandDims(b, -3)), -2); // Σ_k a[i, k] b[k, j]
const hiddenMarkov: PosteriorModel = {
  parameters: { P: [simplex(2), 2], mu: ordered(2), sigma: positive() },
  logDensity: ({ P, mu, sigma }, { y }) => {
    const n = y.shape[0];
    // log p(y_t | state) [chains, t, state], and log P[from, to] p(y_t | to) [chains, t, from, to]
    const seen = sub(
      mul(square(div(sub(wide(y), expandDims(mu, 1)), cell(sigma))), -0.5),
      cell(log(sigma)),
    );
    const steps = add(expandDims(slice(seen, null, [1, n]), 2), expandDims(log(P), 1));
    const paths = add(wide(at(seen, 0, 1)), combineAll(logProduct, steps, 1));
    return addAll([logSumExp(paths, [1, 2]), mul(squaredNorm(mu), -0.05), halfNormal(sigma)]);
  },
};

// u′ = (a − b v) u, v′ = (−c + d u) v, observed at t = 0, 1, 2, … with a relative error, by two
// Runge–Kutta steps of ½ between times.
const predatorPrey: PosteriorModel = {
  parameters: { rate: [positive(), 4], start: [positive(), 2], sigma: positive() },
  logDensity: ({ rate, start, sigma }, { y }) => {
    const [a, b, c, d] = [0, 1, 2, 3].map((k) => at(rate, k, 1));
    const [alone, together] = [stack([a, neg(c)], 1), stack([neg(b), d], 1)];
    const slope = (s: Tensor): Tensor => mul(s, add(alone, mul(together, flip(s, 1))));
    const rungeKutta = (s: Tensor, h: number): Tensor => {
      const k1 = slope(s);
      const k2 = slope(add(s, mul(k1, h / 2)));
      const k3 = slope(add(s, mul(k2, h / 2)));
      const k4 = slope(add(s, mul(k3, h)));
      return add(s, mul(add(add(k1, k4), mul(add(k2, k3), 2)), h / 6));
    };
    const states = [start];
    for (let t = 1; t < y.shape[0]; t++) {
      let s = states[t - 1];
      for (let k = 0; k < 2; k++) s = rungeKutta(s, 1 / 2);
      states.push(s);
    }
    const residuals = div(sub(log(y), log(stack(states, 1))), cell(sigma));
    const guess = (v: Tensor, about: readonly number[]): Tensor =>
      sum(sub(mul(square(sub(log(v), about.map(Math.log))), -2), log(v)), -1);
    return addAll([
      mul(sum(square(residuals), [1, 2]), -0.5),
      mul(log(sigma), -2 * y.shape[0]),
      guess(rate, [0.5, 0.05, 0.5, 0.05]),
      guess(start, [20, 5]),
      halfNormal(mul(sigma, 4)),
    ]);
  },
};

const x = Array.from({ length: 20 }, (_, i) => -2 + 0.2 * i);
const states = Array.from({ length: 60 }, (_, t) => (Math.floor(t / 15) % 2 === 0 ? -1 : 2));
const errors = noise(3, 20);
const hares = [20, 25, 32, 38, 37, 27, 17, 12, 10, 11].map((v, t) => v * Math.exp(0.1 * errors[t]));
const lynxes = [5, 5, 6, 9, 15, 20, 19, 14, 10, 7].map(
  (v, t) => v * Math.exp(0.1 * errors[10 + t]),
);

const draws = Number(process.argv[2] ?? 500);
for (const [name, model, data] of [
  [
    "Gaussian process",
    gaussianProcess,
    { x, y: noise(1, 20).map((e, i) => Math.sin(2 * x[i]) + 0.2 * e) },
  ],
  ["hidden Markov model", hiddenMarkov, { y: noise(2, 60).map((e, t) => states[t] + 0.5 * e) }],
  ["predator and prey", predatorPrey, { y: hares.map((v, t) => [v, lynxes[t]]) }],
] as const) {
  // Chains that start close to the mode need only a short warm-up.
  const start = await approximate(model, { key: key(name), data });
  const posterior = await samplePosterior(model, {
    key: key(name),
    data,
    start,
    draws,
    warmup: draws,
  });
  console.log(`${name}:`);
  for (const [number, { mean, sd, rhat }] of Object.entries(posterior.summary()))
    console.log(
      `  ${number.padEnd(9)} ${mean.toFixed(3)} ± ${sd.toFixed(3)}, R̂ ${rhat.toFixed(2)}`,
    );
}
