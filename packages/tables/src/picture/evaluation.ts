/**
 * A chart of a model compared with baselines: log-likelihoods with two standard errors, and how
 * well samples can be distinguished from data.
 */
import { chart, FAINT, type Panel, Plot } from "diffeo-picture/chart";
import type { TableEvaluation } from "../measure/evaluation.ts";
import { DATA, SAMPLES } from "./marks.ts";

interface Entry {
  readonly name: string;
  readonly mean: number;
  readonly error: number;
}

function panelOf(
  heading: string,
  label: string,
  entries: readonly Entry[],
  marks: readonly Plot.Markish[],
  domain?: readonly number[],
): Panel {
  const colour = ({ name }: Entry): string => (name === "model" ? SAMPLES : DATA);
  return {
    heading,
    marginLeft: 130,
    marginTop: 8,
    x: { label, grid: true, ...(domain && { domain: [...domain] }) },
    y: { domain: entries.map(({ name }) => name), label: null, grid: false },
    marks: [
      ...marks,
      Plot.ruleY(entries, {
        y: "name",
        x1: ({ mean, error }: Entry) => mean - 2 * error,
        x2: ({ mean, error }: Entry) => mean + 2 * error,
        stroke: colour,
        strokeWidth: 2,
      }),
      Plot.dot(entries, { x: "mean", y: "name", r: 5, fill: colour }),
    ],
  };
}

export function evaluationChart({ likelihood, model, baselines }: TableEvaluation): string {
  const finite = (entries: readonly Entry[]): Entry[] =>
    entries.filter(({ mean }) => Number.isFinite(mean));
  const likely = finite([{ name: "model", ...likelihood }, ...likelihood.baselines]);
  const names = likely.map(({ name }) => name);
  const separability = finite(
    [{ name: "model", auc: model.auc }, ...baselines].flatMap(({ name, auc }) =>
      auc ? [{ name, mean: auc.value, error: auc.error }] : [],
    ),
  );
  const panels = [
    panelOf("test log-likelihood, higher is better", "nats per row", likely, []),
    ...(separability.length > 0
      ? [
          panelOf(
            "two-sample AUC, nearer to 0.5 is better",
            "area under the curve",
            separability,
            [Plot.ruleX([0.5], { stroke: FAINT, strokeDasharray: "4 3" })],
            [
              Math.min(0.45, ...separability.map(({ mean, error }) => mean - 2 * error)),
              Math.max(0.6, ...separability.map(({ mean, error }) => mean + 2 * error)),
            ],
          ),
        ]
      : []),
  ];
  return chart({
    title: "The model compared with baselines",
    note:
      "Dots are means, lines show two standard errors on each side. Errors of different models " +
      "are correlated, so differences are more precise.",
    description: `Log-likelihood and two-sample AUC of ${names.join(", ")}.`,
    panels,
    width: 430,
    height: 170,
  });
}
