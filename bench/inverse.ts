/**
 * npm run bench -- inverse [particles] [map]: posteriors of a Gaussian mixture through three
 * maps, given a mask, a sum with noise, counts and a class, by guidance and by particles. They are
 * compared with the exact posteriors, which are integrals over a fine grid in x.
 *
 *   mean, sd    the worst error of a posterior mean of a coordinate of y, in posterior sds, and the worst ratio of sds
 *   distance    energy distance to exact draws, in units of its value by chance
 *   evidence    log p(observation) minus the exact value
 */
import { additiveLogistic, type Bijector, expMap, sigmoidMap } from "diffeo/bijector";
import { gaussian, mixture } from "diffeo/distribution";
import { compile } from "diffeo/engine";
import {
  add,
  at,
  log,
  logSigmoid,
  mul,
  type NdArray,
  square,
  sub,
  sum,
  type Tensor,
} from "diffeo/graph";
import { fold, key, uniform } from "diffeo/random";
import { particles, sample } from "diffeo/sampler";
import { condition, reversePush, vp } from "diffeo/sde";
import { energyDistance } from "diffeo/two-sample";

const part = (mean: number[], covariance: number) => ({
  distribution: gaussian({ mean, covariance }),
});
const prior = mixture([part([1.2, 0.4], 0.15), part([-0.9, 0.9], 0.25), part([-0.3, -1.1], 0.2)]);
const sde = vp();
const { meanFactor, std } = sde.transition;
const score = (x: Tensor, t: Tensor): Tensor => prior.marginal(meanFactor(t), std(t)).score(x);

const coordinate = (y: Tensor, i: number): Tensor => at(y, i, -1);
const normal = (value: Tensor, seen: number, noise: number): Tensor =>
  mul(square(sub(value, seen)), -0.5 / noise ** 2);

type Observation = (y: Tensor) => Tensor;
interface Problem {
  readonly map: string;
  readonly phi: Bijector;
  readonly seen: Readonly<Record<string, Observation>>;
}

const problems: readonly Problem[] = [
  {
    map: "exp",
    phi: expMap(),
    seen: {
      "y₁ known to ±0.1": (y) => normal(coordinate(y, 0), 1.5, 0.1),
      "y₁ + 2y₂ with noise 0.3": (y) =>
        normal(add(coordinate(y, 0), mul(coordinate(y, 1), 2)), 3, 0.3),
      "count 5 of a Poisson of mean 2y₁": (y) =>
        sub(mul(log(coordinate(y, 0)), 5), mul(coordinate(y, 0), 2)),
    },
  },
  {
    map: "additive logistic",
    phi: additiveLogistic(),
    seen: {
      "y₁ known to ±0.03": (y) => normal(coordinate(y, 0), 0.3, 0.03),
      "counts 6, 1, 3": (y) => {
        const rest = sub(1, sum(y, -1));
        return add(add(mul(log(coordinate(y, 0)), 6), log(coordinate(y, 1))), mul(log(rest), 3));
      },
      "class by σ(20(y₁ − y₂))": (y) =>
        logSigmoid(mul(sub(coordinate(y, 0), coordinate(y, 1)), 20)),
    },
  },
  {
    map: "sigmoid",
    phi: sigmoidMap(),
    seen: {
      "y₁ known to ±0.05": (y) => normal(coordinate(y, 0), 0.5, 0.05),
      "y₁ − y₂ with noise 0.05": (y) => normal(sub(coordinate(y, 0), coordinate(y, 1)), 0.1, 0.05),
      "7 of 10 by y₁y₂": (y) => {
        const p = mul(coordinate(y, 0), coordinate(y, 1));
        return add(mul(log(p), 7), mul(log(sub(1, p)), 3));
      },
    },
  },
];

const SIDE = 600;
const REACH = 4.5;

