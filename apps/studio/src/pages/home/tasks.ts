/**
 * The moving picture of the home page: the reverse diffusion of a mixture whose score is known in
 * the plane. The lemma runs it on the triangle; the picture shows it in both. For few points and a
 * small graph the evaluator in TypeScript is fast enough, so that the page loads no runtime.
 */
import { additiveLogistic } from "diffeo/bijector";
import { gaussian, mixture } from "diffeo/distribution";
import { compile } from "diffeo/engine";
import type { NdArray, Tensor } from "diffeo/graph";
import { key } from "diffeo/random";
import { openSampler } from "diffeo/sampler";
import { reversePush, vp } from "diffeo/sde";
import { task } from "../../shell/rpc.ts";

export interface Moment {
  readonly t: number;
  /** x₁ x₂ of each point in the plane, and y₁ y₂ of its image on the simplex. */
  readonly x: Float32Array;
  readonly y: Float32Array;
}

export interface Picture {
  readonly moments: readonly Moment[];
  /** Lines of a grid in the plane, x₁ x₂ …, and their images, y₁ y₂ … */
  readonly grid: readonly Pick<Moment, "x" | "y">[];
}

const COMPONENTS = [
  { mean: [1.5, -0.4], covariance: 0.09 },
  { mean: [-1.2, 1.5], covariance: 0.13 },
  { mean: [-0.9, -1.7], covariance: 0.11 },
];

const device = { device: "reference" } as const;
const narrowed = ({ data }: NdArray): Float32Array => Float32Array.from(data as Float64Array);

/** Horizontal and vertical lines of the plane, each as points. */
function gridLines(reach: number, along: number): Float64Array[] {
  const lines: Float64Array[] = [];
  for (let c = -reach; c <= reach; c++)
    for (const turned of [0, 1]) {
      const points = new Float64Array(2 * along);
      for (let i = 0; i < along; i++) {
        points[2 * i + turned] = reach * ((2 * i) / (along - 1) - 1);
        points[2 * i + 1 - turned] = c;
      }
      lines.push(points);
    }
  return lines;
}

export const picture = task<{ readonly count: number; readonly steps: number }, never, Picture>(
  async ({ count, steps }, { signal }) => {
    const sde = vp();
    const phi = additiveLogistic();
    const data = mixture(COMPONENTS.map((component) => ({ distribution: gaussian(component) })));
    const { meanFactor, std } = sde.transition;
    const score = (x: Tensor, t: Tensor): Tensor => data.marginal(meanFactor(t), std(t)).score(x);
    const draw = await openSampler(reversePush(sde, phi, score), { shape: [2], ...device });
    const toPlane = compile((y: Tensor) => phi.inverse(y), [[null, 2]], device);
    const toSimplex = compile((x: Tensor) => phi.forward(x), [[null, 2]], device);
    const moments: Moment[] = [];
    const take = async (t: number, y: NdArray): Promise<void> => {
      moments.push({ t, x: narrowed(await toPlane(y)), y: narrowed(y) });
    };
    const { samples } = await draw({
      count,
      steps,
      key: key(2),
      signal,
      onStep: async ({ t, points }) => take(t, await points()),
    });
    await take(0, samples);
    const grid: Pick<Moment, "x" | "y">[] = [];
    for (const line of gridLines(3, 61)) {
      const x: NdArray = { shape: [line.length / 2, 2], dtype: "float64", data: line };
      grid.push({ x: narrowed(x), y: narrowed(await toSimplex(x)) });
    }
    return { moments, grid };
  },
);
