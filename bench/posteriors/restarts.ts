/**
 * Chains that start where the posterior has no mass, with and without restarts (mcmc/restart.ts):
 * an ARMA(1, 1), whose density at random starts is as low as e^{−10⁷⁰}, and accel_gp with a seed
 * for which one chain gets stuck. R̂ is the largest of all quantities.
 */
import { halfCauchy, normal } from "diffeo/distribution";
import { add, concat, linearRecurrence, mul, sub, type Tensor } from "diffeo/graph";
import { type Data, model, type PosteriorModel, samplePosterior } from "diffeo/mcmc";
import { key, normal as normalNumbers } from "diffeo/random";
import { modelOf, referenceOf } from "./agree.ts";
import { markdown, recorded } from "./records.ts";

/** y_t = μ + φ y_{t−1} + θ e_{t−1} + e_t, e_t ~ N(0, σ), the first y around its mean μ + φμ. */
const arma = model(({ parameter, observe }, { first, before, y }) => {
  const mu = parameter("mu", normal(0, 10));
  const phi = parameter("phi", normal(0, 2));
  const theta = parameter("theta", normal(0, 2));
  const sigma = parameter("sigma", halfCauchy(2.5));
  const without = (value: Tensor, lag: Tensor): Tensor => sub(value, add(mu, mul(phi, lag)));
  const rest = concat([without(first, mu), without(y, before)], 0);
  observe("errors", normal(0, sigma), linearRecurrence(mul(theta, -1), rest));
});

/** 200 numbers of the process with φ = 0.9, θ = 0.7, σ = 0.15. */
function armaData(): Data {
  const errors = normalNumbers(key(3), [200], { dtype: "float64" }).data.map((z) => 0.15 * z);
  const y = [3 + errors[0]];
  for (let t = 1; t < errors.length; t++)
    y.push(0.3 + 0.9 * y[t - 1] + 0.7 * errors[t - 1] + errors[t]);
  return { first: [y[0]], before: y.slice(0, -1), y: y.slice(1) };
}

interface Found {
  readonly restarted: number;
  readonly rhat: number;
  readonly ess: number;
}

async function drawn(
  target: PosteriorModel,
  data: Data,
  seed: number,
  options: { readonly restart: boolean; readonly targetAcceptance?: number },
): Promise<Found> {
  const posterior = await samplePosterior(target, {
    key: key(seed),
    data,
    device: "wasm",
    ...options,
  });
  const rows = Object.values(posterior.summary());
  return {
    restarted: posterior.chains.filter(({ restart }) => restart).length,
    rhat: Math.max(...rows.map(({ rhat }) => rhat)),
    ess: Math.min(...rows.map(({ bulkEss, tailEss }) => Math.min(bulkEss, tailEss))),
  };
}

export async function restarts(): Promise<string> {
  const cases = [
    ...Array.from({ length: 8 }, (_, i) => ["ARMA(1, 1)", i + 1] as const),
    ["accel_gp", 1] as const,
  ];
  const rows: string[][] = [];
  for (const [name, seed] of cases) {
    const isArma = name !== "accel_gp";
    const target = isArma ? arma : await modelOf(name);
    const data = isArma ? armaData() : referenceOf(name).data;
    const more = isArma ? {} : { targetAcceptance: 0.9 };
    const found = await recorded(`restarts-${isArma ? "arma" : name}-${seed}`, async () => ({
      without: await drawn(target, data, seed, { restart: false, ...more }),
      with: await drawn(target, data, seed, { restart: true, ...more }),
    }));
    rows.push([
      name,
      String(seed),
      found.without.rhat.toFixed(3),
      String(found.with.restarted),
      found.with.rhat.toFixed(3),
      found.with.ess.toFixed(0),
    ]);
  }
  return markdown(
    ["posterior", "seed", "R̂ without restarts", "chains restarted", "R̂", "least ESS"],
    rows,
  );
}
