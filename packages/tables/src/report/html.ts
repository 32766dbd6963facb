/**
 * A report on a model of a table as one HTML file: with its figures, without scripts or external
 * resources, readable in light and dark and on paper. Its content depends only on the options, so
 * the same options give the same file.
 */
import { escapeText } from "diffeo-picture";
import type { Attributes } from "../measure/attributes.ts";
import type { TableEvaluation } from "../measure/evaluation.ts";
import { copyFaults, isBetter, isMisshapen, seenShare } from "../measure/faults.ts";
import { completionSection } from "./completion.ts";
import { figure, type Html, paragraph, plusMinus, section, table } from "./parts.ts";
import { style } from "./style.ts";
import { allFaultsOf, estimateNote, novelty, verdictOf } from "./text.ts";
import { fixed, percent } from "./words.ts";

/** A column in the list of the report. */
export interface ReportColumn {
  readonly columns: readonly string[];
  readonly kind: string;
  /** The reason for the domain, if known. */
  readonly reason?: string;
}

/** The content of a report besides the evaluation. */
export interface ReportOptions {
  /** The name of the table, and the path of the model. */
  readonly source: string;
  readonly model: string;
  readonly columns: readonly ReportColumn[];
  /** Facts about the training: names and values. */
  readonly training: readonly (readonly [name: string, value: string])[];
  readonly evaluation: TableEvaluation;
  /** SVGs. */
  readonly figures: readonly string[];
  /** Commands that sample more rows. */
  readonly commands: readonly string[];
}

function likelihoodSection(
  { likelihood, training }: TableEvaluation,
  chart: string | undefined,
): Html {
  const rows = [
    ["model", plusMinus(likelihood), ""],
    ...likelihood.baselines.map((b) => [
      b.name,
      plusMinus(b),
      `${b.gain.mean < 0 ? "−" : "+"}${fixed(Math.abs(b.gain.mean), 3)} ± ` +
        `${fixed(b.gain.error, 3)}`,
    ]),
  ];
  return section(
    "Likelihood compared with baselines",
    ...(chart === undefined ? [] : [figure(chart)]),
    table(
      ["", "nats per row", "gain of the model"],
      rows,
      (i) => i > 0 && isBetter(likelihood.baselines[i - 1], likelihood.rows),
    ),
    paragraph(
      `Mean log-likelihood of ${likelihood.rows.toLocaleString("en")} held-out rows in the ` +
        "units of the table" +
        (likelihood.noChance > 0
          ? `, without the ${likelihood.noChance.toLocaleString("en")} of likelihood zero, `
          : ", ") +
        "with standard errors. Numbers contribute a density, labels and integers a probability. " +
        "The baselines have the same domains: a Gaussian in the domains' coordinates, a " +
        "Gaussian copula with smoothed marginals, and these marginals as independent columns. " +
        "They were fitted to " +
        (training > 0
          ? `the ${training.toLocaleString("en")} training rows.`
          : "nine tenths of the held-out rows at a time."),
    ),
    ...(likelihood.probes === undefined
      ? []
      : [paragraph(`Likelihoods of the model are ${estimateNote(likelihood.probes)}.`)]),
  );
}

function samplesSection(evaluation: TableEvaluation): Html {
  const { model, baselines, clusters, samples, rows } = evaluation;
  const entries = [{ name: "model", ...model }, ...baselines];
  const distances = table(
    [
      "samples of",
      "AUC",
      "sliced Wasserstein (floor)",
      "energy distance (floor)",
      "largest KS",
      "largest difference of correlations",
    ],
    entries.map(({ name, auc, sliced, energy, columns, correlations }) => [
      name,
      auc ? `${auc.value.toFixed(3)} ± ${auc.error.toFixed(3)}` : "too few rows",
      `${sliced.value.toFixed(4)} (${sliced.floor.toFixed(4)})`,
      `${energy.value.toExponential(1)} (${energy.floor.toExponential(1)})`,
      columns[0].distance.toFixed(3),
      correlations.most.toFixed(3),
    ]),
  );
  const masses = clusters.masses.map(({ data, samples: own }, i) => {
    const bar = (share: number, kind: string): Html =>
      `<span class="bar ${kind}" style="width:${(100 * share).toFixed(1)}%"></span>`;
    return (
      `<tr><td>${i + 1}</td><td>${percent(data)}</td><td>${percent(own)}</td><td ` +
      `class="bars">${bar(data, "data")}${bar(own, "samples")}</td></tr>`
    );
  });
  return section(
    "Can samples be distinguished from data?",
    distances,
    paragraph(
      `${samples.toLocaleString("en")} sampled rows were compared with ` +
        `${rows.toLocaleString("en")} rows ${novelty(evaluation)}. AUC is the area under the ` +
        "ROC curve of a classifier trained to separate the two: 0.5 is chance, 1 separates all " +
        "rows. A floor is the distance that chance alone gives.",
    ),
    ...(masses.length > 0
      ? [
          "<h3>Mass by cluster</h3>",
          '<div class="wide"><table><thead><tr><th>cluster</th><th>data</th><th>samples</th>' +
            `<th></th></tr></thead><tbody>${masses.join("")}</tbody></table></div>`,
          ...(clusters.silhouette < 0.5
            ? [paragraph("The clusters are not separated: they are parts of one cloud.")]
            : []),
        ]
      : []),
  );
}

