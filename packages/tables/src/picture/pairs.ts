/**
 * A pair plot: every column against every other, data and samples in one cloud; on the diagonal the
 * distributions of the columns; above it rank correlations. Labels are bars; against numbers they
 * show the central intervals of 50 % and 90 % for each label.
 */

import { FAINT, grid, Plot } from "diffeo-picture/chart";
import { rankVector } from "../measure/distances.ts";
import type { Cells } from "../measure/table-distribution.ts";
import { type ShownColumn, type ShownColumns, type ShownDomain, shownColumns } from "./columns.ts";
import { DATA, dotsOf, histograms, legend, SAMPLES, shares } from "./marks.ts";
import { axisOf, LEAST_DOTS, MOST_DOTS, pairMarks, type Sets } from "./pair-marks.ts";

/** The sets of rows that a pair plot compares. */
export interface PairSets {
  readonly domain: ShownDomain;
  /** One of the two may be empty. */
  readonly data: readonly Cells[];
  readonly samples: readonly Cells[];
  /** The columns to show. Default: the first twelve. */
  readonly columns?: readonly string[];
}

export interface PairOptions extends PairSets {
  readonly title: string;
}

/** Number of dots in all panels together, and the maximum and minimum per panel. */
const DOTS = 60_000;

/** The maximum width of a picture, and the side lengths of its plots. */
const WIDTH = 1060;

const [LEAST_SIDE, MOST_SIDE] = [84, 210];

/** Space for a label left of the plots, next to the name of its column. */
const LABEL_ROOM = 44;

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

/** The plots of a pair plot, each drawn separately. */
export interface PairPlots extends ShownColumns {
  /**
   * The plot in a row and a column, with this side length in pixels; undefined if there is nothing
   * to show.
   */
  readonly at: (row: number, column: number, side: number) => Plot.PlotOptions | undefined;
  /** Maximum number of dots per set and plot. */
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
      `Each pair of columns: ${Math.min(dots, data.length)} rows of data and ` +
        `${Math.min(dots, samples.length)} samples. Diagonal: distribution of each column. ` +
        "Above it: rank correlations of data and of samples.",
      ...(leftOut.length > 0
        ? [
            `Left out: ${leftOut.slice(0, 12).join(", ")}` +
              `${leftOut.length > 12 ? `, and ${leftOut.length - 12} more` : ""}.`,
          ]
        : []),
    ],
    description:
      `Pair plot of ${columns.map(({ name }) => name).join(", ")}: data and samples of the ` +
      "model.",
    legend,
    cells,
    side,
    left,
    bottom: 40,
  });
}
