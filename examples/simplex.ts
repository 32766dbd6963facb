/**
 * Train a score where training is easy, and sample it in the domain of the data.
 *
 * A mixture of Gaussians in the plane has an exact score at every noise level. The additive
 * logistic map transforms it to a distribution on the triangle, close to its edges. By the
 * reverse-time Itô lemma the diffusion runs there: once with steps on the triangle, once with the
 * domain-preserving solver, which steps the same process in the plane. The first argument is the
 * number of samples (default 5,000).
 */
import { additiveLogistic } from "diffeo/bijector";
import { gaussian, mixture, sampleFrom } from "diffeo/distribution";
import { evaluate } from "diffeo/engine";
import type { NdArray, Tensor } from "diffeo/graph";
import { fold, key } from "diffeo/random";
import { eulerMaruyama, type SampleOptions, sample } from "diffeo/sampler";
import { reversePush, vp } from "diffeo/sde";
import { energyDistance } from "diffeo/two-sample";

const COUNT = Number(globalThis.process.argv[2] ?? 5000);
const seed = key(7);
const phi = additiveLogistic();
const data = mixture([
  { weight: 1, distribution: gaussian({ mean: [4.5, 0], covariance: 0.4 }) },
  { weight: 1, distribution: gaussian({ mean: [0, 4.5], covariance: 0.4 }) },
  { weight: 2, distribution: gaussian({ mean: [-4, -4], covariance: 1.5 }) },
  {
    weight: 1,
    distribution: gaussian({
      mean: [2, 2],
      covariance: [
        [1.6, -1.4],
        [-1.4, 1.6],
      ],
    }),
  },
]);

const sde = vp();
const { meanFactor, std } = sde.transition;
const score = (x: Tensor, t: Tensor): Tensor => data.marginal(meanFactor(t), std(t)).score(x);
const process = reversePush(sde, phi, score);

const exact = await evaluate(
  (x: Tensor) => phi.forward(x),
  await sampleFrom(data, fold(seed, "exact"), COUNT),
);

/**
 * A picture of the triangle in characters, darker where there are more samples, with the third
 * coordinate upwards.
 */
function triangle({ data: points }: NdArray, rows = 13): string[] {
  const shades = " ·░▒▓█";
  const counts = Array.from({ length: rows }, () => new Array<number>(2 * rows).fill(0));
  for (let i = 0; i < points.length; i += 2) {
    const [a, b] = [Number(points[i]), Number(points[i + 1])];
    const up = 1 - a - b;
    const row = Math.min(rows - 1, Math.floor((1 - up) * rows));
    const column = Math.min(2 * rows - 1, Math.floor((b + up / 2) * 2 * rows));
    counts[row][column]++;
  }
  return counts.map((line, r) =>
    line
      .map((n, c) => {
        const inside = Math.abs(c + 0.5 - rows) <= r + 1;
        if (!inside) return " ";
        return n === 0 ? "·" : shades[Math.min(5, 2 + Math.floor(Math.log2(n) / 2))];
      })
      .join(""),
  );
}

async function show(title: string, options: Pick<SampleOptions, "solver" | "steps">) {
  const { samples, steps, exits } = await sample(process, {
    ...options,
    count: COUNT,
    shape: [2],
    key: fold(seed, title),
    type: "float64",
  });
  const { value, chance } = energyDistance(samples, exact, { key: fold(seed, "distance") });
  const verdict = `${title.padEnd(34)}${String(steps).padStart(6)}${String(exits).padStart(10)}${(value * 1e4).toFixed(2).padStart(12)}`;
  return { verdict, picture: triangle(samples), chance: chance.mean };
}

const preserving = await show("domain-preserving", { solver: "domainPreserving", steps: 100 });
const plain = await show("Euler–Maruyama on the triangle", {
  solver: eulerMaruyama({ onExit: "hold" }),
  steps: 250,
});
const target = triangle(exact);

const out = (text: string): void => void globalThis.process.stdout.write(`${text}\n`);
out(
  `\n${"what it should be".padEnd(30)}${"domain-preserving, 100 steps".padEnd(30)}Euler–Maruyama, 250 steps`,
);
target.forEach((line, i) => {
  out(line.padEnd(30) + preserving.picture[i].padEnd(30) + plain.picture[i]);
});
out(
  `\n${"sampler".padEnd(34)}${"steps".padStart(6)}${"exits".padStart(10)}${"distance".padStart(12)}   (energy distance · 10⁴; two exact sets: ${(preserving.chance * 1e4).toFixed(2)})`,
);
out(preserving.verdict);
out(plain.verdict);
