/**
 * A pair plot: every column against every other, data and samples in one cloud; the columns' own
 * distributions on the diagonal; rank correlations above it. Labels are bars, and against numbers
 * the range of the middle half and of nine tenths of each label's rows.
 */
import { quantiles } from "diffeo/host";
import { FAINT, grid, Plot } from "diffeo-picture/chart";
import { rankVector } from "../measure/distances.ts";
import type { Cells } from "../measure/law.ts";
import { type ShownColumn, type ShownColumns, type ShownDomain, shownColumns } from "./columns.ts";
import { clouds, DATA, dotsOf, histograms, legend, type Points, SAMPLES, shares } from "./marks.ts";

/** Sets of rows that a picture of pairs compares. */
export interface PairSets {
  readonly domain: ShownDomain;
  /** One of the two may be empty. */
  readonly data: readonly Cells[];
  readonly samples: readonly Cells[];
  /** Which columns. Default the first dozen. */
  readonly columns?: readonly string[];
}

export interface PairOptions extends PairSets {
  readonly title: string;
}

interface Sets {
  readonly data: readonly Cells[];
  readonly samples: readonly Cells[];
}

/** Dots of all panels together, and of one at most and at least. */
const DOTS = 60_000;
const [MOST_DOTS, LEAST_DOTS] = [900, 120];
/** The widest picture, and the sides of its plots. */
const WIDTH = 1060;
const [LEAST_SIDE, MOST_SIDE] = [84, 210];

const scaleOf = ({ isLog, range }: ShownColumn): Plot.ScaleOptions => ({
  type: isLog ? "log" : "linear",
  domain: [...range],
});

/** Room for a label left of the plots, next to the name of its column. */
const LABEL_ROOM = 44;

/**
 * An axis with the column's name where it is at the edge of the grid, none elsewhere; `room` is
 * that of a label.
 */
function axisOf(
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
 * Numbers of an axis: thousands and millions by their letter, tiny and huge ones and those of many
 * sizes by their powers of ten.
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

/**
 * Integers as they are drawn, next to each other: at the i-th multiple of the golden ratio
 * within their place.
 */
const spread = (v: number, { isWhole }: ShownColumn, i: number): number =>
  isWhole ? v + 0.7 * (((i * 0.618034) % 1) - 0.5) : v;

/** Of each label the ranges of the numbers next to it, data left of samples or below them. */
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
    const rule = (from: number, to: number, width: number): Plot.Markish =>
      across
        ? Plot.ruleX(ranges, {
            x: "k",
            y1: (r: Range) => r.q[from],
            y2: (r: Range) => r.q[to],
            stroke: colour,
            strokeWidth: width,
          })
        : Plot.ruleY(ranges, {
            y: "k",
            x1: (r: Range) => r.q[from],
            x2: (r: Range) => r.q[to],
            stroke: colour,
            strokeWidth: width,
          });
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

/** Of each pair of labels two discs whose areas are its shares. */
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

function pairMarks(
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

/** Two rank correlations as text. */
function correlationPlot(
  p: ShownColumn,
  q: ShownColumn,
  { data, samples }: Sets,
): Plot.PlotOptions | undefined {
  if (p.labels || q.labels) return undefined;
  const correlation = (rows: readonly Cells[]): number => {
    const [a, b] = [rankVector(p.valuesOf(rows)), rankVector(q.valuesOf(rows))];
    return a.reduce((s, v, i) => s + v * b[i], 0);
  };
  const text = (rows: readonly Cells[], y: number, fill: string): Plot.Markish =>
    Plot.text([[0, y]], {
      text: () =>
        correlation(rows)
          .toFixed(2)
          .replace(/^-0\.00$/, "0.00")
          .replace("-", "−"),
      fill,
      fontSize: 13,
    });
  return {
    axis: null,
    x: { domain: [-1, 1] },
    y: { domain: [-1, 1] },
    marks: [
      ...(data.length > 0 ? [text(data, 0.24, DATA)] : []),
      ...(samples.length > 0 ? [text(samples, -0.24, SAMPLES)] : []),
    ],
  };
}

const frame = Plot.frame({ stroke: FAINT, strokeOpacity: 0.5 });

/** The plots of a pair plot, each to be drawn on its own. */
export interface PairPlots extends ShownColumns {
  /**
   * The plot in a row and a column, so many pixels a side; undefined where there is nothing to
   * show.
   */
  readonly at: (row: number, column: number, side: number) => Plot.PlotOptions | undefined;
  /** Dots of each set in a plot, at most. */
  readonly dots: number;
}

export function pairPlots({ domain, data, samples, columns: names }: PairSets): PairPlots {
  const shown = shownColumns(domain, data, samples, names);
  const { columns } = shown;
  const n = columns.length;
  const panels = Math.max(1, (n * (n - 1)) / 2);
  const most = Math.min(MOST_DOTS, Math.max(LEAST_DOTS, Math.floor(DOTS / 2 / panels)));
  const dots = dotsOf(data.length, samples.length, most);
  const sets = { data, samples };
  const at: PairPlots["at"] = (i, j, side) => {
    const [q, p] = [columns[i], columns[j]];
    if (j > i) return correlationPlot(p, q, sets);
    const x = axisOf(p, i === n - 1, side);
    if (i === j) {
      const [a, b] = [p.valuesOf(data), p.valuesOf(samples)];
      const most = Math.max(...shares(a, p.edges), ...shares(b, p.edges));
      const y: Plot.ScaleOptions = {
        ...(i === 0 ? { ...axisOf(p, true, side), type: "linear", ticks: [] } : { axis: null }),
        domain: [0, 1.12 * most],
      };
      return { x, y, marks: [frame, ...histograms(a, b, p.edges)] };
    }
    return {
      x,
      y: axisOf(q, j === 0, side, LABEL_ROOM),
      r: { type: "identity" },
      marks: [frame, ...pairMarks(p, q, sets, dots, side)],
    };
  };
  return { ...shown, at, dots };
}

/** The pair plot as SVG. */
export function pairPlot({ title, ...options }: PairOptions): string {
  const { data, samples } = options;
  const { columns, leftOut, at, dots } = pairPlots(options);
  const left = columns.some(({ labels }) => labels) ? 72 : 60;
  const side = Math.round(
    Math.min(MOST_SIDE, Math.max(LEAST_SIDE, (WIDTH - left) / columns.length - 6)),
  );
  const cells = columns.map((_, i) => columns.map((_, j) => at(i, j, side)));
  return grid({
    title,
    note: [
      `Each pair of columns: ${Math.min(dots, data.length)} rows of data and ${Math.min(dots, samples.length)} samples. Diagonal: shares of all. Above it: rank correlations of data and of samples.`,
      ...(leftOut.length > 0
        ? [
            `Left out: ${leftOut.slice(0, 12).join(", ")}${leftOut.length > 12 ? `, and ${leftOut.length - 12} more` : ""}.`,
          ]
        : []),
    ],
    description: `Pair plot of ${columns.map(({ name }) => name).join(", ")}: data and samples of the model.`,
    legend,
    cells,
    side,
    left,
    bottom: 40,
  });
}
