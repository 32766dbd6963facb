/**
 * The toy task of flows and diffusions on the simplex (H. Stark et al., "Dirichlet flow matching
 * with applications to DNA sequence design", 2024): sequences of 4 sites, each with its own random
 * distribution over K classes. The measure is KL(empirical ‖ true) summed over the sites.
 *
 *   npx tsx --conditions=diffeo-source bench/toy-simplex.ts --classes 20,40,80,160 --count 100000
 *
 * Two models: the exact posterior, which leaves only the error of map, process and steps, and a
 * transformer trained on data (`--steps`, 0 for none). N samples of the distribution itself are
 * 4 (K − 1)/(2N) away on average, the floor.
 */
import { parseArgs } from "node:util";
import {
  freshModel,
  type Model,
  openGrids,
  type SimplexMap,
  standardise,
  trainGrid,
} from "diffeo/categorical";
import { constant, expand, type Tensor } from "diffeo/graph";
import { fold, type Key, key, uniform } from "diffeo/random";

const { values } = parseArgs({
  options: {
    classes: { type: "string", default: "20,40,80,160" },
    count: { type: "string", default: "100000" },
    evaluations: { type: "string", default: "25,100" },
    maps: { type: "string", default: "additiveLogistic,isometricLogRatio,stickBreaking" },
    steps: { type: "string", default: "2000" },
    threads: { type: "string", default: "1" },
  },
});
const SITES = 4;
const count = Number(values.count);
const threads = Number(values.threads);

/** The distributions of the sites, uniform on the simplex: exponential numbers over their sum. */
function lawsOf(classes: number, own: Key): number[][] {
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
function drawn(laws: readonly (readonly number[])[], rows: number, own: Key): Uint8Array {
  const { data } = uniform(own, [rows * SITES], { dtype: "float64" });
  return Uint8Array.from(data, (u, i) => {
    const law = laws[i % SITES];
    let [k, sum] = [0, law[0]];
    while (sum < Number(u) && k < law.length - 1) sum += law[++k];
    return k;
  });
}

/** Σ over sites of KL(empirical ‖ true). */
function divergence(laws: readonly (readonly number[])[], samples: Uint8Array): number {
  const rows = samples.length / SITES;
  const counts = laws.map((law) => new Float64Array(law.length));
  samples.forEach((k, i) => {
    counts[i % SITES][k]++;
  });
  return laws.reduce(
    (sum, law, s) =>
      sum +
      law.reduce((kl, p, k) => {
        const q = counts[s][k] / rows;
        return q === 0 ? kl : kl + q * Math.log(q / p);
      }, 0),
    0,
  );
}

/** The posterior of independent sites: their distributions; the model adds the likelihoods. */
function exactModel(laws: readonly (readonly number[])[], map: SimplexMap): Model {
  const classes = laws[0].length;
  const shares = laws[0].map((_, k) => laws.reduce((sum, law) => sum + law[k] / SITES, 0));
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
    expand(constant([laws.map((law) => law.map(Math.log))], x.dtype), x.shape);
  return {
    ...model,
    denoiser: { ...model.denoiser, network: { ...model.denoiser.network, apply } },
  };
}

const numbers = (text: string): number[] => text.split(",").map(Number);
const row = (...cells: readonly (string | number)[]): void =>
  console.log(cells.map((cell) => String(cell).padEnd(20)).join(""));

row("model", "map", "classes", "evaluations", "KL", "floor");
for (const classes of numbers(values.classes)) {
  const own = fold(key("toy"), classes);
  const laws = lawsOf(classes, fold(own, "laws"));
  const floor = (SITES * (classes - 1)) / (2 * count);
  const say = (name: string, map: string, evaluations: number | string, kl: number): void =>
    row(name, map, classes, evaluations, kl.toFixed(5), floor.toFixed(5));
  say("samples of the truth", "", "", divergence(laws, drawn(laws, count, fold(own, "fresh"))));
  const measure = async (name: string, map: string, model: Model): Promise<void> => {
    const draw = await openGrids(model, { solver: "dpmSolver2MSde", threads });
    for (const evaluations of numbers(values.evaluations)) {
      const call = { count, batch: 5000, steps: evaluations - 1, key: fold(own, "samples") };
      say(name, map, evaluations, divergence(laws, await draw(call)));
    }
    await draw.dispose();
  };
  for (const map of values.maps.split(",") as SimplexMap[])
    await measure("exact posterior", map, exactModel(laws, map));
  const steps = Number(values.steps);
  if (steps === 0) continue;
  const rows = 100_000;
  const data = drawn(laws, rows, fold(own, "data"));
  const learned = await trainGrid(data, { classes, grid: [SITES], steps, batch: 512, threads });
  await measure(`learned, ${steps} steps`, "additiveLogistic", learned);
}
