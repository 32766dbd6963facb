/**
 * An evaluation as a few lines of text, the last of which says what is wrong, or that nothing is.
 */
import type { TableEvaluation } from "../measure/evaluation.ts";
import {
  baselineFaults,
  chanceFaults,
  classifierFaults,
  columnFaults,
  completionFaults,
  copyFaults,
  massFaults,
  rankFaults,
  seenShare,
} from "../measure/faults.ts";
import { completionLines } from "./completion.ts";
import { fixed, line, percent, whole } from "./words.ts";

function likelihoodLines({ likelihood }: TableEvaluation): string[] {
  return [
    line(
      "log-likelihood",
      `${fixed(likelihood.mean, 3)} ± ${fixed(likelihood.error, 3)} nats per row (${whole(likelihood.rows)} rows${likelihood.noChance > 0 ? `; ${whole(likelihood.noChance)} more without a chance` : ""})`,
    ),
    ...(likelihood.probes === undefined ? [] : [line("", estimateNote(likelihood.probes))]),
    ...likelihood.baselines.map(({ name, mean, gain }) =>
      line(
        `  ${name}`,
        `${fixed(mean, 3)}   the model has ${gainText(gain.mean)} ± ${fixed(gain.error, 3)}`,
      ),
    ),
  ];
}

/** How likelihoods of wide rows are estimated, in words. */
export const estimateNote = (probes: number): string =>
  `estimated: the divergence of each row by ${probes} random directions, without bias; the errors include this noise`;

/** A gain in words: what the model has more or less. */
const gainText = (gain: number): string =>
  `${fixed(Math.abs(gain), 3)} ${gain < 0 ? "less" : "more"}`;

function sampleLines({ model, baselines, clusters, calibration }: TableEvaluation): string[] {
  const { auc, columns, correlations, sliced, energy } = model;
  const others = baselines
    .filter((own) => own.auc)
    .map((own) => `${own.name} ${own.auc?.value.toFixed(3)}`)
    .join(", ");
  const [pair] = correlations.worst;
  const far = columns[0];
  return [
    ...(auc
      ? [
          line(
            "two-sample AUC",
            `${auc.value.toFixed(3)} ± ${auc.error.toFixed(3)}, 0.5 is a coin   (${others})`,
          ),
        ]
      : []),
    ...(clusters.masses.length > 0
      ? [
          line(
            "mass by cluster",
            `${clusters.masses.map(({ data, samples }) => `${percent(data)} (${(100 * samples).toFixed(1)})`).join(", ")}   data (samples)${clusters.silhouette < 0.5 ? "; cuts through one cloud" : ""}`,
          ),
        ]
      : []),
    line(
      "columns",
      `largest KS ${far.distance.toFixed(3)} (${far.column}), by chance up to ${far.chance.toFixed(3)}`,
    ),
    ...(pair
      ? [
          line(
            "rank correlations",
            `largest difference ${correlations.most.toFixed(3)} (${pair.columns.join(", ")}: ${pair.samples.toFixed(2)}, data ${pair.data.toFixed(2)}), mean ${correlations.mean.toFixed(3)}`,
          ),
        ]
      : []),
    line(
      "distances",
      `sliced Wasserstein ${sliced.value.toFixed(4)}, floor ${sliced.floor.toFixed(4)}; energy ${energy.value.toExponential(1)}, floor ${energy.floor.toExponential(1)}`,
    ),
    line(
      "likelihood ranks",
      `off by ${calibration.distance.toFixed(3)} at most, by chance up to ${calibration.chance.toFixed(3)}`,
    ),
  ];
}

function privacyLines({ privacy, attributes, training }: TableEvaluation): string[] {
  if (!privacy)
    return [
      line(
        "nearest training row",
        training > 0
          ? "not known: too few rows have all their cells"
          : "not known: the rows of training were not given",
      ),
    ];
  const { samples, fresh, nearer, error, membership, membershipError } = privacy;
  return [
    line(
      "nearest training row",
      `${samples.median.toFixed(3)} from samples, ${fresh.median.toFixed(3)} from held-out rows (medians); samples are nearer ${percent(nearer)} ± ${percent(error)} of the time; copies ${percent(samples.copies)}`,
    ),
    line(
      "membership",
      `rows of training are nearer to the samples than held-out rows ${percent(membership)} ± ${percent(membershipError)} of the time, 50 % tells nothing`,
    ),
    ...(attributes
      ? [
          line(
            "attributes",
            `guessed from the nearest sample, a cell of a row of training is right ${percent(attributes.training)} of the time, of a held-out row ${percent(attributes.fresh)}; difference ${percent(attributes.advantage.mean)} ± ${percent(attributes.advantage.error)}, 0 % tells nothing`,
          ),
        ]
      : []),
  ];
}

/** What fails a model. */
export const faultsOf = (evaluation: TableEvaluation): string[] => [
  ...chanceFaults(evaluation),
  ...baselineFaults(evaluation),
  ...massFaults(evaluation.clusters),
];

/** All that is wrong. */
export const allFaultsOf = (evaluation: TableEvaluation): string[] => [
  ...faultsOf(evaluation),
  ...columnFaults(evaluation),
  ...classifierFaults(evaluation),
  ...rankFaults(evaluation),
  ...copyFaults(evaluation),
  ...completionFaults(evaluation),
];

/** One line on what is wrong, or that nothing is. */
export function verdictOf(evaluation: TableEvaluation): string {
  const seen = seenShare(evaluation);
  if (seen !== undefined)
    return `says little of other rows: ${percent(seen)} of these are rows of training, cell by cell. Measure on rows that the model was not fitted to`;
  const faults = allFaultsOf(evaluation);
  if (faults.length > 0) return `worse than it should be: ${faults.join("; ")}`;
  const { likelihood } = evaluation;
  const untold = likelihood.baselines
    .filter(({ gain }) => !(gain.mean > 2 * gain.error))
    .map(({ name }) => name);
  return untold.length > 0
    ? `nothing is clearly wrong; in likelihood it cannot be distinguished from: ${untold.join(", ")}`
    : "better than every baseline, and nothing is clearly wrong";
}

/** Of rows that were measured on, whether training saw them. */
export const novelty = (evaluation: TableEvaluation): string =>
  seenShare(evaluation) === undefined ? "that training did not see" : "most of which training saw";

/** The whole, a line each. */
export const evaluationText = (evaluation: TableEvaluation): string =>
  `${[
    `${whole(evaluation.rows)} rows ${novelty(evaluation)}${evaluation.torn > 0 ? `, ${whole(evaluation.torn)} of them with missing cells` : ""}, ${whole(evaluation.samples)} drawn; baselines fitted to ${
      evaluation.training > 0
        ? `${whole(evaluation.training)} rows of training`
        : "nine tenths of these rows at a time"
    }`,
    ...likelihoodLines(evaluation),
    ...sampleLines(evaluation),
    ...(evaluation.completion ? completionLines(evaluation.completion) : []),
    ...privacyLines(evaluation),
    verdictOf(evaluation),
  ].join("\n")}\n`;
