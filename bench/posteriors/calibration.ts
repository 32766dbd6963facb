/**
 * Simulation-based calibration (S. Talts, M. Betancourt, D. Simpson, A. Vehtari, A. Gelman, 2018):
 * parameters from the prior, data from them, draws from the posterior; the rank of the truth among
 * the draws is uniform. 64 datasets are 64 chains of one graph: row c of the data belongs to chain
 * c.
 */
import { positive, real, simplex } from "diffeo/domain";
import {
  add,
  addAll,
  div,
  expandDims,
  log,
  mul,
  square,
  squaredNorm,
  sub,
  sum,
} from "diffeo/graph";
import { chainsOf, elementNames, openPosteriorSampler, type PosteriorModel } from "diffeo/mcmc";
import { fold, type Key, key, normal, uniform } from "diffeo/random";
import { countsP, evenly } from "../../packages/diffeo/test/random/statistics.ts";
import { markdown, partial, processorSeconds, recorded } from "./records.ts";

const BATCH = 64;
/** Draws used of each dataset, one in ten, which give 100 ranks; 5 per bin. */
const DRAWS = 99;
const EVERY = 10;
const BINS = 20;

interface Simulated {
  readonly truth: Readonly<Record<string, number>>;
  readonly data: readonly number[];
}

interface Case {
  readonly model: PosteriorModel;
  readonly simulate: (own: Key) => Simulated;
}

const BATCHES = 8;

const normals = (own: Key, count: number): number[] => [
  ...normal(own, [count], { dtype: "float64" }).data,
];
const uniforms = (own: Key, count: number): number[] => [
  ...uniform(own, [count], { dtype: "float64" }).data,
];

const cases: Readonly<Record<string, Case>> = {
  "location and scale": {
    // μ ~ N(0, 1), log σ ~ N(0, ½²), y_i ~ N(μ, σ), i = 1 … 6
    model: {
      parameters: { mu: real(), sigma: positive() },
      logDensity: ({ mu, sigma }, { y }) =>
        addAll([
          mul(square(mu), -0.5),
          sub(mul(square(log(sigma)), -2), log(sigma)),
          mul(squaredNorm(div(sub(y, expandDims(mu, -1)), expandDims(sigma, -1))), -0.5),
          mul(log(sigma), -6),
        ]),
    },
    simulate: (own) => {
      const [mu, s] = normals(fold(own, "prior"), 2);
      const sigma = Math.exp(s / 2);
      return {
        truth: { mu, sigma },
        data: normals(fold(own, "data"), 6).map((z) => mu + sigma * z),
      };
    },
  },
  hierarchy: {
    // μ ~ N(0, 2), τ ~ half-N(0, 1), θ_j = μ + τ t_j, t_j ~ N(0, 1), y_j ~ N(θ_j, 1), j = 1 … 5
    model: {
      parameters: { mu: real(), tau: positive(), t: [real(), 5] },
      derived: { theta: ({ mu, tau, t }) => add(expandDims(mu, -1), mul(expandDims(tau, -1), t)) },
      logDensity: ({ mu, tau, t }, { y }) =>
        mul(
          addAll([
            mul(square(mu), 0.25),
            square(tau),
            squaredNorm(t),
            squaredNorm(sub(y, add(expandDims(mu, -1), mul(expandDims(tau, -1), t)))),
          ]),
          -0.5,
        ),
    },
    simulate: (own) => {
      const [m, s, ...t] = normals(fold(own, "prior"), 7);
      const [mu, tau] = [2 * m, Math.abs(s)];
      const theta = t.map((v) => mu + tau * v);
      const noise = normals(fold(own, "data"), 5);
      return { truth: { mu, tau, "theta[1]": theta[0] }, data: theta.map((v, j) => v + noise[j]) };
    },
  },
  "shares of counts": {
    // θ uniform on the simplex of three parts, 15 counts
    model: {
      parameters: { theta: simplex(3) },
      logDensity: ({ theta }, { y }) => sum(mul(y, log(theta)), -1),
    },
    simulate: (own) => {
      const e = uniforms(fold(own, "prior"), 3).map((u) => -Math.log(u));
      const theta = e.map((v) => v / (e[0] + e[1] + e[2]));
      const counts = [0, 0, 0];
      for (const u of uniforms(fold(own, "data"), 15))
        counts[u < theta[0] ? 0 : u < theta[0] + theta[1] ? 1 : 2]++;
      return { truth: { "theta[1]": theta[0], "theta[3]": theta[2] }, data: counts };
    },
  },
};

interface Calibrated {
  readonly datasets: number;
  readonly counts: Readonly<Record<string, number[]>>;
  readonly p: Readonly<Record<string, number>>;
  readonly seconds: number;
}

const fileName = (name: string): string => `calibration-${name.replaceAll(" ", "-")}`;

async function calibrated(name: string): Promise<Calibrated> {
  const { model, simulate } = cases[name];
  const { now, keep } = partial(fileName(name), {
    done: 0,
    seconds: 0,
    counts: {} as Record<string, number[]>,
  });
  const { counts } = now;
  const open = openPosteriorSampler(model, {
    chains: BATCH,
    draws: DRAWS * EVERY,
    warmup: 300,
    targetAcceptance: 0.9,
  });
  try {
    for (let batch = now.done; batch < BATCHES; batch++) {
      const own = fold(key(name), batch);
      const drawn = Array.from({ length: BATCH }, (_, c) => simulate(fold(own, c)));
      const { draws } = await open({
        key: fold(own, "chains"),
        data: { y: drawn.map(({ data }) => [...data]) },
      });
      for (const [quantity, values] of Object.entries(draws))
        for (const [i, element] of elementNames(quantity, values.shape.slice(2)).entries()) {
          if (drawn[0].truth[element] === undefined) continue;
          counts[element] ??= new Array<number>(BINS).fill(0);
          chainsOf(values, i).forEach((chain, c) => {
            const below = chain.filter(
              (v, at) => at % EVERY === 0 && v < drawn[c].truth[element],
            ).length;
            counts[element][Math.floor((below * BINS) / (DRAWS + 1))]++;
          });
        }
      keep({ done: batch + 1, seconds: now.seconds + processorSeconds(), counts });
      process.stderr.write(`${name}: ${batch + 1} of ${BATCHES}\n`);
    }
  } finally {
    await open.dispose();
  }
  const p = Object.fromEntries(
    Object.entries(counts).map(([element, each]) => [element, countsP(each, evenly(BINS))]),
  );
  return { datasets: BATCHES * BATCH, counts, p, seconds: now.seconds + processorSeconds() };
}

export async function calibration(only: readonly string[] = Object.keys(cases)): Promise<string> {
  const rows: string[][] = [];
  for (const name of Object.keys(cases).filter((each) => only.includes(each))) {
    const found = await recorded(fileName(name), () => calibrated(name));
    rows.push([
      name,
      String(found.datasets),
      Object.entries(found.p)
        .map(([element, p]) => `${element} ${p.toFixed(3)}`)
        .join(", "),
      found.seconds.toFixed(0),
    ]);
  }
  return markdown(["model", "datasets", "p of uniform ranks (χ², 20 bins)", "seconds"], rows);
}
