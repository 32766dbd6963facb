/**
 * The figures of a study: one panel per dataset, one column per loss, one mark per run, and a box
 * for the quartiles.
 */
import { mapValues, quantile } from "diffeo/host";
import type { ObjectiveName } from "diffeo/matching";
import { COLOURS, chart, FAINT, type Panel, Plot } from "diffeo-picture/chart";
import { unitGaussianWith } from "../dkef/evaluate.ts";
import { likelihood } from "../measure/measure.ts";
import { lossesOf, type Measure, placeOf } from "./report.ts";
import type { RunRecord } from "./study.ts";

/**
 * By column: losses with all derivatives, losses of linear slices and of quadratic ones, and
 * colours for others.
 */
const { grey, sky, blue, orange, vermilion, green, purple } = COLOURS;
const HUES = [grey, sky, blue, orange, vermilion, green, purple];
const colourOf = (loss: ObjectiveName): string => HUES.at(placeOf(loss) % HUES.length) as string;

/**
 * An axis that contains most points. Far outliers would flatten the rest, and are drawn at its
 * edge.
 */
function rangeOf(values: readonly number[]): readonly [number, number] {
  const [lower, upper] = [quantile(values, 0.25), quantile(values, 0.75)];
  const reach = 2.5 * Math.max(upper - lower, 1e-6);
  const low = Math.max(Math.min(...values), lower - reach);
  const high = Math.min(Math.max(...values), upper + reach);
  const margin = 0.06 * (high - low || 1);
  return [low - margin, high + margin];
}

/** Half the width of a box, for columns at distance 1, and of the marks of seeds in it. */
const HALF = 0.32;
const SPREAD = 0.24;

interface Column {
  readonly loss: ObjectiveName;
  readonly values: readonly { readonly seed: number; readonly value: number; readonly x: number }[];
}

/** Seeds are drawn side by side in their order, so that the same position is the same seed. */
const columnsOf = (records: readonly RunRecord[], of: Measure): Column[] =>
  lossesOf(records)
    .flatMap((loss) => {
      const own = records
        .filter((r) => r.loss === loss)
        .flatMap((r) => ({ seed: r.seed, value: of(r) }));
      const known = own.filter(
        (run): run is { seed: number; value: number } => run.value !== undefined,
      );
      return known.length === 0 ? [] : [{ loss, known }];
    })
    .map(({ loss, known }, i) => ({
      loss,
      values: known.map((run, k) => ({
        ...run,
        x: i + (known.length > 1 ? (2 * k) / (known.length - 1) - 1 : 0) * SPREAD,
      })),
    }));

/**
 * The box of a column, its median and its runs. A mark at the edge of the axis points to a run
 * outside of it.
 */
function columnMarks(
  { loss, values }: Column,
  i: number,
  [low, high]: readonly [number, number],
): Plot.Markish[] {
  const inside = (v: number): number => Math.min(high, Math.max(low, v));
  const colour = colourOf(loss);
  const [q1, q2, q3] = [0.25, 0.5, 0.75].map((share) =>
    inside(
      quantile(
        values.map(({ value }) => value),
        share,
      ),
    ),
  );
  const [x1, x2] = [i - HALF, i + HALF];
  const title = ({ seed, value }: { seed: number; value: number }): string =>
    `${loss}, seed ${seed}: ${value.toFixed(2)}`;
  const beyond = (sign: 1 | -1) =>
    values.filter(({ value }) => (sign > 0 ? value > high : value < low));
  const pointer = (sign: 1 | -1) =>
    Plot.dot(beyond(sign), {
      x: "x",
      y: () => (sign > 0 ? high : low),
      symbol: "triangle",
      rotate: sign > 0 ? 0 : 180,
      r: 3,
      fill: colour,
      title,
    });
  return [
    Plot.rect([0], { x1, x2, y1: q1, y2: q3, fill: colour, fillOpacity: 0.15, stroke: colour }),
    Plot.ruleY([q2], { x1, x2, stroke: colour, strokeWidth: 2.5 }),
    Plot.dot(
      values.filter(({ value }) => value >= low && value <= high),
      { x: "x", y: "value", r: 2.4, fill: colour, stroke: "#ffffff", strokeWidth: 0.4, title },
    ),
    pointer(1),
    pointer(-1),
  ];
}

/** A line at the value of a unit Gaussian, if the axis contains it. */
function gaussianMarks(
  value: number,
  [low, high]: readonly [number, number],
  width: number,
): Plot.Markish[] {
  if (!(value > low && value < high)) return [];
  return [
    Plot.ruleY([value], { stroke: FAINT, strokeDasharray: "4 3" }),
    Plot.text([[width - 0.5, value]], {
      text: () => "unit Gaussian",
      fill: FAINT,
      stroke: "#ffffff",
      strokeWidth: 4,
      textAnchor: "end",
      lineAnchor: "bottom",
      dy: -3,
    }),
  ];
}

interface Figure {
  readonly title: string;
  readonly axis: string;
  readonly of: Measure;
  /** The measures of a unit Gaussian on whitened points of n coordinates. */
  readonly gaussian: (n: number) => number;
}

function panelOf(
  records: readonly RunRecord[],
  dataset: string,
  { axis, of, gaussian }: Figure,
): Panel {
  const own = records.filter((r) => r.dataset === dataset);
  const columns = columnsOf(own, of);
  const range = rangeOf(columns.flatMap(({ values }) => values.map(({ value }) => value)));
  const lost = columns.map(
    ({ values }) => values.filter(({ value }) => value < range[0] || value > range[1]).length,
  );
  return {
    heading: dataset,
    x: {
      domain: [-0.5, columns.length - 0.5],
      ticks: columns.map((_, i) => i),
      tickSize: 0,
      tickFormat: (i: number) => `${columns[i].loss}${lost[i] > 0 ? `\n+${lost[i]}` : ""}`,
      label: null,
    },
    y: { domain: range, label: axis, ticks: 6 },
    marks: [
      ...gaussianMarks(gaussian(own[0].n), range, columns.length),
      ...columns.flatMap((column, i) => columnMarks(column, i, range)),
    ],
  };
}

const figures: Readonly<Record<string, Figure>> = {
  "score-matching": {
    title: "Exact score matching on the test set (lower is better)",
    axis: "½‖s‖² + tr ∇s, mean",
    of: (r) => r.chosen.scoreMatching.mean,
    gaussian: (n) => unitGaussianWith(n).scoreMatching,
  },
  "log-likelihood": {
    title: "Test log-likelihood, annealed normaliser (higher is better)",
    axis: "nats per point",
    of: (r) => likelihood(r.chosen),
    gaussian: (n) => unitGaussianWith(n).logLikelihood,
  },
};

/** Figures by file name, without an extension. */
export function studyCharts(records: readonly RunRecord[]): Readonly<Record<string, string>> {
  const datasets = [...new Set(records.map((r) => r.dataset))];
  const drawn = (figure: Figure): string =>
    chart({
      title: figure.title,
      note:
        "Dots are seeds, boxes their quartiles and medians. ▲ and ▼ mark seeds outside of the " +
        "axis; + is their number.",
      description:
        `${figure.title}: one panel per dataset (${datasets.join(", ")}), ` +
        "one column per loss.",
      panels: datasets.map((dataset) => panelOf(records, dataset, figure)),
      width: 330,
    });
  return mapValues(figures, drawn);
}
