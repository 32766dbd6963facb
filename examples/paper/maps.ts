/** Pictures 1 to 3: a map of the plane onto a triangle, a score through it, and a score of ‖X‖². */
import { additiveLogistic } from "diffeo/bijector";
import { evaluate } from "diffeo/engine";
import { type NdArray, neg, squaredNorm, type Tensor } from "diffeo/graph";
import { key, normal } from "diffeo/random";
import { estimateProjectedScore, pushScore } from "diffeo/score";
import { COLOURS, chart, FAINT, Plot } from "diffeo-picture/chart";

type Pair = readonly [number, number];

const phi = additiveLogistic();
const plane = { x: { domain: [-3, 3], label: "x₁" }, y: { domain: [-3, 3], label: "x₂" } };
export const simplex = { x: { domain: [0, 1], label: "y₁" }, y: { domain: [0, 1], label: "y₂" } };
/** The edge of the simplex that is not an axis. */
export const edge = Plot.line([
  [0, 1],
  [1, 0],
]);
export const square = { width: 330, height: 330 };

export const pairsOf = ({ data }: NdArray): Pair[] =>
  Array.from({ length: data.length / 2 }, (_, i) => [Number(data[2 * i]), Number(data[2 * i + 1])]);

/** Maps points of the plane by φ. */
const image = async (points: readonly Pair[]): Promise<Pair[]> =>
  pairsOf(await evaluate((x: Tensor) => phi.forward(x), points));

const steps = (from: number, to: number, count: number): number[] =>
  Array.from({ length: count }, (_, i) => from + ((to - from) * i) / (count - 1));

/** 1. Samples of a normal distribution and a grid, in x and in y = φ(x). */
export async function map(): Promise<string> {
  const samples = pairsOf(normal(key(1), [300, 2], { dtype: "float64" }));
  const along = steps(-3, 3, 41);
  const lines = steps(-3, 3, 7).flatMap((at): Pair[][] => [
    along.map((s) => [at, s]),
    along.map((s) => [s, at]),
  ]);
  const bent = await Promise.all(lines.map(image));
  const panel = (grid: readonly Pair[][], dots: readonly Pair[]) => [
    ...grid.map((points, i) =>
      Plot.line(points, { stroke: i % 2 === 0 ? COLOURS.blue : COLOURS.orange, strokeWidth: 1 }),
    ),
    Plot.dot(dots, { r: 1.6, fill: COLOURS.grey }),
  ];
  return chart({
    title: "A map of the plane onto the simplex",
    note: "300 samples of a standard normal distribution, and the same grid on both sides.",
    description: "A grid with samples in the plane, and its image on a triangle.",
    panels: [
      { heading: "x", ...plane, marks: panel(lines, samples) },
      { heading: "y = φ(x)", ...simplex, marks: [edge, ...panel(bent, await image(samples))] },
    ],
    ...square,
  });
}

/** 2. The score of the same distribution in x, and by Theorem 1 in y. */
export async function score(): Promise<string> {
  const ticks = steps(-2, 2, 7);
  const points = ticks.flatMap((a) => ticks.map((b): Pair => [a, b]));
  const pushed = await evaluate((x: Tensor) => pushScore(phi, x, neg(x)), points);
  const [starts, scores] = [await image(points), pairsOf(pushed)];
  const arrows = (from: readonly Pair[], along: readonly Pair[], length: number) =>
    Plot.arrow(
      from.map(([a, b], i) => {
        const [u, v] = along[i];
        const scale = length / Math.max(1e-9, Math.hypot(u, v));
        return { a, b, c: a + scale * u, d: b + scale * v };
      }),
      { x1: "a", y1: "b", x2: "c", y2: "d", stroke: COLOURS.vermilion, headLength: 5 },
    );
  return chart({
    title: "A score and its image under Theorem 1",
    note: "Directions of ∇ log p and ∇ log q, drawn with equal lengths. They point to the mode of each density.",
    description: "Arrows of a score in the plane and on a triangle.",
    panels: [
      {
        heading: "∇ log p, x standard normal",
        ...plane,
        marks: [
          arrows(
            points,
            points.map(([a, b]): Pair => [-a, -b]),
            0.42,
          ),
        ],
      },
      { heading: "∇ log q, y = φ(x)", ...simplex, marks: [edge, arrows(starts, scores, 0.055)] },
    ],
    ...square,
  });
}

/** 3. The score of ‖X‖² for X standard normal in R³, estimated from samples, and exact. */
export async function norm(): Promise<string> {
  const at = steps(0.3, 9, 30);
  const { data } = await evaluate(
    (x: Tensor, y: Tensor) => estimateProjectedScore(squaredNorm, x, neg(x), y).score,
    normal(key(1), [20_000, 3], { dtype: "float64" }),
    at,
  );
  const estimates = at.map((y, i) => [y, Number(data[i])]);
  const exact = steps(0.3, 9, 120).map((y) => [y, 1 / (2 * y) - 1 / 2]);
  return chart({
    title: "The score of ‖X‖², X standard normal in R³",
    note: "A conditional mean over 20,000 samples, by regression with a bandwidth: biased near 0, where the score is steep.",
    description: "Estimated scores on the exact curve.",
    legend: [
      { label: "estimated", colour: COLOURS.vermilion },
      { label: "exact, 1/(2y) − 1/2", colour: COLOURS.blue },
    ],
    panels: [
      {
        heading: "∂ log q(y)/∂y",
        x: { label: "y = ‖x‖²" },
        y: { label: null },
        marks: [
          Plot.ruleY([0], { stroke: FAINT }),
          Plot.line(exact, { stroke: COLOURS.blue, strokeWidth: 1.5 }),
          Plot.dot(estimates, { fill: COLOURS.vermilion, r: 3 }),
        ],
      },
    ],
    width: 560,
    height: 280,
  });
}
