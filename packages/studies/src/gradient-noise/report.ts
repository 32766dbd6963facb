/** What follows from the records of gradient-noise: tables and a figure. */
import type { ObjectiveName } from "diffeo/matching";
import { COLOURS, chart } from "diffeo-picture/chart";
import type { UciName } from "diffeo-tables/density";
import { linesPanel } from "../study/lines.ts";
import { deviation, median, paired } from "../study/paired.ts";
import type { StudyRecord, StudyReport } from "../study/study.ts";
import { markdown, show, spread } from "../study/table.ts";
import {
  type Along,
  AT_STEPS,
  type GradientNoiseResult,
  type GradientNoiseTask,
  losses,
} from "./run.ts";

type Records = readonly StudyRecord<GradientNoiseTask, GradientNoiseResult>[];

const datasets: readonly UciName[] = ["red-wine", "parkinsons"];
const hues: readonly string[] = [
  COLOURS.grey,
  COLOURS.sky,
  COLOURS.blue,
  COLOURS.orange,
  COLOURS.vermilion,
  COLOURS.green,
  COLOURS.purple,
];

/** By seed, in the order of seeds; seeds without a value are left out. */
function valuesOf(
  records: Records,
  dataset: UciName,
  loss: ObjectiveName,
  along: Along,
  step: number,
  of: "slices" | "both",
): Map<number, number> {
  const found = new Map<number, number>();
  for (const { task, result } of records) {
    if (task.dataset !== dataset) continue;
    const own = result.noise.find(
      (n) => n.loss === loss && n.along === (loss === "sm" ? "sm" : along) && n.step === step,
    );
    const value = own?.[of];
    if (value !== undefined && value !== null) found.set(task.seed, value);
  }
  return found;
}

function lossTable(records: Records, along: Along, of: "slices" | "both"): string {
  const rows = datasets.flatMap((dataset) =>
    AT_STEPS.map((step) => [
      dataset,
      String(step),
      ...losses.map((loss) =>
        spread([...valuesOf(records, dataset, loss, along, step, of).values()]),
      ),
    ]),
  );
  return markdown(["set", "step", ...losses], rows);
}

const PAIRS: readonly (readonly [ObjectiveName, ObjectiveName])[] = [
  ["gssm-vr", "ssm-vr"],
  ["gssm", "ssm"],
  ["gssm-normalised-vr", "ssm-vr"],
];

function pairTable(records: Records, along: Along, pairs: typeof PAIRS): string {
  const rows = pairs.flatMap(([a, b]) =>
    datasets.flatMap((dataset) =>
      AT_STEPS.map((step) => {
        const cells = (["slices", "both"] as const).flatMap((of) => {
          const [first, second] = [a, b].map((loss) =>
            valuesOf(records, dataset, loss, along, step, of),
          );
          const seeds = [...first.keys()].filter((seed) => second.has(seed));
          if (seeds.length === 0) return ["–", "–"];
          const logs = (of: Map<number, number>) => seeds.map((s) => Math.log(of.get(s) as number));
          const { mean, lower, count, p } = paired(logs(first), logs(second));
          return [show(Math.exp(mean)), `${lower}/${count}, p = ${show(p)}`];
        });
        return [`${a} : ${b}`, dataset, String(step), ...cells];
      }),
    ),
  );
  return markdown(["ratio", "set", "step", "slices", "lower", "points and slices", "lower"], rows);
}

function figure(records: Records): string {
  return chart({
    title: "Noise of the gradient of a training step, √(Σ Var)/‖mean‖, over slices and points",
    note:
      "At the parameters that exact score matching passes through: median over seeds; bars are " +
      "± 1 standard deviation of the logarithm.",
    description: "Noise by step and loss, one panel per dataset.",
    legend: losses.map((label, i) => ({ label, colour: hues[i] })),
    panels: datasets.map((heading) =>
      linesPanel({
        heading,
        series: losses.map((loss, i) => ({
          label: loss,
          colour: hues[i],
          points: AT_STEPS.flatMap((step, k) => {
            const values = [...valuesOf(records, heading, loss, "sm", step, "both").values()];
            if (values.length === 0) return [];
            const reach = Math.exp(deviation(values.map(Math.log)));
            const y = median(values);
            return [{ x: k + (i - 3) * 0.07, y, low: y / reach, high: y * reach }];
          }),
        })),
        x: {
          label: "step",
          domain: [-0.4, AT_STEPS.length - 0.6],
          ticks: AT_STEPS.map((_, k) => k),
          tickFormat: (k: number) => String(AT_STEPS[k]),
        },
        y: { type: "log", label: "noise/signal", ticks: 5, tickFormat: "~g" },
      }),
    ),
    width: 330,
  });
}

export function report(records: Records): StudyReport {
  const text = [
    `${records.length} records. Noise is √(Σᵢ Var gᵢ)/‖E g‖ of the gradient of a training ` +
      "step of 200 points, from 16 gradients; mean ± sd over seeds.",
    "## Over slices and points, at the parameters of exact score matching",
    lossTable(records, "sm", "both"),
    "## Over slices alone, at the parameters of exact score matching",
    lossTable(records, "sm", "slices"),
    "## Ratios of pairs, geometric means over seeds, at the parameters of exact score matching",
    pairTable(records, "sm", PAIRS),
    "## The same at the parameters that each loss itself passes through",
    pairTable(records, "own", PAIRS.slice(0, 1)),
  ];
  return { text: `${text.join("\n\n")}\n`, figures: { "gradient-noise": figure(records) } };
}
