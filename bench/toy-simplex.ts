/**
 * The toy task of flows and diffusions on the simplex (H. Stark et al., "Dirichlet flow matching
 * with applications to DNA sequence design", 2024): sequences of 4 sites, each with its own random
 * distribution over K classes. The measure is KL(empirical ‖ true) summed over the sites.
 *
 *   npx tsx --conditions=diffeo-source bench/toy-simplex.ts --classes 20,40,80,160 --count 100000
 *
 * Two models: the exact posterior, which leaves only the error of map, process and steps, and a
 * transformer trained on data (`--steps`, 0 for none). N samples of the distribution itself are
 * 4 (K − 1)/(2N) away on average, the floor. `--fitted` fits the times of the sampler to the model's
 * error by time, which needs fewer evaluations.
 */
import { parseArgs } from "node:util";
import {
  errorsByTime,
  freshModel,
  type Model,
  openGrids,
  type SimplexMap,
  standardise,
  trainGrid,
} from "diffeo/categorical";
import { constant, expand, type Tensor } from "diffeo/graph";
import { fold, type Key, key, uniform } from "diffeo/random";
import { textOptions } from "./text-options.ts";

const { values } = parseArgs({
  options: {
    ...textOptions({
      classes: "20,40,80,160",
      count: "100000",
      evaluations: "25,100",
      maps: "additiveLogistic,isometricLogRatio,stickBreaking",
      steps: "2000",
      threads: "1",
    }),
    fitted: { type: "boolean", default: false },
  },
});
const SITES = 4;
const count = Number(values.count);
const threads = Number(values.threads);

/** The distributions of the sites, uniform on the simplex: exponential numbers over their sum. */
function distributionsOf(classes: number, own: Key): number[][] {
  const { data } = uniform(own, [SITES, classes], { dtype: "float64" });
  return Array.from({ length: SITES }, (_, s) => {
    const weights = Array.from(
      data.subarray(s * classes, (s + 1) * classes),
      (u) => -Math.log(1 - Number(u)),
    );
    const total = weights.reduce((a, b) => a + b);
    return weights.map((w) => w / total);
  });
}

/** Samples classes of the sites. */
function drawn(distributions: readonly (readonly number[])[], rows: number, own: Key): Uint8Array {
  const { data } = uniform(own, [rows * SITES], { dtype: "float64" });
  return Uint8Array.from(data, (u, i) => {
    const shares = distributions[i % SITES];
    let [k, sum] = [0, shares[0]];
    while (sum < Number(u) && k < shares.length - 1) sum += shares[++k];
    return k;
  });
}

/** Σ over sites of KL(empirical ‖ true). */
function divergence(distributions: readonly (readonly number[])[], samples: Uint8Array): number {
  const rows = samples.length / SITES;
  const counts = distributions.map((shares) => new Float64Array(shares.length));
  samples.forEach((k, i) => {
    counts[i % SITES][k]++;
  });
  return distributions.reduce(
    (sum, shares, s) =>
      sum +
      shares.reduce((kl, p, k) => {
        const q = counts[s][k] / rows;
        return q === 0 ? kl : kl + q * Math.log(q / p);
      }, 0),
    0,
  );
}

/** The posterior of independent sites: their distributions; the model adds the likelihoods. */
function exactModel(distributions: readonly (readonly number[])[], map: SimplexMap): Model {
  const classes = distributions[0].length;
  const shares = distributions[0].map((_, k) =>
    distributions.reduce((sum, shares) => sum + shares[k] / SITES, 0),
  );
  const model = freshModel(
    {
      parameterisation: "posterior",
      sees: "likelihoods",
      encoding: standardise(shares, { grid: [SITES], map }),
      // Its place is taken below.
      network: {
        ...{ kind: "exchangeable", channels: classes, grid: [SITES] },
        ...{ groups: [[[0]]], width: 1, layers: 1 },
      },
    },
    key(0),
  );
  const apply = (_: unknown, x: Tensor): Tensor =>
    expand(constant([distributions.map((shares) => shares.map(Math.log))], x.dtype), x.shape);
  return {
    ...model,
    denoiser: { ...model.denoiser, network: { ...model.denoiser.network, apply } },
  };
}

/** The model with its error by time, to which the times of the sampler are then fitted. */
async function withErrors(
  model: Model,
  distributions: readonly number[][],
  own: Key,
): Promise<Model> {
  const classes = drawn(distributions, 2000, fold(own, "classes"));
  return {
    ...model,
    errors: await errorsByTime(model, classes, { key: own, batch: 500, threads }),
  };
}

const numbers = (text: string): number[] => text.split(",").map(Number);
const row = (...cells: readonly (string | number)[]): void =>
  console.log(cells.map((cell) => String(cell).padEnd(20)).join(""));

row("model", "map", "classes", "evaluations", "KL", "floor");
for (const classes of numbers(values.classes)) {
  const own = fold(key("toy"), classes);
  const distributions = distributionsOf(classes, fold(own, "distributions"));
  const floor = (SITES * (classes - 1)) / (2 * count);
  const say = (name: string, map: string, evaluations: number | string, kl: number): void =>
    row(name, map, classes, evaluations, kl.toFixed(5), floor.toFixed(5));
  say(
    "samples of the truth",
    "",
    "",
    divergence(distributions, drawn(distributions, count, fold(own, "fresh"))),
  );
  const measure = async (name: string, map: string, plain: Model): Promise<void> => {
    const model = values.fitted
      ? await withErrors(plain, distributions, fold(own, "errors"))
      : plain;
    const draw = await openGrids(model, { solver: "dpmSolver2MSde", threads });
    for (const evaluations of numbers(values.evaluations)) {
      const call = { count, batch: 5000, steps: evaluations - 1, key: fold(own, "samples") };
      say(name, map, evaluations, divergence(distributions, await draw(call)));
    }
    await draw.dispose();
  };
  for (const map of values.maps.split(",") as SimplexMap[])
    await measure("exact posterior", map, exactModel(distributions, map));
  const steps = Number(values.steps);
  if (steps === 0) continue;
  const rows = 100_000;
  const data = drawn(distributions, rows, fold(own, "data"));
  const learned = await trainGrid(data, { classes, grid: [SITES], steps, batch: 512, threads });
  await measure(`learned, ${steps} steps`, "additiveLogistic", learned);
}
