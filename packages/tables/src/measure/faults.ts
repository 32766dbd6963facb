/** What is wrong with a model, by its evaluation: sentences, none where nothing is. */
import type { Clusters } from "./clusters.ts";
import type { ColumnCompletion } from "./completion.ts";
import type { ColumnDistance } from "./distances.ts";
import type { BaselineLikelihood, TableEvaluation } from "./evaluation.ts";

/**
 * A difference counts beyond so many standard errors: of a few comparisons, and of several clusters
 * at once.
 */
const CLEAR = 3;
const CLEAR_OF_SEVERAL = 4;
/** Rows below which errors are not known well enough to say anything. */
const LEAST_ROWS = 10;
/** A mass is wrong if it is off by this, or by half of what it should be. */
const WRONG_MASS = 0.05;
/** A share of intervals, or of labels, is wrong if it is off by this. */
const WRONG_SHARE = 0.05;

const percent = (share: number): string => `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;

/** Whether a baseline is clearly better than the model. */
export const isBetter = ({ gain }: BaselineLikelihood, rows: number): boolean =>
  rows >= LEAST_ROWS && !(gain.mean >= -CLEAR * gain.error);

/** Clusters whose mass samples have wrong, in words. */
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
        `samples put ${percent(samples)} into the cluster that holds ${percent(data)} of the rows`,
    );
}

/** Rows that the model says cannot be. */
export function chanceFaults({ likelihood: { rows, noChance } }: TableEvaluation): string[] {
  if (noChance === 0) return [];
  return [
    `${noChance} of ${rows + noChance} rows ${noChance === 1 ? "has" : "have"} no chance under the model: an integer is beyond all that it knows`,
  ];
}

/** Where a baseline is clearly better than the model. */
export function baselineFaults({ likelihood, model, baselines }: TableEvaluation): string[] {
  const likelier = likelihood.baselines
    .filter((baseline) => isBetter(baseline, likelihood.rows))
    .map(
      ({ name, mean, gain }) =>
        `${subject(name)} a log-likelihood of ${mean.toFixed(3)}, ${(-gain.mean).toFixed(3)} ± ${gain.error.toFixed(3)} nats per row more than the model`,
    );
  const { auc } = model;
  const isTold = auc && auc.value - 0.5 > CLEAR_OF_SEVERAL * auc.error;
  const closer = isTold
    ? baselines
        .filter((own) => own.auc && auc.value - own.auc.value > CLEAR_OF_SEVERAL * auc.error)
        .map(
          ({ name, auc: own }) =>
            `rows sampled from ${article(name)} are harder to tell from data than the model's, AUC ${own?.value.toFixed(3)} against ${auc.value.toFixed(3)}`,
        )
    : [];
  return [...likelier, ...closer];
}

/** Columns that are named where several are wrong. */
const NAMED = 3;

/** Columns whose distribution in samples is not that of the rows, beyond chance. */
export function columnFaults({ model }: TableEvaluation): string[] {
  const wrong = model.columns.filter(isMisshapen);
  if (wrong.length === 0) return [];
  const named = wrong
    .slice(0, NAMED)
    .map(({ column, distance, clear }) => `${column} ${distance.toFixed(3)} (${clear.toFixed(3)})`);
  const more = wrong.length > NAMED ? `, and ${wrong.length - NAMED} more` : "";
  return [
    `${wrong.length === 1 ? "one column" : `${wrong.length} columns`} of the samples ${wrong.length === 1 ? "has" : "have"} another distribution than the rows, by KS (by chance at most): ${named.join(", ")}${more}`,
  ];
}

/**
 * Whether a column's distance is beyond chance. Where cells are missing it must also be so with
 * these filled in, if less clearly: what is missing need not be like what is there.
 */
export const isMisshapen = ({ distance, clear, filled }: ColumnDistance): boolean =>
  distance > clear && (!filled || filled.distance > filled.clear);

/** Whether a classifier tells samples from rows. */
export function classifierFaults({ model: { auc } }: TableEvaluation): string[] {
  if (!auc || auc.value - 0.5 <= CLEAR_OF_SEVERAL * auc.error) return [];
  return [
    `a classifier tells samples from rows, AUC ${auc.value.toFixed(3)} ± ${auc.error.toFixed(3)}`,
  ];
}

/** Names of baselines in a sentence. */
const article = (name: string): string => (name.startsWith("Gaussian") ? `a ${name}` : name);
const subject = (name: string): string =>
  name.startsWith("Gaussian") ? `a ${name} has` : `${name} have`;

/** Whether rows are not as likely, among samples, as samples are. */
export function rankFaults({ calibration }: TableEvaluation): string[] {
  const { distance, clear, worst } = calibration;
  if (distance <= Math.max(clear, WRONG_SHARE)) return [];
  return [
    `${percent(worst.rows)} of the rows are at most as likely as the least likely ${percent(worst.samples)} of the samples`,
  ];
}

/**
 * The share of the rows measured on that are rows of training, where it is most of them and not in
 * the nature of the table.
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
      `samples tell which rows were trained on: a row of training is nearer to them than a held-out row ${percent(membership)} of the time, where half would be fair`,
    );
  if (samples.copies > fresh.copies + 0.01)
    found.push(
      `${percent(samples.copies)} of the samples are rows of training, cell by cell; of held-out rows ${percent(fresh.copies)} are`,
    );
  if (nearer > 0.6 && nearer - 0.5 > CLEAR_OF_SEVERAL * error)
    found.push(
      `a sample is nearer to the rows of training than a held-out row is ${percent(nearer)} of the time, where half would be fair`,
    );
  return found;
}

/**
 * Whether the truth of hidden cells is clearly not as often where it should be; the error is that
 * of a right model at least.
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

/** Columns whose hidden cells are clearly not known as well as their draws say. */
export function completionFaults({ completion }: TableEvaluation): string[] {
  if (!completion) return [];
  const worst = (found: readonly ColumnCompletion[], how: string): string[] =>
    found
      .filter(isMiscovered)
      .map(({ column, numbers, labels }) =>
        numbers
          ? `of the truth of ${column}, hidden ${how}, ${percent(numbers.half.mean)} and ${percent(numbers.ninety.mean)} lie within 50 % and 90 % intervals`
          : `the true ${column}, hidden ${how}, has ${percent(labels?.truth.mean ?? 0)} of the draws, where two draws agree in ${percent(labels?.agreement.mean ?? 0)}`,
      );
  return [
    ...worst(completion.alone.columns, "alone"),
    ...worst(completion.several.columns, "among several"),
  ];
}
