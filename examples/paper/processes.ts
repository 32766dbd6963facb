/**
 * Pictures 4 and 5: the reverse process on the simplex, and two orders of reversing and mapping.
 */
import { additiveLogistic } from "diffeo/bijector";
import { gaussian, mixture } from "diffeo/distribution";
import { evaluate } from "diffeo/engine";
import { constant, type NdArray, type Tensor } from "diffeo/graph";
import { key, normal, sampleKeys } from "diffeo/random";
import { brownianPath, openSampler, sample, uniformGrid } from "diffeo/sampler";
import { pushedScore } from "diffeo/score";
import { linearSchedule, type MarginalScore, push, reverse, reversePush, vp } from "diffeo/sde";
import { COLOURS, chart, Plot } from "diffeo-picture/chart";
import { edge, pairsOf, simplex, square } from "./maps.ts";

const phi = additiveLogistic();
const distribution = mixture([
  { weight: 0.5, distribution: gaussian({ mean: [1.1, 0.4], covariance: 0.12 }) },
  { weight: 0.3, distribution: gaussian({ mean: [-1.2, 0.8], covariance: 0.12 }) },
  { weight: 0.2, distribution: gaussian({ mean: [-0.95, -1.6], covariance: 0.12 }) },
]);
const engine = { device: "wasm", type: "float64" } as const;

/** The exact score of three Gaussians under an SDE of the VP family. */
const exactScore =
  ({ transition: { meanFactor, std } }: ReturnType<typeof vp>): MarginalScore =>
  (x, t) =>
    distribution.marginal(meanFactor(t), std(t)).score(x);

/** 4. 600 samples of the reverse process, with the score of x, at four times. */
export async function reversal(): Promise<string> {
  const process = reversePush(vp(), phi, exactScore(vp()));
  const panels = await Promise.all(
    [0.999, 0.4, 0.15, 0.001].map(async (tEnd) => {
      const options = { shape: [2], count: 600, steps: 100, key: key(1), tEnd, ...engine };
      const { samples } = await sample(process, options);
      const dots = pairsOf(samples);
      return {
        heading: `t = ${tEnd}`,
        ...simplex,
        marks: [edge, Plot.dot(dots, { r: 1.5, fill: COLOURS.blue })],
      };
    }),
  );
  return chart({
    title: "The reverse process in y, from a score of x",
    note: "Time runs from 1 to 0. The score is exact; the samples end as three groups.",
    description: "Samples on a triangle at four times.",
    panels,
    width: 210,
    height: 220,
  });
}

/** The median distance of samples, because a few paths end in different groups. */
const distance = (a: NdArray, b: NdArray): number => {
  const [first, second] = [pairsOf(a), pairsOf(b)];
  const apart = first.map(([x, y], i) => Math.hypot(x - second[i][0], y - second[i][1]));
  return apart.sort((d, e) => d - e)[apart.length >> 1];
};

/** 5. The process reversed then mapped, and mapped then reversed, on the same Brownian path. */
export async function commuting(): Promise<string> {
  const sde = vp({ schedule: linearSchedule({ min: 0.5, max: 2 }) });
  const score = exactScore(sde);
  const counts = [16, 32, 64, 128, 256, 512];
  const noise = brownianPath(key("path"), uniformGrid(1, 0.05, 512));
  const first = normal(sampleKeys(key("start"), 400), [2], { dtype: "float64" });
  const start = await evaluate((x: Tensor) => phi.forward(x, constant(1, "float64")), first);
  const mapped = reverse(push(sde, phi), (y, t) =>
    pushedScore(phi, (x, s) => score(x, s as Tensor))(y, t),
  );
  const inX = await openSampler(reversePush(sde, phi, score), {
    shape: [2],
    solver: "domainPreserving",
    ...engine,
  });
  const lines = await Promise.all(
    (["eulerMaruyama", "milstein"] as const).map(async (solver) => {
      const inY = await openSampler(mapped, { shape: [2], solver, ...engine });
      const points: [number, number][] = [];
      for (const steps of counts) {
        const call = { start, key: key(1), grid: uniformGrid(1, 0.05, steps), noise };
        const [a, b] = [await inY(call), await inX(call)];
        points.push([0.95 / steps, distance(a.samples, b.samples)]);
      }
      await inY.dispose();
      return points;
    }),
  );
  await inX.dispose();
  const colours = [COLOURS.vermilion, COLOURS.blue];
  return chart({
    title: "Reversing and mapping commute, path by path",
    note: "Median distance of φ(Reverse(X)) and Reverse(φ(X)) on one Brownian path, 400 samples.",
    description: "Distance against step size for two solvers, both axes logarithmic.",
    legend: ["Euler–Maruyama in y", "Milstein in y"].map((label, i) => ({
      label,
      colour: colours[i],
    })),
    panels: [
      {
        heading: "distance",
        x: {
          type: "log",
          label: "step size",
          ticks: [0.002, 0.005, 0.01, 0.02, 0.05],
          tickFormat: "~g",
        },
        y: { type: "log", label: null, ticks: 3, tickFormat: "~g" },
        marks: lines.flatMap((points, i) => [
          Plot.line(points, { stroke: colours[i] }),
          Plot.dot(points, { fill: colours[i], r: 3.5 }),
        ]),
      },
    ],
    ...square,
    width: 560,
    height: 300,
  });
}