function columnsSection({ model }: TableEvaluation): Html {
  const { columns, correlations } = model;
  return section(
    "Columns and pairs",
    '<div class="two">',
    table(
      ["column", "KS", "limit by chance"],
      columns
        .slice(0, 30)
        .map(({ column, distance, chance }) => [column, distance.toFixed(3), chance.toFixed(3)]),
      (i) => isMisshapen(columns[i]),
    ),
    table(
      ["pair", "samples", "data"],
      correlations.worst.map(({ columns: pair, samples, data }) => [
        pair.join(", "),
        samples.toFixed(3),
        data.toFixed(3),
      ]),
    ),
    "</div>",
    paragraph(
      "Left: the largest difference between the distribution functions of a column in samples " +
        "and in data (for labels, the total variation distance), and the value that chance " +
        "alone rarely exceeds. Right: the pairs whose rank correlations differ most.",
    ),
  );
}

/** Number of columns for which the report shows how often they are guessed. */
const GUESSED = 10;

function attributeParts({ training, fresh, advantage, columns }: Attributes): Html[] {
  return [
    paragraph(
      "Attributes: an attacker who knows all columns of a row except one finds the nearest " +
        "sample in these columns, and guesses the cell of that sample. On average over the " +
        `columns the guess is right for ${percent(training)} of the training rows and ` +
        `${percent(fresh)} of held-out rows, a difference of ${percent(advantage.mean)} ± ` +
        `${percent(advantage.error)}. The rate for held-out rows measures what the distribution ` +
        "of the table reveals; only the difference measures what the samples reveal about the " +
        "training rows. A guess of a label is right if it is the same label; a guess of a " +
        "number is right if at most 5 % of the rows lie between it and the true value. The " +
        "columns with the largest difference:",
    ),
    table(
      ["column", "training rows", "held-out rows"],
      columns
        .slice(0, GUESSED)
        .map((own) => [own.columns.join(", "), percent(own.training), percent(own.fresh)]),
    ),
  ];
}

function privacySection(evaluation: TableEvaluation): Html {
  const { privacy, attributes } = evaluation;
  if (!privacy)
    return section(
      "Copies and privacy",
      paragraph("Not measured: no training rows were given for the comparison."),
    );
  const { samples, fresh, nearer, error, membership, membershipError, among } = privacy;
  const faults = copyFaults(evaluation);
  return section(
    "Copies and privacy",
    table(
      ["distance to the nearest training row", "median", "5th percentile", "copies"],
      [
        ["samples", samples.median.toFixed(3), samples.low.toFixed(3), percent(samples.copies)],
        ["held-out rows", fresh.median.toFixed(3), fresh.low.toFixed(3), percent(fresh.copies)],
      ],
      (i) => i === 0 && faults.length > 0,
    ),
    paragraph(
      `A sample is nearer to the training rows than a held-out row is in ${percent(nearer)} ± ` +
        `${percent(error)} of pairs; 50 % is expected if the model learned the distribution and ` +
        "not the rows. Distances are in standard deviations, to the nearest of " +
        `${among.toLocaleString("en")} rows.`,
    ),
    paragraph(
      "Membership: a training row is nearer to the samples than a held-out row is in " +
        `${percent(membership)} ± ${percent(membershipError)} of pairs. Above 50 %, nearest ` +
        "neighbours among the samples reveal which rows the model was trained on.",
    ),
    ...(attributes ? attributeParts(attributes) : []),
    paragraph(
      "These measures do not cover: attacks with access to the model or to most of the other " +
        "rows; single unusual rows, which a mean hides; what a good model reveals about a row " +
        "that it did not copy; and guesses from several samples or by a trained classifier. " +
        "They are checks for copies, not a proof of privacy. A proof needs training with " +
        "differential privacy, and this model was not trained in that way.",
    ),
  );
}

function verdict(evaluation: TableEvaluation): Html {
  const faults = allFaultsOf(evaluation);
  if (seenShare(evaluation) !== undefined)
    return `<p class="verdict bad">${escapeText(capital(verdictOf(evaluation)))}.</p>`;
  if (faults.length === 0)
    return `<p class="verdict good">${escapeText(capital(verdictOf(evaluation)))}.</p>`;
  const items = faults.map((fault) => `<li>${escapeText(capital(fault))}.</li>`);
  return (
    '<div class="verdict bad"><p>The evaluation found problems with the ' +
    `model:</p><ul>${items.join("")}</ul></div>`
  );
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** The report; the first figure is the chart of likelihoods, the others are pictures of rows. */
export function htmlReport(options: ReportOptions): string {
  const { source, model, columns, training, evaluation, figures, commands } = options;
  const [likelihoods, ...pictures] = figures;
  const isReasoned = columns.some(({ reason }) => reason !== undefined);
  const content = [
    `<header><h1>${escapeText(source)}</h1><p class="lead">A generative model of this table, ` +
      `and its evaluation.</p>${verdict(evaluation)}</header>`,
    section(
      "The table",
      `<div class="prose">${table(
        ["columns", "domain", ...(isReasoned ? ["why"] : [])],
        columns.map(({ columns: names, kind, reason }) => [
          names.join(", "),
          kind,
          ...(isReasoned ? [reason ?? ""] : []),
        ]),
      )}</div>`,
      paragraph(
        "Every sampled row lies in these domains by construction: the model works in an " +
          "unbounded space, and smooth invertible maps take it to the domains.",
      ),
      table(
        ["training", ""],
        training.map(([name, value]) => [name, value]),
      ),
    ),
    likelihoodSection(evaluation, likelihoods),
    samplesSection(evaluation),
    ...(pictures.length > 0 ? [section("Pictures", ...pictures.map(figure))] : []),
    columnsSection(evaluation),
    ...(evaluation.completion ? [completionSection(evaluation.completion)] : []),
    privacySection(evaluation),
    section("Sampling more rows", `<pre>${commands.map(escapeText).join("\n")}</pre>`),
    `<footer>${escapeText(model)}, evaluated by diffeo</footer>`,
  ];
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeText(source)}: a model and its evaluation</title><style>${style}</style></head>
<body><main>${content.join("\n")}</main></body></html>
`;
}
