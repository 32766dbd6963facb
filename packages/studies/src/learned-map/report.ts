/** The report of learned-map: tables and a figure. */
import { COLOURS, chart, type Panel } from "diffeo-picture/chart";
import { type KnownName, knownDistributions } from "../problem/plane.ts";
import { linesPanel } from "../study/lines.ts";
import { median, paired } from "../study/paired.ts";
import type { StudyRecord, StudyReport } from "../study/study.ts";
import { markdown, show } from "../study/table.ts";
import { type ArmName, armNames, FEW_STEPS } from "./arms.ts";
import { type LearnedMapResult, type LearnedMapTask, MANY_STEPS } from "./run.ts";

type Records = readonly StudyRecord<LearnedMapTask, LearnedMapResult>[];
type Measure = keyof LearnedMapResult;

const distributions = Object.keys(knownDistributions) as KnownName[];
const titles: Readonly<Record<KnownName, string>> = {
  curve: "a bent Gaussian",
  modes: "three modes",
};
const hues: Readonly<Record<ArmName, string>> = {
  none: COLOURS.grey,
  before: COLOURS.orange,
  joint: COLOURS.blue,
  sampler: COLOURS.vermilion,
};
const measures: readonly (readonly [Measure, string])[] = [
  ["nats", "nats lost"],
  ["few", `energy distance, ${FEW_STEPS} steps`],
  ["many", `energy distance, ${MANY_STEPS} steps`],
];

/** A measure by seed; a likelihood that the flow was too stiff to give is infinitely low. */
const bySeed = (
  records: Records,
  distribution: KnownName,
  arm: ArmName,
  of: Measure,
): Map<number, number> =>
  new Map(
    records
      .filter(({ task: t }) => t.distribution === distribution && t.arm === arm)
      .map(({ task, result }) => [task.seed, result[of] ?? Number.POSITIVE_INFINITY]),
  );

/** Medians over seeds; in brackets how many seeds are better than the same seed of another arm. */
function table(records: Records, base: ArmName): string {
  const rows = distributions.flatMap((distribution) =>
    armNames.flatMap((arm) => {
      if (bySeed(records, distribution, arm, "few").size === 0) return [];
      const cells = measures.map(([of]) => {
        const own = bySeed(records, distribution, arm, of);
        const other = bySeed(records, distribution, base, of);
        const seeds = [...own.keys()].filter((seed) => other.has(seed));
        const text = show(median([...own.values()]));
        if (arm === base || seeds.length === 0) return text;
        const values = (from: Map<number, number>) => seeds.map((s) => from.get(s) as number);
        const { lower, count, p } = paired(values(own), values(other));
        return `${text} (${lower}/${count}, p = ${show(p)})`;
      });
      return [[titles[distribution], arm, ...cells]];
    }),
  );
  return markdown(["distribution", "map", ...measures.map(([, title]) => title)], rows);
}

const chanceOf = (records: Records): number => median(records.map(({ result }) => result.chance));

function panelOf(records: Records, [of, title]: (typeof measures)[number]): Panel {
  return linesPanel({
    heading: title,
    join: false,
    series: armNames.map((arm, k) => ({
      label: arm,
      colour: hues[arm],
      points: distributions.flatMap((distribution, i) => {
        const values = [...bySeed(records, distribution, arm, of).values()];
        if (values.length === 0) return [];
        const [low, high] = [Math.min(...values), Math.max(...values)];
        return [{ x: i + (k - 1.5) * 0.16, y: median(values), low, high }];
      }),
    })),
    level: of === "nats" ? undefined : { y: chanceOf(records), label: "chance" },
    x: {
      label: null,
      domain: [-0.5, distributions.length - 0.5],
      ticks: distributions.map((_, i) => i),
      tickFormat: (i: number) => titles[distributions[i]],
    },
    y: { type: "log", label: null, ticks: 4, tickFormat: "~g" },
  });
}

const figure = (records: Records): string =>
  chart({
    title: "A map learned before the score, with it, or for the sampler",
    note:
      "Medians over seeds; bars reach from the least to the greatest. Lower is better " +
      "everywhere.",
    description: "Nats lost and energy distances by map and distribution, one panel per measure.",
    legend: armNames.map((label) => ({ label, colour: hues[label] })),
    panels: measures.map((measure) => panelOf(records, measure)),
    width: 320,
  });

/** Tables and the figure of all records. */
export function report(records: Records): StudyReport {
  const text = [
    `${records.length} records. Medians over seeds. In brackets: in how many seeds the arm is ` +
      "better than the same seed of the arm it is compared with, and the two-sided p of the " +
      "mean difference under random signs. Two exact sets of samples have an energy distance of " +
      `${show(chanceOf(records))} in the median.`,
    "## Compared with no map",
    table(records, "none"),
    "## Compared with a map by maximum likelihood before the score",
    table(records, "before"),
  ];
  return { text: `${text.join("\n\n")}\n`, figures: { "learned-map": figure(records) } };
}
