/** The faults of a model according to its evaluation, as sentences; none if nothing is wrong. */
import type { Clusters } from "./clusters.ts";
import type { ColumnCompletion } from "./completion.ts";
import type { ColumnDistance } from "./distances.ts";
import type { BaselineLikelihood, TableEvaluation } from "./evaluation.ts";

/**
 * A difference counts as a fault beyond this many standard errors: for a few comparisons, and for
 * several clusters at once.
 */
const CLEAR = 3;
const CLEAR_OF_SEVERAL = 4;
/** With fewer rows, errors are not known well enough to report a fault. */
const LEAST_ROWS = 10;
/** A mass is wrong if it deviates by this, or by half of the true mass. */
const WRONG_MASS = 0.05;
/** A share of intervals or labels is wrong if it deviates by this. */
const WRONG_SHARE = 0.05;

const percent = (share: number): string => `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;

/** Whether a baseline is clearly better than the model. */
export const isBetter = ({ gain }: BaselineLikelihood, rows: number): boolean =>
  rows >= LEAST_ROWS && !(gain.mean >= -CLEAR * gain.error);

/** Clusters in which samples have the wrong mass, as text. */
export function massFaults({ masses }: Clusters): string[] {
  return masses
    .filter(({ data, samples, error }) => {
      const gap = Math.abs(samples - data);
      return (
        gap > CLEAR_OF_SEVERAL * error && (gap > WRONG_MASS || (data >= 0.02 && gap > data / 2))
      );
    })
    .map(
      ({ data, samples }) =>
        `${percent(samples)} of the samples are in a cluster with ${percent(data)} of the rows`,
    );
}

/** Rows to which the model gives likelihood zero. */
export function chanceFaults({ likelihood: { rows, noChance } }: TableEvaluation): string[] {
  if (noChance === 0) return [];
  return [
    `${noChance} of ${rows + noChance} rows ${noChance === 1 ? "has" : "have"} likelihood ` +
      "zero under the model: an integer is outside of the range that it knows",
  ];
}

/** Where a baseline is clearly better than the model. */
export function baselineFaults({ likelihood, model, baselines }: TableEvaluation): string[] {
  const likelier = likelihood.baselines
    .filter((baseline) => isBetter(baseline, likelihood.rows))
    .map(
      ({ name, mean, gain }) =>
        `${subject(name)} a log-likelihood of ${mean.toFixed(3)}, ${(-gain.mean).toFixed(3)} ` +
        `± ${gain.error.toFixed(3)} nats per row more than the model`,
    );
  const { auc } = model;
  const isTold = auc && auc.value - 0.5 > CLEAR_OF_SEVERAL * auc.error;
  const closer = isTold
    ? baselines
        .filter((own) => own.auc && auc.value - own.auc.value > CLEAR_OF_SEVERAL * auc.error)
        .map(
          ({ name, auc: own }) =>
            `rows sampled from ${article(name)} are harder to distinguish from data than the ` +
            `model's, AUC ${own?.value.toFixed(3)} compared with ${auc.value.toFixed(3)}`,
        )
    : [];
  return [...likelier, ...closer];
}

/** Maximum number of columns named in a fault. */
const NAMED = 3;

/** Columns whose distribution in samples differs from that of the rows beyond chance. */
export function columnFaults({ model }: TableEvaluation): string[] {
  const wrong = model.columns.filter(isMisshapen);
  if (wrong.length === 0) return [];
  const named = wrong
    .slice(0, NAMED)
    .map(({ column, distance, clear }) => `${column} ${distance.toFixed(3)} (${clear.toFixed(3)})`);
  const more = wrong.length > NAMED ? `, and ${wrong.length - NAMED} more` : "";
  return [
    `${wrong.length === 1 ? "one column" : `${wrong.length} columns`} of the samples ` +
      `${wrong.length === 1 ? "has" : "have"} a different distribution from the rows, by KS ` +
      `(limit by chance): ${named.join(", ")}${more}`,
  ];
}

/**
 * Whether a column's distance is beyond chance. If cells are missing, it must also be so with these
 * filled in, though less clearly: missing cells need not be distributed like the others.
 */
export const isMisshapen = ({ distance, clear, filled }: ColumnDistance): boolean =>
  distance > clear && (!filled || filled.distance > filled.clear);

