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
 * error by time, which needs fewer evaluations. Samples are made in parts; with `--folder` their
 * counts are kept there, and the same command continues after `--minutes`.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import {
  type ClassArray,
  errorsByTime,
  freshModel,
  type Model,
  openGrids,
  type SimplexMap,
  standardise,
  trainGrid,
} from "diffeo/categorical";
import { constant, expand, type Tensor } from "diffeo/graph";
import { RunFolder } from "diffeo/node";
import { fold, type Key, key, uniform } from "diffeo/random";
import { memoryStore, type RunStore } from "diffeo/train";
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
      batch: "1000",
      minutes: "1000000",
    }),
    fitted: { type: "boolean", default: false },
    folder: { type: "string" },
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
function drawn(distributions: readonly (readonly number[])[], rows: number, own: Key): ClassArray {
  const { data } = uniform(own, [rows * SITES], { dtype: "float64" });
  return Uint16Array.from(data, (u, i) => {
    const shares = distributions[i % SITES];
    let [k, sum] = [0, shares[0]];
    while (sum < Number(u) && k < shares.length - 1) sum += shares[++k];
    return k;
  });
}

/** How often each class was sampled at each site, and how many sequences. */
interface Counts {
  readonly rows: number;
  readonly counts: readonly (readonly number[])[];
}

const noCounts = (classes: number): Counts => ({
  rows: 0,
  counts: Array.from({ length: SITES }, () => new Array<number>(classes).fill(0)),
});

function countsWith({ rows, counts }: Counts, samples: ClassArray): Counts {
  const more = counts.map((own) => [...own]);
  samples.forEach((k, i) => {
    more[i % SITES][k]++;
  });
  return { rows: rows + samples.length / SITES, counts: more };
}

/** Σ over sites of KL(empirical ‖ true). */
const divergence = (
  distributions: readonly (readonly number[])[],
  { rows, counts }: Counts,
): number =>
  distributions.reduce(
    (sum, shares, s) =>
      sum +
      shares.reduce((kl, p, k) => {
        const q = counts[s][k] / rows;
        return q === 0 ? kl : kl + q * Math.log(q / p);
      }, 0),
    0,
  );

/** Sequences of a part, after which counts are stored. */
const PART = 16_000;
const until = performance.now() + 60_000 * Number(values.minutes);

/** Counts of `count` samples, continued from those of a file; fewer where the time has ended. */
async function countsOf(
  name: string,
  classes: number,
  draw: (first: number, rows: number) => Promise<ClassArray>,
): Promise<Counts> {
  const file = values.folder && join(values.folder, `${name}.json`);
  let found: Counts =
    file && existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : noCounts(classes);
  while (found.rows < count && performance.now() < until) {
    found = countsWith(found, await draw(found.rows, Math.min(PART, count - found.rows)));
    if (file) {
      mkdirSync(values.folder as string, { recursive: true });
      writeFileSync(file, JSON.stringify(found));
    }
  }
  return found;
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
      // Replaced below.
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

/** The run in a folder, new or continued. */
const folderOf = (path: string): Promise<RunStore> =>
  (existsSync(join(path, "config.json")) ? RunFolder.open : RunFolder.create).call(
    RunFolder,
    path,
    {},
  );

const numbers = (text: string): number[] => text.split(",").map(Number);
const row = (...cells: readonly (string | number)[]): void =>
  console.log(cells.map((cell) => String(cell).padEnd(20)).join(""));

row("model", "map", "classes", "samples", "evaluations", "KL", "floor");
for (const classes of numbers(values.classes)) {
  const own = fold(key("toy"), classes);
  const distributions = distributionsOf(classes, fold(own, "distributions"));
  const say = (name: string, map: string, evaluations: number | string, found: Counts): void => {
    const floor = (SITES * (classes - 1)) / (2 * found.rows);
    const kl = divergence(distributions, found);
    row(name, map, classes, found.rows, evaluations, kl.toFixed(5), floor.toFixed(5));
  };
  const fresh = drawn(distributions, count, fold(own, "fresh"));
  say("samples of the truth", "", "", countsWith(noCounts(classes), fresh));
  const measure = async (name: string, map: string, plain: Model): Promise<void> => {
    const model = values.fitted
      ? await withErrors(plain, distributions, fold(own, "errors"))
      : plain;
    const draw = await openGrids(model, { solver: "dpmSolver2MSde", threads });
    for (const evaluations of numbers(values.evaluations)) {
      const call = {
        batch: Number(values.batch),
        steps: evaluations - 1,
        key: fold(own, "samples"),
      };
      const file = `${name}-${map}-${classes}-${evaluations}`.replaceAll(/\W+/g, "-");
      const found = await countsOf(file, classes, (first, rows) =>
        draw({ ...call, first, count: rows }),
      );
      say(name, map, evaluations, found);
    }
    await draw.dispose();
  };
  for (const map of values.maps.split(",") as SimplexMap[])
    await measure("exact posterior", map, exactModel(distributions, map));
  const steps = Number(values.steps);
  if (steps === 0) continue;
  const rows = 100_000;
  const data = drawn(distributions, rows, fold(own, "data"));
  const store = values.folder
    ? await folderOf(join(values.folder, `network-${classes}-${steps}`))
    : memoryStore();
  const learned = await trainGrid(data, {
    ...{ classes, grid: [SITES], steps, batch: 512, threads, store },
    seconds: Math.max(0, until - performance.now()) / 1000,
  });
  const reached = (await store.reached()) ?? 0;
  if (reached < steps) console.log(`${classes} classes: step ${reached} of ${steps}`);
  else await measure(`learned, ${steps} steps`, "additiveLogistic", learned);
}