/** Exact draws of y, and log p(observation), by the midpoint rule. */
async function exact(
  phi: Bijector,
  seen: Observation,
  count: number,
): Promise<{ draws: NdArray; evidence: number }> {
  const cell = (2 * REACH) / SIDE;
  const x = new Float64Array(2 * SIDE * SIDE);
  for (let i = 0; i < SIDE * SIDE; i++) {
    x[2 * i] = -REACH + (Math.floor(i / SIDE) + 0.5) * cell;
    x[2 * i + 1] = -REACH + ((i % SIDE) + 0.5) * cell;
  }
  const look = compile(
    (p: Tensor) => [prior.logDensity(p), seen(phi.forward(p))],
    [[SIDE * SIDE, 2]],
    {
      type: "float64",
    },
  );
  const [density, observed] = (await look({
    shape: [SIDE * SIDE, 2],
    dtype: "float64",
    data: x,
  })) as readonly NdArray[];
  const mass = Float64Array.from(density.data as Float64Array, (v, i) =>
    Math.exp(v + Number(observed.data[i])),
  );
  const total = mass.reduce((a, b) => a + b);
  const place = uniform(fold(key(1), "exact"), [count, 3], { dtype: "float64" }).data;
  const order = Array.from({ length: count }, (_, i) => place[3 * i] * total).sort((a, b) => a - b);
  const points = new Float64Array(2 * count);
  let [i, sofar] = [0, mass[0]];
  order.forEach((u, k) => {
    while (sofar < u && i + 1 < mass.length) sofar += mass[++i];
    for (const c of [0, 1]) points[2 * k + c] = x[2 * i + c] + (place[3 * k + 1 + c] - 0.5) * cell;
  });
  const push = compile((p: Tensor) => phi.forward(p), [[count, 2]], { type: "float64" });
  const draws = await push({ shape: [count, 2], dtype: "float64", data: points });
  await Promise.all([look.dispose(), push.dispose()]);
  return { draws, evidence: Math.log(total * cell * cell) };
}

function momentsOf({ data, shape }: NdArray): { mean: number; sd: number }[] {
  return [0, 1].map((c) => {
    const values = Array.from({ length: shape[0] }, (_, i) => Number(data[2 * i + c]));
    const mean = values.reduce((a, b) => a + b) / values.length;
    return { mean, sd: Math.sqrt(values.reduce((a, b) => a + (b - mean) ** 2, 0) / values.length) };
  });
}

const out = (cells: readonly string[]): void =>
  void process.stdout.write(`| ${cells.join(" | ")} |\n`);

export async function run(): Promise<void> {
  const count = Number(process.argv[3] ?? 2048);
  out(["map", "seen", "by", "mean", "sd", "distance", "evidence", "ESS", "ancestors"]);
  out(["---", "---", "---", ...new Array(6).fill("---:")]);
  for (const { map, phi, seen } of problems.filter((p) => p.map.startsWith(process.argv[4] ?? "")))
    for (const [name, likelihood] of Object.entries(seen)) {
      const { draws, evidence } = await exact(phi, likelihood, 4096);
      const wanted = momentsOf(draws);
      const options = {
        shape: [2],
        steps: 200,
        grid: "quadratic",
        key: key(7),
        threads: 1,
      } as const;
      const row = (by: string, samples: NdArray, rest: readonly string[]): void => {
        const found = momentsOf(samples);
        const mean = Math.max(
          ...found.map((m, c) => Math.abs(m.mean - wanted[c].mean) / wanted[c].sd),
        );
        const ratio = found
          .map((m, c) => m.sd / wanted[c].sd)
          .reduce((a, b) => (Math.abs(Math.log(b)) > Math.abs(Math.log(a)) ? b : a));
        const { value, chance } = energyDistance(samples, draws, { key: key(3) });
        out([
          map,
          name,
          by,
          mean.toFixed(2),
          ratio.toFixed(2),
          (value / chance.mean).toFixed(1),
          ...rest,
        ]);
      };
      const process_ = reversePush(sde, phi, score);
      for (const spread of [false, true]) {
        const guided = await sample(condition(process_, likelihood, { spread }), {
          ...options,
          count,
        }).catch(() => undefined);
        const by = spread ? "guidance" : "guidance at the mean alone";
        if (guided) row(by, guided.samples, ["", "", ""]);
        else out([map, name, by, "diverged", "", "", "", "", ""]);
      }
      for (const some of [count / 16, count]) {
        const found = await particles(condition(process_, likelihood), {
          ...options,
          particles: some,
        });
        const error = (found.logEvidence - evidence).toFixed(3);
        row(`${some} particles`, found.samples, [
          error,
          found.ess.toFixed(0),
          String(found.ancestors),
        ]);
      }
    }
}
