/** The report of sample-where: tables and a figure. */
import { COLOURS, chart } from "diffeo-picture/chart";
import { mapTitles, type StudyMap } from "../problem/maps.ts";
import { linesPanel } from "../study/lines.ts";
import { median } from "../study/paired.ts";
import type { StudyRecord, StudyReport } from "../study/study.ts";
import { markdown, show } from "../study/table.ts";
import {
  DRIFT_SCALES,
  type SampleWhereResult,
  type SampleWhereTask,
  STEPS,
  type Way,
  ways,
} from "./run.ts";

type Records = readonly StudyRecord<SampleWhereTask, SampleWhereResult>[];

const names = Object.keys(ways) as Way[];
const colours: Readonly<Record<Way, string>> = {
  "Euler–Maruyama in x": COLOURS.blue,
  "Euler–Maruyama in y": COLOURS.vermilion,
  "Milstein in y": COLOURS.orange,
  "Heun's flow in x": COLOURS.sky,
  "Heun's flow in y": COLOURS.purple,
};

const unique = <T>(values: readonly T[]): T[] => [...new Set(values)];
const scalesOf = (records: Records): number[] =>
  unique(records.map(({ task }) => task.scale)).sort((a, b) => a - b);

/** Stands for a run whose samples were not finite: further than any other. */
const LOST = { distance: 1e9, exits: 1 } as const;

/** One number of each record's way. */
const valuesOf = (
  records: Records,
  of: "distance" | "exits",
  way: Way,
  w: number,
  steps: number,
): number[] =>
  records.flatMap(({ result }) =>
    result.ways
      .filter((r) => r.way === way && r.w === w && r.steps === steps)
      .map((r) => r[of] ?? LOST[of]),
  );

const chanceOf = (records: Records): number => median(records.map(({ result }) => result.chance));

/** The fewest steps whose median distance is at most twice that of chance. */
function enough(records: Records, way: Way, w: number): string {
  const most = 2 * chanceOf(records);
  const found = STEPS.find((steps) => {
    const values = valuesOf(records, "distance", way, w, steps);
    return values.length > 0 && median(values) <= most;
  });
  return found === undefined ? `> ${STEPS.at(-1)}` : String(found);
}

const ofMap = (records: Records, map: StudyMap, scale: number): Records =>
  records.filter(({ task }) => task.map === map && task.scale === scale);

/** Shares of runs whose samples were no longer finite. */
function lostLines(records: Records): string {
  const lines = scalesOf(records).flatMap((scale) =>
    unique(records.map(({ task }) => task.map)).flatMap((map) =>
      names.flatMap((way) => {
        const runs = ofMap(records, map, scale).flatMap(({ result }) =>
          result.ways.filter((r) => r.way === way),
        );
        const lost = runs.filter(({ distance }) => distance === null).length;
        return lost === 0
          ? []
          : [`- ${mapTitles[map]}, a = ${scale}, ${way}: ${lost} of ${runs.length} runs.`];
      }),
    ),
  );
  return lines.length === 0 ? "None." : lines.join("\n");
}

function stepsTable(records: Records, w: number): string {
  const present = names.filter((way) => w === 1 || !ways[way].flow);
  const rows = scalesOf(records).flatMap((scale) =>
    unique(records.map(({ task }) => task.map)).map((map) => {
      const own = ofMap(records, map, scale);
      const near = median(own.map(({ result }) => result.nearBoundary));
      return [
        mapTitles[map],
        String(scale),
        `${show(100 * near)} %`,
        ...present.map((way) => enough(own, way, w)),
      ];
    }),
  );
  return markdown(["map", "a", "within 10⁻³ of the boundary", ...present], rows);
}

