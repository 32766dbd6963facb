/**
 * Panels next to the pair plot: three parts of a whole in a triangle, and likelihood ranks compared
 * with the diagonal.
 */
import type { Product, ProductPart } from "diffeo/domain";
import { chart, FAINT, type Panel, Plot } from "diffeo-picture/chart";
import type { Calibration } from "../measure/calibration.ts";
import type { Cells } from "../measure/table-distribution.ts";
import { clouds, dotsOf, legend, type Points, SAMPLES } from "./marks.ts";

const HEIGHT = Math.sqrt(3) / 2;
const MOST_DOTS = 1500;
const PANEL = { width: 340, height: 310 };

/** Shares (a, b, c) as a point: a at the lower left, b at the lower right, c at the top. */
const place = (a: number, b: number, c: number): [number, number] => {
  const total = a + b + c;
  return [(b + c / 2) / total, (c * HEIGHT) / total];
};

/** Lines of equal shares, in fifths of the whole. */
const lines: readonly (readonly [number, number])[][] = [0.2, 0.4, 0.6, 0.8].flatMap((s) => [
  [place(s, 1 - s, 0), place(s, 0, 1 - s)],
  [place(1 - s, s, 0), place(0, s, 1 - s)],
  [place(1 - s, 0, s), place(0, 1 - s, s)],
]);

function trianglePanel(
  { columns, at }: ProductPart,
  data: readonly Cells[],
  samples: readonly Cells[],
): Panel {
  const dots = dotsOf(data.length, samples.length, MOST_DOTS);
  const of = (rows: readonly Cells[]): Points =>
    rows
      .slice(0, dots)
      .map((row) =>
        place(Number(row[at.cells]), Number(row[at.cells + 1]), Number(row[at.cells + 2])),
      );
  const corners = [place(1, 0, 0), place(0, 1, 0), place(0, 0, 1), place(1, 0, 0)];
  const name = (i: number, textAnchor: "start" | "middle" | "end", dy: number): Plot.Markish =>
    Plot.text([corners[i]], { text: () => columns[i], textAnchor, dy, fontWeight: "bold" });
  return {
    heading: `${columns.join(", ")}: parts of a whole`,
    axis: null,
    marginLeft: 30,
    marginRight: 30,
    marginTop: 26,
    marginBottom: PANEL.height - 26 - (PANEL.width - 60) * HEIGHT,
    x: { domain: [0, 1], axis: null },
    y: { domain: [0, HEIGHT], axis: null, grid: false },
    marks: [
      ...lines.map((ends) => Plot.line(ends, { stroke: FAINT, strokeOpacity: 0.35 })),
      Plot.line(corners, { stroke: FAINT }),
      ...clouds(of(data), of(samples), 2.2),
      name(0, "middle", 14),
      name(1, "middle", 14),
      name(2, "middle", -10),
    ],
  };
}

function calibrationPanel({ ranks, chance }: Calibration): Panel {
  const steps: [number, number][] = [
    [0, 0],
    ...ranks.map((r, i): [number, number] => [r, (i + 1) / ranks.length]),
    [1, 1],
  ];
  return {
    heading: "likelihood ranks of the rows among samples",
    x: { label: "share of samples less likely than a row", domain: [0, 1] },
    y: { label: "share of rows", domain: [0, 1] },
    marks: [
      Plot.areaY([0, 1], {
        x: (v: number) => v,
        y1: (v: number) => v - chance,
        y2: (v: number) => v + chance,
        fill: FAINT,
        fillOpacity: 0.18,
        clip: true,
      }),
      Plot.line(
        [
          [0, 0],
          [1, 1],
        ],
        { stroke: FAINT, strokeDasharray: "4 3" },
      ),
      Plot.line(steps, { stroke: SAMPLES, strokeWidth: 1.6, curve: "step-after" }),
    ],
  };
}

/** Triangles of three parts, and ranks if they are known; undefined if there is nothing to draw. */
export function panelChart(
  domain: Product,
  data: readonly Cells[],
  samples: readonly Cells[],
  calibration?: Calibration,
): string | undefined {
  const wholes = domain.parts.filter(
    ({ domain: { kind, cells } }) => kind === "simplex" && cells === 3,
  );
  const panels = [
    ...wholes.map((part) => trianglePanel(part, data, samples)),
    ...(calibration ? [calibrationPanel(calibration)] : []),
  ];
  if (panels.length === 0) return undefined;
  return chart({
    title: [wholes.length > 0 ? "Parts of a whole" : "", calibration ? "Likelihood ranks" : ""]
      .filter(Boolean)
      .join("; "),
    ...(calibration && {
      note: [
        "Ranks follow the diagonal if the model is right;",
        "chance stays within the band in 19 of 20 cases.",
      ],
    }),
    description: panels.map(({ heading }) => heading).join("; "),
    ...(wholes.length > 0 && { legend }),
    panels,
    ...PANEL,
    columns: 3,
  });
}
