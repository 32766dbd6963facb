/** The picture of the documentation's first page: one sampler in the plane and on the triangle. */
import { additiveLogistic } from "diffeo/bijector";
import { gaussian, mixture } from "diffeo/distribution";
import { evaluate } from "diffeo/engine";
import type { Tensor } from "diffeo/graph";
import { key } from "diffeo/random";
import { sample } from "diffeo/sampler";
import { reversePush, vp } from "diffeo/sde";
import { COLOURS } from "diffeo-picture/chart";
import { pairsOf } from "./maps.ts";

type Pair = readonly [number, number];

const phi = additiveLogistic();
const centres: readonly Pair[] = [
  [2.1, -0.2],
  [-1.3, 1.9],
  [-1.4, -1.6],
];
/** All of them have a contrast of 3 to 1 on white and on the site's dark background. */
const colours = ["#3b82c4", COLOURS.vermilion, COLOURS.green];
const GREY = "#767d86";
const RANGE = 4;
const SIDE = 288;
const HEIGHT = (SIDE * Math.sqrt(3)) / 2;

/** Points of the plane, and points (y₁, y₂) of the triangle, in pixels. */
const inPlane = ([a, b]: Pair): Pair => [
  4 + (SIDE * (a + RANGE)) / (2 * RANGE),
  322 - (SIDE * (b + RANGE)) / (2 * RANGE),
];
const onTriangle = ([a, b]: Pair): Pair => [
  388 + SIDE * (b + (1 - a - b) / 2),
  310 - HEIGHT * (1 - a - b),
];

const short = (value: number): number => Math.round(value * 10) / 10;
const text = ([x, y]: Pair): string => `${short(x)} ${short(y)}`;
const lines = (all: readonly (readonly Pair[])[], place: (point: Pair) => Pair): string =>
  all.map((points) => `M${points.map((point) => text(place(point))).join("L")}`).join("");
const dots = (points: readonly Pair[]): string =>
  points.map((point) => `M${text(point)}h0`).join("");

const range = (count: number): number[] =>
  Array.from({ length: count }, (_, i) => RANGE * ((2 * i) / (count - 1) - 1));

const nearest = ([a, b]: Pair): number => {
  const distances = centres.map(([c, d]) => Math.hypot(a - c, b - d));
  return distances.indexOf(Math.min(...distances));
};

/** Both panels: the grid, and the samples in the colour of the nearest Gaussian. */
export async function home(): Promise<string> {
  const sde = vp();
  const { meanFactor, std } = sde.transition;
  const data = mixture(
    centres.map((mean) => ({ distribution: gaussian({ mean: [...mean], covariance: 0.3 }) })),
  );
  const score = (x: Tensor, t: Tensor): Tensor => data.marginal(meanFactor(t), std(t)).score(x);
  const { samples } = await sample(reversePush(sde, phi, score), {
    ...{ count: 900, shape: [2], steps: 100, key: key(7), device: "wasm", type: "float64" },
  });
  const y = pairsOf(samples);
  const x = pairsOf(await evaluate((points: Tensor) => phi.inverse(points), samples));
  const image = async (points: readonly Pair[]): Promise<Pair[]> =>
    pairsOf(await evaluate((p: Tensor) => phi.forward(p), points));
  // Along a line of constant x₁ = log y₁/y₃ the ratio of two shares is constant: its image is straight.
  const grid = range(9).flatMap((at): Pair[][] => [
    range(2).map((s) => [at, s]),
    range(2).map((s) => [s, at]),
  ]);
  const images = await Promise.all(grid.map(image));
  const corners = (
    [
      [1, 0],
      [0, 1],
      [0, 0],
    ] as const
  ).map(onTriangle);
  const groups = colours.map((colour, i) => {
    const chosen = x.flatMap((point, j) => (nearest(point) === i ? [j] : []));
    const path = dots(chosen.flatMap((j) => [inPlane(x[j]), onTriangle(y[j])]));
    return `<path d="${path}" stroke="${colour}" stroke-width="3.4" stroke-linecap="round" opacity=".8"/>`;
  });
  const label = (at: number, words: string): string =>
    `<text x="${at}" y="20" text-anchor="middle">${words}</text>`;
  return [
    '<svg xmlns="http://www.w3.org/2000/svg" width="680" height="330" viewBox="0 0 680 330">',
    "<title>900 samples of one score in the plane and on the triangle</title>",
    `<g fill="none"><path d="${lines(grid, inPlane)}${lines(images, onTriangle)}" stroke="${GREY}" opacity=".35"/>`,
    `<path d="M${corners.map(text).join("L")}Z" stroke="${GREY}"/>`,
    `${groups.join("")}<path d="M312 178h56m-9-8 9 8-9 8" stroke="${GREY}" stroke-width="2"/></g>`,
    `<g fill="${GREY}" font-family="system-ui, sans-serif" font-size="20">`,
    `${label(148, "Train in x")}${label(532, "Sample y = φ(x)")}`,
    `<text x="340" y="162" text-anchor="middle" font-style="italic">φ</text></g></svg>\n`,
  ].join("");
}