function distanceTable(records: Records, w: number): string {
  const present = names.filter((way) => w === 1 || !ways[way].flow);
  const rows = scalesOf(records).flatMap((scale) =>
    present.map((way) => [
      String(scale),
      way,
      ...STEPS.map((steps) => {
        const own = records.filter(({ task }) => task.scale === scale);
        const found = median(valuesOf(own, "distance", way, w, steps));
        return found >= LOST.distance / 2 ? "lost" : show(1000 * found);
      }),
      ...STEPS.slice(0, 2).map((steps) => {
        const own = records.filter(({ task }) => task.scale === scale);
        return `${show(100 * median(valuesOf(own, "exits", way, w, steps)))} %`;
      }),
    ]),
  );
  const head = [...STEPS.map((n) => `${n} steps`), ...STEPS.slice(0, 2).map((n) => `exits, ${n}`)];
  return markdown(["a", "steps are taken", ...head], rows);
}

function scaledTable(records: Records): string {
  const scales = scalesOf(records);
  const head = DRIFT_SCALES.filter((w) => w !== 1).flatMap((w) =>
    scales.map((scale) => `w = ${w}, a = ${scale}`),
  );
  const rows = unique(records.map(({ task }) => task.map)).map((map) => [
    mapTitles[map],
    ...DRIFT_SCALES.filter((w) => w !== 1).flatMap((w) =>
      scales.map((scale) => {
        const own = ofMap(records, map, scale);
        const values = own.flatMap(({ result }) =>
          result.scaledInX.filter((r) => r.w === w).map(({ distance }) => distance),
        );
        return values.length === 0 ? "–" : show(median(values) / chanceOf(own));
      }),
    ),
  ]);
  return markdown(["map", ...head], rows);
}

function figure(records: Records): string {
  const panels = scalesOf(records).map((scale) => {
    const own = records.filter(({ task }) => task.scale === scale);
    return linesPanel({
      heading: `y = φ(${scale === 1 ? "" : `${scale} `}x)`,
      series: names.map((way) => ({
        label: way,
        colour: colours[way],
        points: STEPS.map((steps) => ({
          x: steps,
          y: median(valuesOf(own, "distance", way, 1, steps)),
        })),
      })),
      level: { y: chanceOf(own), label: "chance" },
      x: { type: "log", label: "steps", ticks: [...STEPS], tickFormat: String, inset: 8 },
      y: {
        type: "log",
        label: "energy distance in y, median",
        domain: [3e-4, 0.2],
        ticks: 4,
        tickFormat: "~e",
      },
    });
  });
  return chart({
    title: "Distance to the distribution of y by number of steps, exact score, w = 1",
    note:
      "Medians over maps and seeds; ways share their noise, so that their levels move together. " +
      "The greater a in φ(a x), the closer y is to the boundary.",
    description: "Energy distance by number of steps for five ways to step, one panel per scale.",
    legend: names.map((way) => ({ label: way, colour: colours[way] })),
    panels,
    width: 500,
  });
}

export function report(records: Records): StudyReport {
  const text = [
    `${records.length} records: three Gaussians through φ(a x), 1,000 samples each. Distances ` +
      "are energy distances in y; two exact sets of 1,000 have " +
      `${show(1000 * chanceOf(records))}·10⁻³ in the median.`,
    "## Steps until the distance is at most twice that of chance, w = 1",
    stepsTable(records, 1),
    "## The same for w = 0.9 and w = 1.1",
    "The reference is the process with drift w f̂ stepped in x with 1,600 steps.",
    ...[0.9, 1.1].map((w) => stepsTable(records, w)),
    "## Distances, 10⁻³, and share of steps that leave the domain, w = 1",
    "Medians over maps and seeds. A step that leaves is not taken.",
    distanceTable(records, 1),
    "## Runs whose samples were not finite",
    lostLines(records),
    "## w in y against w in x",
    "Distance between drifts scaled in y and drifts scaled in x and mapped, in units of chance.",
    scaledTable(records),
  ];
  return { text: `${text.join("\n\n")}\n`, figures: { "sample-where": figure(records) } };
}
