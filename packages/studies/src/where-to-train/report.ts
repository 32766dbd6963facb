/** The report of where-to-train: tables and a figure. */
import { COLOURS, chart } from "diffeo-picture/chart";
import { mapTitles, type StudyMap, studyMaps } from "../problem/maps.ts";
import { linesPanel } from "../study/lines.ts";
import { paired } from "../study/paired.ts";
import type { StudyRecord, StudyReport } from "../study/study.ts";
import { markdown, show } from "../study/table.ts";
import { BOUND, type LossName } from "./losses.ts";
import { TIMES } from "./measure.ts";
import { type ProcessName, processMaps, processNames } from "./processes.ts";
import type { LawName, WhereToTrainResult, WhereToTrainTask } from "./run.ts";

type Records = readonly StudyRecord<WhereToTrainTask, WhereToTrainResult>[];
type Measure = (result: WhereToTrainResult) => number | null | undefined;

const losses: readonly LossName[] = ["x", "weighted", "bounded", "y-metric", "y"];
const hues: Readonly<Record<LossName, string>> = {
  x: COLOURS.blue,
  weighted: COLOURS.vermilion,
  bounded: COLOURS.orange,
  "y-metric": COLOURS.green,
  y: COLOURS.purple,
  posterior: COLOURS.sky,
};
const maps = Object.keys(studyMaps) as StudyMap[];
const processTitles: Readonly<Record<ProcessName, string>> = {
  jacobi: "Jacobi diffusion of sticks",
  reflected: "reflected Brownian motion",
  langevin: "critically damped Langevin",
};

/** Values of the seeds in their order; what no number holds is ∞. */
function valuesOf(
  records: Records,
  law: LawName,
  map: StudyMap,
  loss: LossName | ProcessName,
  of: Measure,
) {
  return records
    .filter(({ task: t }) => t.law === law && t.map === map && t.loss === loss)
    .sort((a, b) => a.task.seed - b.task.seed)
    .map(({ result }) => of(result) ?? Number.POSITIVE_INFINITY);
}

/** The middle value, which may be ∞. */
function middle(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return low === high ? low : (low + high) / 2;
}

const cell = (values: readonly number[], scale = 1): string =>
  values.length === 0 ? "–" : show(scale * middle(values));

/**
 * Medians over seeds by distribution, map and loss; the p of pairs with `x` where all are numbers.
 */
function table(records: Records, laws: readonly LawName[], of: Measure, scale = 1): string {
  const rows = laws.flatMap((law) =>
    maps.flatMap((map) => {
      const base = valuesOf(records, law, map, "x", of);
      if (base.length === 0) return [];
      return [
        [
          law,
          mapTitles[map],
          ...losses.map((loss) => {
            const own = valuesOf(records, law, map, loss, of);
            const finite = own.length === base.length && [...own, ...base].every(Number.isFinite);
            if (loss === "x" || !finite) return cell(own, scale);
            const { lower, count } = paired(own, base);
            return `${cell(own, scale)} (${lower}/${count})`;
          }),
        ],
      ];
    }),
  );
  return markdown(["distribution", "map", ...losses], rows);
}

function weightTable(records: Records): string {
  const rows = (["inside", "boundary", "colours"] as const).flatMap((law) =>
    maps.flatMap((map) => {
      const at = (t: number, of: "effective" | "greatest") =>
        valuesOf(records, law, map, "x", (r) => r.errors.find((e) => e.t === t)?.[of]);
      if (at(TIMES[0], "effective").length === 0) return [];
      return [
        [
          law,
          mapTitles[map],
          ...TIMES.filter((_, i) => i % 2 === 0).map((t) => {
            const effective = middle(at(t, "effective"));
            return `${show(100 * effective)} %, ${show(middle(at(t, "greatest")))}`;
          }),
        ],
      ];
    }),
  );
  return markdown(
    ["distribution", "map", ...TIMES.filter((_, i) => i % 2 === 0).map((t) => `t = ${t}`)],
    rows,
  );
}

function timeTable(records: Records, law: LawName, map: StudyMap, of: "x" | "y" | "yMedian") {
  const rows = losses.map((loss) => [
    loss,
    ...TIMES.map((t) =>
      cell(valuesOf(records, law, map, loss, (r) => r.errors.find((e) => e.t === t)?.[of])),
    ),
  ]);
  return markdown(["loss", ...TIMES.map((t) => `t = ${t}`)], rows);
}

/** What stands for samples that are not there: none is legal. */
const NONE = { legal: 0, variation: 1 } as const;

function gridTable(records: Records): string {
  const rows = maps.flatMap((map) => {
    const all = [...losses, "posterior" as const];
    const of = (loss: LossName, name: "legal" | "variation") =>
      valuesOf(records, "colours", map, loss, (r) => r.grid && (r.grid[name] ?? NONE[name]));
    if (of("x", "legal").length === 0) return [];
    return [
      [
        mapTitles[map],
        ...all.map((loss) => `${cell(of(loss, "legal"))}, ${cell(of(loss, "variation"))}`),
      ],
    ];
  });
  return markdown(["map", ...losses, "posterior"], rows);
}

