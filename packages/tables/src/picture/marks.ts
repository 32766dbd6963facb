/**
 * Marks that pictures of tables share: clouds of dots as one path, histograms, and the legend of
 * colours.
 */
import { COLOURS, type LegendEntry, Plot } from "diffeo-picture/chart";

export const DATA = COLOURS.blue;
export const SAMPLES = COLOURS.vermilion;

export const legend: readonly LegendEntry[] = [
  { label: "data", colour: DATA },
  { label: "samples", colour: SAMPLES, symbol: "diamond" },
];

const SVG = "http://www.w3.org/2000/svg";
/** Number of alternating layers of the two clouds, so that neither hides the other. */
const TURNS = 6;

export type Points = readonly (readonly [number, number])[];

/**
 * One layer of a cloud: a path of points of length zero, whose round caps are dots. Its size is a
 * tenth of that of circles.
 */
const cloud =
  (points: Points, colour: string, size: number): Plot.RenderFunction =>
  (_index, scales, _values, _dimensions, context) => {
    const path = context.document.createElementNS(SVG, "path");
    const [x, y] = [scales.x as (v: number) => number, scales.y as (v: number) => number];
    path.setAttribute(
      "d",
      points.map((p) => `M${x(p[0]).toFixed(1)} ${y(p[1]).toFixed(1)}h0`).join(""),
    );
    for (const [name, value] of [
      ["fill", "none"],
      ["stroke", colour],
      ["stroke-opacity", "0.45"],
      ["stroke-width", String(size)],
      ["stroke-linecap", "round"],
    ])
      path.setAttribute(name, value);
    return path as unknown as SVGElement;
  };

/**
 * Maximum number of dots per set. Both sets have the same number, because the larger would hide the
 * smaller.
 */
export const dotsOf = (data: number, samples: number, most: number): number =>
  Math.min(most, data > 0 && samples > 0 ? Math.min(data, samples) : Math.max(data, samples));

/** With fewer dots than this, they are drawn larger. */
const FEW = 150;

/** Dots of data and of samples. */
export function clouds(data: Points, samples: Points, usual: number): Plot.Markish[] {
  const size = Math.max(data.length, samples.length) < FEW ? 1.6 * usual : usual;
  const turn = (points: Points, t: number): Points => points.filter((_, i) => i % TURNS === t);
  return Array.from({ length: TURNS }, (_, t) => [
    cloud(turn(data, t), DATA, size),
    cloud(turn(samples, t), SAMPLES, size),
  ]).flat();
}

/** The shares of values between neighbouring edges. */
export function shares(values: Float64Array, edges: Float64Array): Float64Array {
  const counts = new Float64Array(edges.length - 1);
  for (const v of values) {
    const above = edges.findIndex((edge) => edge > v);
    if (above > 0) counts[above - 1] += 1 / values.length;
  }
  return counts;
}

/** Bars of the data, and the outline of those of the samples. */
export function histograms(
  data: Float64Array,
  samples: Float64Array,
  edges: Float64Array,
): Plot.Markish[] {
  const [filled, outlined] = [shares(data, edges), shares(samples, edges)];
  const steps = Array.from(outlined, (share, i) => [
    [edges[i], share],
    [edges[i + 1], share],
  ]).flat();
  return [
    Plot.rect(Array.from(filled.keys()), {
      x1: (i: number) => edges[i],
      x2: (i: number) => edges[i + 1],
      y1: 0,
      y2: (i: number) => filled[i],
      fill: DATA,
      fillOpacity: 0.35,
      inset: 0,
    }),
    ...(samples.length === 0
      ? []
      : [
          Plot.line([[edges[0], 0], ...steps, [edges[edges.length - 1], 0]], {
            stroke: SAMPLES,
            strokeWidth: 1.4,
          }),
        ]),
  ];
}
