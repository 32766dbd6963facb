/** An evaluation as a few lines of text. The last line states what is wrong, or that nothing is. */
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
      `${fixed(likelihood.mean, 3)} ± ${fixed(likelihood.error, 3)} nats per row ` +
        `(${whole(likelihood.rows)} rows` +
        (likelihood.noChance > 0
          ? `; ${whole(likelihood.noChance)} more of likelihood zero)`
          : ")"),
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

/** How likelihoods of wide rows are estimated. */
export const estimateNote = (probes: number): string =>
  `estimated without bias: the divergence of each row with ${probes} random directions; the ` +
  "errors include this noise";

/** A gain as text: how much more or less the model has. */
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
            `${auc.value.toFixed(3)} ± ${auc.error.toFixed(3)}, 0.5 is chance   (${others})`,
          ),
        ]
      : []),
    ...(clusters.masses.length > 0
      ? [
          line(
            "mass by cluster",
            clusters.masses
              .map(({ data, samples }) => `${percent(data)} (${(100 * samples).toFixed(1)})`)
              .join(", ") +
              "   data (samples)" +
              (clusters.silhouette < 0.5 ? "; the clusters are parts of one cloud" : ""),
          ),
        ]
      : []),
    line(
      "columns",
      `largest KS ${far.distance.toFixed(3)} (${far.column}), limit by chance ` +
        `${far.chance.toFixed(3)}`,
    ),
    ...(pair
      ? [
          line(
            "rank correlations",
            `largest difference ${correlations.most.toFixed(3)} (${pair.columns.join(", ")}: ` +
              `${pair.samples.toFixed(2)}, data ${pair.data.toFixed(2)}), mean ` +
              `${correlations.mean.toFixed(3)}`,
          ),
        ]
      : []),
    line(
      "distances",
      `sliced Wasserstein ${sliced.value.toFixed(4)}, floor ${sliced.floor.toFixed(4)}; ` +
        `energy ${energy.value.toExponential(1)}, floor ${energy.floor.toExponential(1)}`,
    ),
    line(
      "likelihood ranks",
      `largest deviation ${calibration.distance.toFixed(3)}, limit by chance ` +
        `${calibration.chance.toFixed(3)}`,
    ),
  ];
}

function privacyLines({ privacy, attributes, training }: TableEvaluation): string[] {
  if (!privacy)
    return [
      line(
        "nearest training row",
        training > 0
          ? "unknown: too few rows have all their cells"
          : "unknown: the training rows were not given",
      ),
    ];
  const { samples, fresh, nearer, error, membership, membershipError } = privacy;
  return [
    line(
      "nearest training row",
      `${samples.median.toFixed(3)} from samples, ${fresh.median.toFixed(3)} from held-out ` +
        `rows (medians); samples are nearer in ${percent(nearer)} ± ${percent(error)} of pairs; ` +
        `copies ${percent(samples.copies)}`,
    ),
    line(
      "membership",
      `training rows are nearer to the samples than held-out rows in ${percent(membership)} ± ` +
        `${percent(membershipError)} of pairs; 50 % reveals nothing`,
    ),
    ...(attributes
      ? [
          line(
            "attributes",
            `guesses from the nearest sample are right for ${percent(attributes.training)} of ` +
              `cells of training rows and ${percent(attributes.fresh)} of held-out rows; ` +
              `difference ${percent(attributes.advantage.mean)} ± ` +
              `${percent(attributes.advantage.error)}; 0 % reveals nothing`,
          ),
        ]
      : []),
  ];
}

/** The faults for which a model fails. */
export const faultsOf = (evaluation: TableEvaluation): string[] => [
  ...chanceFaults(evaluation),
  ...baselineFaults(evaluation),
  ...massFaults(evaluation.clusters),
];

/** All faults. */
export const allFaultsOf = (evaluation: TableEvaluation): string[] => [
  ...faultsOf(evaluation),
  ...columnFaults(evaluation),
  ...classifierFaults(evaluation),
  ...rankFaults(evaluation),
  ...copyFaults(evaluation),
  ...completionFaults(evaluation),
];

/** One line that states what is wrong, or that nothing is. */
export function verdictOf(evaluation: TableEvaluation): string {
  const seen = seenShare(evaluation);
  if (seen !== undefined)
    return (
      `not a test on new rows: ${percent(seen)} of these are training rows, cell by cell. ` +
      "Evaluate on rows that the model was not fitted to"
    );
  const faults = allFaultsOf(evaluation);
  if (faults.length > 0) return `problems found: ${faults.join("; ")}`;
  const { likelihood } = evaluation;
  const untold = likelihood.baselines
    .filter(({ gain }) => !(gain.mean > 2 * gain.error))
    .map(({ name }) => name);
  return untold.length > 0
    ? `no problem found; in likelihood the model cannot be distinguished from: ${untold.join(", ")}`
    : "no problem found; the model is better than every baseline";
}

/** Whether training saw the evaluated rows, as text. */
export function novelty(evaluation: TableEvaluation): string {
  if (seenShare(evaluation) !== undefined) return "mostly used in training";
  // Without the training rows nothing shows whether training saw these.
  return evaluation.training > 0 ? "not used in training" : "assumed not used in training";
}

/** The whole evaluation, one line per measure. */
export const evaluationText = (evaluation: TableEvaluation): string =>
  `${[
    `${whole(evaluation.rows)} rows ${novelty(evaluation)}` +
      (evaluation.torn > 0 ? `, ${whole(evaluation.torn)} of them with missing cells` : "") +
      `, ${whole(evaluation.samples)} sampled; baselines fitted to ` +
      (evaluation.training > 0
        ? `${whole(evaluation.training)} training rows`
        : "nine tenths of these rows at a time"),
    ...likelihoodLines(evaluation),
    ...sampleLines(evaluation),
    ...(evaluation.completion ? completionLines(evaluation.completion) : []),
    ...privacyLines(evaluation),
    verdictOf(evaluation),
  ].join("\n")}\n`;