/** A process compared with VP trained in x on the same distribution of y: medians, and pairs. */
function processTable(records: Records): string {
  const rows = processNames.flatMap((name) =>
    (["inside", "boundary", "colours"] as const).flatMap((law) => {
      const map = processMaps[name];
      const seeds = records.flatMap(({ task: t }) =>
        t.law === law && t.map === map && t.loss === name ? [t.seed] : [],
      );
      const pairs = records.filter(({ task }) => seeds.includes(task.seed));
      const both = (of: Measure, scale = 1): string => {
        const own = valuesOf(pairs, law, map, name, of);
        const base = valuesOf(pairs, law, map, "x", of);
        if (own.length === 0 || ![...own, ...base].some(Number.isFinite)) return "–";
        const text = `${cell(own, scale)}, ${cell(base, scale)}`;
        const finite = own.length === base.length && [...own, ...base].every(Number.isFinite);
        if (!finite) return text;
        const { lower, count } = paired(own, base);
        return `${text} (${lower}/${count})`;
      };
      if (seeds.length === 0) return [];
      return [
        [
          processTitles[name],
          law,
          mapTitles[map],
          both((r) => r.samples?.distanceY, 1000),
          both((r) => r.samples?.nats),
          both((r) => r.grid?.legal),
          both((r) => r.grid?.variation),
        ],
      ];
    }),
  );
  return markdown(
    [
      ...["process", "distribution", "map", "energy distance in y, 10⁻³", "nats lost"],
      ...["legal boards", "total variation"],
    ],
    rows,
  );
}

function figure(records: Records): string {
  const panel = (law: LawName, of: "x" | "yMedian", heading: string, label: string) =>
    linesPanel({
      heading,
      series: losses.map((loss) => ({
        label: loss,
        colour: hues[loss],
        points: TIMES.map((t) => ({
          x: t,
          y: middle(
            valuesOf(
              records,
              law,
              "additiveLogistic",
              loss,
              (r) => r.errors.find((e) => e.t === t)?.[of],
            ),
          ),
        })).filter(({ y }) => Number.isFinite(y)),
      })),
      x: { type: "log", label: "t", ticks: [0.01, 0.1, 1], tickFormat: String, inset: 8 },
      y: { type: "log", label, ticks: 5, tickFormat: "~e" },
    });
  return chart({
    title: "Errors of a score on the simplex by how it was trained, additive logistic",
    note:
      "Medians over seeds of σ²E‖s − s*‖² in x, and of the median over points in y. One network " +
      "and budget for all.",
    description: "Errors by time for five ways to train, in x and in y, for two distributions.",
    legend: losses.map((label) => ({ label, colour: hues[label] })),
    panels: [
      panel("inside", "x", "in x, mass inside the simplex", "σ² × squared error"),
      panel("inside", "yMedian", "in y", "σ² × squared error, median"),
      panel("boundary", "x", "in x, mass at the boundary", "σ² × squared error"),
      panel("boundary", "yMedian", "in y", "σ² × squared error, median"),
    ],
    columns: 2,
  });
}

const meanOver =
  (of: "x" | "y" | "yMedian"): Measure =>
  ({ errors }) =>
    errors.some((e) => e[of] === null)
      ? null
      : errors.reduce((sum, e) => sum + (e[of] as number), 0) / errors.length;

export function report(records: Records): StudyReport {
  const text = [
    `${records.length} records. Medians over seeds; in brackets, how many seeds are lower ` +
      `than \`x\` of the same seed. \`weighted\`: J⁻ᵀ weights; \`bounded\`: the same, at most ` +
      `${BOUND} on average over directions; \`y-metric\`: a network that reads y with the loss ` +
      `of x; \`y\`: denoising score matching in y.`,
    "## Energy distance of samples in y, 10⁻³",
    table(records, ["inside", "boundary"], (r) => r.samples?.distanceY, 1000),
    "## Log-likelihood lost on held-out points, nats",
    table(records, ["inside", "boundary"], (r) => r.samples?.nats),
    "## Error of the score in x, σ²E‖s − s*‖², mean over times",
    table(records, ["inside", "boundary", "colours"], meanOver("x")),
    "## Error of the score in y, median over points, mean over times",
    table(records, ["inside", "boundary", "colours"], meanOver("yMedian")),
    "## Error of the score in y, mean over points, mean over times",
    table(records, ["inside", "boundary", "colours"], meanOver("y")),
    "## The grid: share of legal boards, total variation from the 18 of them",
    gridTable(records),
    "## Other processes, and VP trained in x on the same distribution",
    "The process, then `x`; in brackets, how many seeds of the process are lower.",
    processTable(records),
    "## Jacobian weights: points that are effective, and the greatest weight ‖J⁻¹‖²_F/n of 1,024",
    weightTable(records),
    "## Error in x by time, additive logistic, mass at the boundary",
    timeTable(records, "boundary", "additiveLogistic", "x"),
    "## Error in y by time, median over points",
    timeTable(records, "boundary", "additiveLogistic", "yMedian"),
    "## Error in y by time, mean over points",
    timeTable(records, "boundary", "additiveLogistic", "y"),
  ];
  return { text: `${text.join("\n\n")}\n`, figures: { "where-to-train": figure(records) } };
}
