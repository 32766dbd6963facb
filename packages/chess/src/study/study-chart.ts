/**
 * The figure of a study of w: mean pieces and the share of legal boards against w. Each sampler has
 * its colour and mark.
 */
import { COLOURS, chart, FAINT, type Panel, Plot } from "diffeo-picture/chart";
import { STUDY_SOLVERS, type StudyRecord, type StudySolver } from "./study.ts";
import { ofSolver, SOLVER_NAMES } from "./study-report.ts";

const LOOK: Readonly<
  Record<StudySolver, { readonly colour: string; readonly symbol: "circle" | "diamond2" }>
> = {
  domainPreserving: { colour: COLOURS.blue, symbol: "circle" },
  eulerMaruyama: { colour: COLOURS.vermilion, symbol: "diamond2" },
};

interface Quantity {
  readonly heading: string;
  readonly axis: string;
  readonly ticks: readonly number[];
  readonly top: number;
  readonly of: (record: StudyRecord) => number;
  /** The limits of the shaded interval. */
  readonly range: (record: StudyRecord) => readonly [number, number];
}

/** Wilson's 95 % interval of a share, which does not vanish at 0 and 1. */
function shareInterval({ legal: p, count: n }: StudyRecord): [number, number] {
  const z = 1.96;
  const centre = p + z ** 2 / (2 * n);
  const reach = z * Math.sqrt((p * (1 - p)) / n + (z / (2 * n)) ** 2);
  return [(centre - reach) / (1 + z ** 2 / n), (centre + reach) / (1 + z ** 2 / n)];
}

const quantitiesOf = (records: readonly StudyRecord[]): Quantity[] => [
  {
    heading: "Pieces on a board",
    axis: "mean, ± 1 SD shaded",
    ticks: [0, 8, 16, 24, 32],
    top: Math.max(32, ...records.map(({ pieces }) => pieces.mean + pieces.sd)),
    of: (r) => r.pieces.mean,
    range: ({ pieces: { mean, sd } }) => [Math.max(0, mean - sd), mean + sd],
  },
  {
    heading: "Strictly legal boards",
    axis: "share, 95 % interval shaded",
    ticks: [0, 0.2, 0.4, 0.6, 0.8, 1],
    top: 1,
    of: (r) => r.legal,
    range: shareInterval,
  },
];

const shade = (own: readonly StudyRecord[], { range }: Quantity, colour: string): Plot.Markish =>
  Plot.areaY(own, {
    x: "w",
    y1: (r: StudyRecord) => range(r)[0],
    y2: (r: StudyRecord) => range(r)[1],
    fill: colour,
    fillOpacity: 0.13,
  });

function panelOf(records: readonly StudyRecord[], quantity: Quantity): Panel {
  const { heading, axis, ticks, top, of } = quantity;
  const present = STUDY_SOLVERS.map((method) => ({
    own: ofSolver(records, method),
    ...LOOK[method],
  })).filter(({ own }) => own.length > 0);
  const scales = records.map(({ w }) => w);
  const title = (r: StudyRecord): string => `w = ${r.w}: ${Number(of(r).toFixed(3))}`;
  return {
    heading,
    x: { label: "w, scale of the drift (1: as trained)", inset: 8, ticks: 6 },
    y: { label: axis, domain: [0, top], ticks },
    marks: [
      ...(Math.min(...scales) < 1 && Math.max(...scales) > 1
        ? [Plot.ruleX([1], { stroke: FAINT, strokeDasharray: "3 3" })]
        : []),
      ...present.map(({ own, colour }) => shade(own, quantity, colour)),
      ...present.flatMap(({ own, colour, symbol }) => [
        Plot.lineY(own, { x: "w", y: of, stroke: colour, strokeWidth: 1.8 }),
        Plot.dot(own, {
          x: "w",
          y: of,
          symbol,
          r: 4,
          fill: colour,
          stroke: "#ffffff",
          strokeWidth: 1,
          title,
        }),
      ]),
      Plot.ruleY([0], { stroke: FAINT }),
    ],
  };
}

/** The figure as SVG. */
export function studyChart(records: readonly StudyRecord[]): string {
  const legend = STUDY_SOLVERS.flatMap((method) => {
    const [first] = ofSolver(records, method);
    return first
      ? [{ label: `${SOLVER_NAMES[method]}, ${first.steps} steps`, ...LOOK[method] }]
      : [];
  });
  return chart({
    title:
      `Scaling the drift on the simplex: ${records[0].count.toLocaleString("en")} boards ` +
      "for each w",
    description: "Mean pieces and the share of legal boards against w, by sampler.",
    legend,
    panels: quantitiesOf(records).map((quantity) => panelOf(records, quantity)),
  });
}
