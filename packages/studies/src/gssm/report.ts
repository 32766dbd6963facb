/** What follows from the records of gssm: tables and a figure. */
import { COLOURS, chart } from "diffeo-picture/chart";
import { linesPanel } from "../study/lines.ts";
import { median, paired } from "../study/paired.ts";
import type { StudyRecord, StudyReport } from "../study/study.ts";
import { markdown, show, spread } from "../study/table.ts";
import { type ModelName, models } from "./models.ts";
import { type SweepName, sweep, type TheoryObjective, theoryObjectives } from "./objectives.ts";
import type { CheckResult, GssmResult, GssmTask, SweepResult } from "./run.ts";
import type { Sandwich } from "./sandwich.ts";

type Records = readonly StudyRecord<GssmTask, GssmResult>[];

const modelNames = Object.keys(models) as ModelName[];
const objectives = Object.keys(theoryObjectives) as TheoryObjective[];
const variants = Object.keys(sweep) as SweepName[];

function theoryOf(
  records: Records,
  n: number,
  model: ModelName,
  objective: TheoryObjective,
): Sandwich | undefined {
  const found = records.find(
    ({ task: t }) =>
      t.part === "theory" && t.n === n && t.model === model && t.objective === objective,
  );
  return found?.result as Sandwich | undefined;
}

function theoryTable(records: Records, n: number): string {
  const rows = objectives.map((objective) => [
    objective,
    ...modelNames.map((model) => {
      const found = theoryOf(records, n, model, objective);
      if (!found) return "–";
      const slices = found.slices < 0.005 ? "" : ` (${show(Math.round(100 * found.slices))} %)`;
      return `${found.efficiency.toFixed(3)}${slices}`;
    }),
  ]);
  return markdown(["loss", ...modelNames.map((name) => models[name].title)], rows);
}

function checkTable(records: Records): string {
  const rows = modelNames.flatMap((model) =>
    objectives.flatMap((objective) => {
      const own = records.flatMap(({ task: t, result }) =>
        t.part === "check" && t.model === model && t.objective === objective
          ? (result as CheckResult).squared
          : [],
      );
      const theory = theoryOf(records, 2, model, objective);
      if (own.length === 0 || !theory) return [];
      const seen = own.reduce((a, b) => a + b, 0) / own.length;
      const variance = theory.noise / theory.curvature ** 2;
      return [
        [
          models[model].title,
          objective,
          show(variance),
          `${show(seen)} ± ${show(seen * Math.sqrt(2 / own.length))}`,
          show(median(own) / (0.4549 * variance)),
        ],
      ];
    }),
  );
  return markdown(
    ["model", "loss", "V", "seen: mean of N(θ̂ − θ)²", "its median, over that of V χ²₁"],
    rows,
  );
}

type Column = (result: SweepResult) => number | null;

const sweepOf = (records: Records, variant: SweepName, of: Column): Map<number, number> =>
  new Map(
    records.flatMap(({ task: t, result }) => {
      const value = t.part === "sweep" && t.variant === variant ? of(result as SweepResult) : null;
      return t.part === "sweep" && value !== null ? [[t.seed, value] as const] : [];
    }),
  );

const columns: readonly { readonly title: string; readonly of: Column; readonly up?: boolean }[] = [
  { title: "score matching", of: (r) => r.scoreMatching },
  { title: "its median over points", of: (r) => r.median },
  { title: "log-likelihood", of: (r) => r.logLikelihood, up: true },
  { title: "validation score matching after 400 steps", of: (r) => r.after[1] },
  { title: "steps", of: (r) => r.steps },
];

function sweepTable(records: Records): string {
  const rows = variants.flatMap((variant) => {
    if (sweepOf(records, variant, columns[0].of).size === 0) return [];
    return [
      [
        variant,
        ...columns.map(({ of, up, title }) => {
          const own = sweepOf(records, variant, of);
          const base = sweepOf(records, "ssm-vr", of);
          const seeds = [...own.keys()].filter((seed) => base.has(seed));
          const text = spread([...own.values()]);
          if (variant === "ssm-vr" || title === "steps" || seeds.length === 0) return text;
          const { lower, count } = paired(
            seeds.map((s) => own.get(s) as number),
            seeds.map((s) => base.get(s) as number),
          );
          return `${text} (${up ? count - lower : lower}/${count})`;
        }),
      ],
    ];
  });
  return markdown(["loss", ...columns.map(({ title }) => title)], rows);
}

/** Efficiencies at one n: one column per model, one dot per loss. */
function figure(records: Records, n: number): string {
  const shown: readonly (readonly [TheoryObjective, string])[] = [
    ["sm", COLOURS.grey],
    ["ssm", COLOURS.sky],
    ["ssm-vr", COLOURS.blue],
    ["gssm", COLOURS.orange],
    ["gssm-vr", COLOURS.vermilion],
    ["gssm-normalised-vr", COLOURS.purple],
    ["sm, (1 + r²/ν)²", COLOURS.green],
  ];
  const panel = linesPanel({
    heading: `n = ${n}`,
    join: false,
    series: shown.map(([objective, colour], k) => ({
      label: objective,
      colour,
      points: modelNames.flatMap((model, i) => {
        const found = theoryOf(records, n, model, objective);
        return found ? [{ x: i + (k - 3) * 0.06, y: found.efficiency }] : [];
      }),
    })),
    x: {
      label: null,
      domain: [-0.5, modelNames.length - 0.5],
      ticks: modelNames.map((_, i) => i),
      tickFormat: (i: number) => models[modelNames[i]].title.replace(", ", ",\n"),
    },
    y: { type: "log", label: "efficiency, log scale", domain: [0.005, 1.2], tickFormat: "~g" },
  });
  return chart({
    title: "Efficiency of score-matching estimates: variance of maximum likelihood over theirs",
    note: "Asymptotic, by the sandwich formula.",
    description: `Efficiency by model and loss at n = ${n}.`,
    legend: shown.map(([label, colour]) => ({ label, colour })),
    panels: [panel],
    width: 860,
    height: 330,
  });
}

export function report(records: Records): StudyReport {
  const dimensions = [
    ...new Set(records.flatMap(({ task: t }) => (t.part === "theory" ? t.n : []))),
  ];
  dimensions.sort((a, b) => a - b);
  const text = [
    `${records.length} records.`,
    "## Theory: efficiency 1/(I V) of an estimate of one parameter",
    "In brackets, the share of the variance that is due to random slices.",
    ...dimensions.flatMap((n) => [`### n = ${n}`, theoryTable(records, n)]),
    "## Estimates from samples compared with the theory, n = 2, 2,000 points",
    checkTable(records),
    "## Fits of red wine",
    "Mean ± sd over seeds; in brackets, how many seeds are better than SSM-VR of the same seed.",
    sweepTable(records),
  ];
  const most = dimensions.at(-1);
  return {
    text: `${text.join("\n\n")}\n`,
    figures: most === undefined ? {} : { gssm: figure(records, most) },
  };
}
