/**
 * Marks of the plots in a pair plot: dots, ranges of numbers per label, discs for pairs of labels.
 */

import { quantiles } from "diffeo/host";
import { Plot } from "diffeo-picture/chart";
import type { Cells } from "../measure/table-distribution.ts";
import type { ShownColumn } from "./columns.ts";
import { clouds, DATA, type Points, SAMPLES } from "./marks.ts";

export interface Sets {
  readonly data: readonly Cells[];
  readonly samples: readonly Cells[];
}

export const [MOST_DOTS, LEAST_DOTS] = [900, 120];

const scaleOf = ({ isLog, range }: ShownColumn): Plot.ScaleOptions => ({
  type: isLog ? "log" : "linear",
  domain: [...range],
});

/**
 * An axis, with the column's name at the edge of the grid only; `room` is the space for a label.
 */
export function axisOf(
  column: ShownColumn,
  isShown: boolean,
  side: number,
  room?: number,
): Plot.ScaleOptions {
  const scale = scaleOf(column);
  if (!isShown) return { ...scale, axis: null };
  const { labels, name } = column;
  const most = Math.floor(side / 9);
  const short = (text: string): string =>
    text.length > most ? `${text.slice(0, most - 1)}…` : text;
  return {
    ...scale,
    label: short(name),
    labelArrow: "none",
    labelAnchor: "center",
    tickSize: 3,
    ...(labels
      ? {
          ticks: labels.map((_, i) => i),
          tickFormat: (i: number) => shortLabel(String(labels[i]), room ?? side / labels.length),
        }
      : { ticks: side < 120 ? 2 : 4, ...tickFormatOf(column) }),
  };
}

const shortLabel = (text: string, room: number): string => {
  const most = Math.max(2, Math.floor(room / 6.6));
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
};

/**
 * Numbers of an axis: thousands and millions with a letter; very small and large ones, and those
 * over many orders of magnitude, as powers of ten.
 */
function tickFormatOf({ isLog, range: [low, high] }: ShownColumn): Plot.ScaleOptions {
  const most = Math.max(Math.abs(low), Math.abs(high));
  if (isLog || most < 1e-3 || most >= 1e9) return { tickFormat: "~g" };
  return most >= 10_000 ? { tickFormat: "~s" } : {};
}

const pointsOf = (
  a: Float64Array,
  b: Float64Array,
  [p, q]: readonly [ShownColumn, ShownColumn],
  most: number,
): Points => {
  const inside = (v: number, [low, high]: readonly [number, number]): boolean =>
    v >= low && v <= high;
  const found: [number, number][] = [];
  for (let i = 0; i < Math.min(a.length, most); i++)
    if (inside(a[i], p.range) && inside(b[i], q.range))
      found.push([spread(a[i], p, i), spread(b[i], q, i + 1)]);
  return found;
};

/** Integers spread over their interval in a plot, at multiples of the golden ratio. */
const spread = (v: number, { isWhole }: ShownColumn, i: number): number =>
  isWhole ? v + 0.7 * (((i * 0.618034) % 1) - 0.5) : v;

/** For each label the ranges of its numbers, data left of samples or below them. */
function rangeMarks(
  labelled: ShownColumn,
  numbers: ShownColumn,
  { data, samples }: Sets,
  across: boolean,
): Plot.Markish[] {
  return [data, samples].flatMap((rows, set) => {
    const [labels, values] = [labelled.valuesOf(rows), numbers.valuesOf(rows)];
    const colour = set === 0 ? DATA : SAMPLES;
    const offset = (set - 0.5) * 0.36;
    const ranges = (labelled.labels ?? []).flatMap((_, k) => {
      const own = values.filter((_, i) => labels[i] === k);
      return own.length < 3
        ? []
        : [{ k: k + offset, q: quantiles(own, [0.05, 0.25, 0.5, 0.75, 0.95]) }];
    });
    type Range = (typeof ranges)[number];
    const rule = (from: number, to: number, width: number): Plot.Markish => {
      const [low, high] = [(r: Range) => r.q[from], (r: Range) => r.q[to]];
      const style = { stroke: colour, strokeWidth: width };
      return across
        ? Plot.ruleX(ranges, { x: "k", y1: low, y2: high, ...style })
        : Plot.ruleY(ranges, { y: "k", x1: low, x2: high, ...style });
    };
    const middle = Plot.dot(ranges, {
      x: across ? "k" : (r: Range) => r.q[2],
      y: across ? (r: Range) => r.q[2] : "k",
      r: 2.2,
      fill: "#ffffff",
      stroke: colour,
    });
    return [rule(0, 4, 1.2), rule(1, 3, 4), middle];
  });
}

/** For each pair of labels two discs with areas proportional to their shares. */
function discMarks(
  p: ShownColumn,
  q: ShownColumn,
  { data, samples }: Sets,
  side: number,
): Plot.Markish[] {
  const cells = (p.labels?.length ?? 1) * (q.labels?.length ?? 1);
  return [data, samples].map((rows, set) => {
    const [a, b] = [p.valuesOf(rows), q.valuesOf(rows)];
    const found = new Map<string, { x: number; y: number; share: number }>();
    for (let i = 0; i < a.length; i++) {
      const name = `${a[i]} ${b[i]}`;
      const before = found.get(name)?.share ?? 0;
      found.set(name, { x: a[i] + (set - 0.5) * 0.3, y: b[i], share: before + 1 / rows.length });
    }
    return Plot.dot([...found.values()], {
      x: "x",
      y: "y",
      r: ({ share }: { share: number }) =>
        (0.4 * side * Math.sqrt(share)) / Math.sqrt(Math.sqrt(cells)),
      fill: set === 0 ? DATA : SAMPLES,
      fillOpacity: 0.6,
    });
  });
}

export function pairMarks(
  p: ShownColumn,
  q: ShownColumn,
  sets: Sets,
  dots: number,
  side: number,
): Plot.Markish[] {
  if (p.labels && q.labels) return discMarks(p, q, sets, side);
  if (p.labels) return rangeMarks(p, q, sets, true);
  if (q.labels) return rangeMarks(q, p, sets, false);
  const of = (rows: readonly Cells[]): Points =>
    pointsOf(p.valuesOf(rows), q.valuesOf(rows), [p, q], dots);
  return clouds(of(sets.data), of(sets.samples), side < 120 ? 1.7 : 2.2);
}