/** Whether a classifier distinguishes samples from rows. */
export function classifierFaults({ model: { auc } }: TableEvaluation): string[] {
  if (!auc || auc.value - 0.5 <= CLEAR_OF_SEVERAL * auc.error) return [];
  return [
    `a classifier distinguishes samples from rows, AUC ${auc.value.toFixed(3)} ± ` +
      `${auc.error.toFixed(3)}`,
  ];
}

/** Names of baselines in a sentence. */
const article = (name: string): string => (name.startsWith("Gaussian") ? `a ${name}` : name);
const subject = (name: string): string =>
  name.startsWith("Gaussian") ? `a ${name} has` : `${name} have`;

/** Whether the likelihoods of rows and of samples have different distributions. */
export function rankFaults({ calibration }: TableEvaluation): string[] {
  const { distance, clear, worst } = calibration;
  if (distance <= Math.max(clear, WRONG_SHARE)) return [];
  return [
    `${percent(worst.rows)} of the rows are at most as likely as the least likely ` +
      `${percent(worst.samples)} of the samples`,
  ];
}

/**
 * The share of the evaluated rows that are training rows, if it is most of them and not a property
 * of the table itself.
 */
export function seenShare({ privacy }: TableEvaluation): number | undefined {
  if (!privacy) return undefined;
  const { samples, fresh } = privacy;
  return fresh.copies > 0.5 && fresh.copies > 2 * samples.copies ? fresh.copies : undefined;
}

/** Whether samples look like copies of training rows. */
export function copyFaults({ privacy }: TableEvaluation): string[] {
  if (!privacy) return [];
  const { nearer, error, membership, membershipError, samples, fresh } = privacy;
  const found: string[] = [];
  if (membership > 0.6 && membership - 0.5 > CLEAR_OF_SEVERAL * membershipError)
    found.push(
      "samples reveal the training rows: a training row is nearer to them than a held-out row " +
        `in ${percent(membership)} of pairs instead of 50 %`,
    );
  if (samples.copies > fresh.copies + 0.01)
    found.push(
      `${percent(samples.copies)} of the samples equal a training row, cell by cell; of ` +
        `held-out rows ${percent(fresh.copies)} do`,
    );
  if (nearer > 0.6 && nearer - 0.5 > CLEAR_OF_SEVERAL * error)
    found.push(
      `a sample is nearer to the training rows than a held-out row is in ${percent(nearer)} ` +
        "of pairs instead of 50 %",
    );
  return found;
}

/**
 * Whether the true values of hidden cells are clearly miscalibrated; the error is at least that of
 * a right model.
 */
export function isMiscovered({ cells, numbers, labels }: ColumnCompletion): boolean {
  const isOff = (gap: number, error: number): boolean =>
    Math.abs(gap) > WRONG_SHARE && Math.abs(gap) > CLEAR_OF_SEVERAL * error;
  const fair = (share: number): number => Math.sqrt((share * (1 - share)) / cells);
  if (labels) return isOff(labels.gap.mean, labels.gap.error);
  if (!numbers) return false;
  const { half, ninety } = numbers;
  return (
    isOff(half.mean - 0.5, Math.max(half.error, fair(0.5))) ||
    isOff(ninety.mean - 0.9, Math.max(ninety.error, fair(0.9)))
  );
}

/** Columns whose hidden cells are clearly not distributed like their draws. */
export function completionFaults({ completion }: TableEvaluation): string[] {
  if (!completion) return [];
  const worst = (found: readonly ColumnCompletion[], how: string): string[] =>
    found
      .filter(isMiscovered)
      .map(({ column, numbers, labels }) =>
        numbers
          ? `the 50 % and 90 % intervals of ${column}, hidden ${how}, contain ` +
            `${percent(numbers.half.mean)} and ${percent(numbers.ninety.mean)} of the true ` +
            "values"
          : `${percent(labels?.truth.mean ?? 0)} of the draws of ${column}, hidden ${how}, have ` +
            `the true label, but ${percent(labels?.agreement.mean ?? 0)} of pairs of draws ` +
            "agree",
      );
  return [
    ...worst(completion.alone.columns, "alone"),
    ...worst(completion.several.columns, "among several"),
  ];
}
