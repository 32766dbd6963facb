/**
 * An evaluation of a model of a table on rows that it was not trained on: its log-likelihood
 * compared with baselines, row by row; whether its samples can be distinguished from the rows; the
 * mass of clusters; the distances to the training rows. Each measure comes with the value that
 * chance gives, and with those of the baselines.
 */

import type { Product } from "diffeo/domain";
import { fail } from "diffeo/graph";
import { fold, key as keyOf, permutation } from "diffeo/random";
import { pauses } from "diffeo/sampler";
import { wholeRows } from "../diffusion/encode/index.ts";
import { tableBaselines } from "./baseline/baselines.ts";
import { calibrationOf, rankedAmong } from "./calibration.ts";
import { clusterMasses } from "./clusters.ts";
import type { Evaluated, EvaluateOptions, Likelihood, TableEvaluation } from "./evaluation.ts";
import { featuresOf } from "./features.ts";
import { meanOf } from "./mean.ts";
import {
  type Compared,
  FOLDS,
  filledRows,
  LEAST_FOLDED,
  LEAST_ROWS,
  MOST_APART,
  privacyBy,
  sampleMeasures,
} from "./sample-measures.ts";
import type { Cells, OpenCells, TableDistribution } from "./table-distribution.ts";

/** Scores of rows by baselines fitted to other rows: the training rows, or the other folds. */
async function baselineScores(
  domain: Product,
  rows: readonly OpenCells[],
  training: readonly OpenCells[] | undefined,
  scored: readonly OpenCells[],
): Promise<readonly { readonly distribution: TableDistribution; readonly scores: Float64Array }[]> {
  if (training) {
    const found = [];
    for (const distribution of tableBaselines(domain, training))
      found.push({ distribution, scores: await distribution.logLikelihood(scored) });
    return found;
  }
  if (rows.length < LEAST_FOLDED)
    fail(
      "data",
      `${rows.length} rows are too few to fit baselines to`,
      "give the training rows, or more rows",
    );
  // Scored rows are the first of a shuffle, so that folds are alike whatever the order of the file.
  const distributions = tableBaselines(domain, rows);
  const scores = distributions.map(() => new Float64Array(scored.length));
  const place = new Map(scored.map((row, i) => [row, i]));
  for (let fold = 0; fold < FOLDS; fold++) {
    const isOut = (i: number): boolean => i % FOLDS === fold;
    const out = rows.filter((row, i) => isOut(i) && place.has(row));
    if (out.length === 0) continue;
    const own = tableBaselines(
      domain,
      rows.filter((_, i) => !isOut(i)),
    );
    for (const [k, distribution] of own.entries())
      (await distribution.logLikelihood(out)).forEach((v, i) => {
        scores[k][place.get(out[i]) as number] = v;
      });
  }
  return distributions.map((distribution, k) => ({ distribution, scores: scores[k] }));
}

function likelihoodOf(
  model: Float64Array,
  probes: number | undefined,
  baselines: readonly { distribution: TableDistribution; scores: Float64Array }[],
): Likelihood {
  const hasChance = (_: number, i: number): boolean => model[i] > -Infinity;
  const own = model.filter(hasChance);
  return {
    rows: own.length,
    noChance: model.length - own.length,
    ...(probes !== undefined && { probes }),
    ...meanOf(own),
    baselines: baselines.map(({ distribution, scores }) => {
      const others = scores.filter(hasChance);
      return {
        name: distribution.name,
        ...meanOf(others),
        gain: meanOf(own.map((v, i) => v - others[i])),
      };
    }),
  };
}

/** Reports the next stage, lets other tasks run, and stops if the signal is set. */
function stagesOf({ signal, onStage }: EvaluateOptions, stages: number) {
  const pause = pauses();
  let done = 0;
  return async (what: string): Promise<void> => {
    onStage?.(what, done++ / stages);
    await pause();
    signal?.throwIfAborted();
  };
}

/** Number of rows that measure the time of one likelihood. */
const TIMED = 20;

/** The share of its time that an evaluation spends on likelihoods of rows. */
const LIKELIHOOD_SHARE = 0.3;

/** The likelihoods of the first rows, as many as time allows. */
async function likelihoodsInTime(
  distribution: TableDistribution,
  rows: readonly OpenCells[],
  minutes: number | undefined,
): Promise<Float64Array> {
  if (minutes === undefined || rows.length <= TIMED) return distribution.logLikelihood(rows);
  const began = performance.now();
  const first = await distribution.logLikelihood(rows.slice(0, TIMED));
  const pace = (performance.now() - began) / TIMED;
  const most = Math.floor((LIKELIHOOD_SHARE * minutes * 60_000) / pace);
  if (most <= TIMED) return first;
  return distribution.logLikelihood(rows.slice(0, most));
}

/** Number of stages, without one for each of the three baselines. */
const STAGES = 6;

/** The rows to evaluate, shuffled, and the training rows. */
function rowsToMeasure(
  { complete }: TableDistribution,
  domain: Product,
  { rows, training, seed = 0 }: EvaluateOptions,
): { readonly rows: readonly OpenCells[]; readonly training: readonly OpenCells[] | undefined } {
  // Columns that follow from others have no likelihood of their own.
  const learned = (all: readonly OpenCells[]): readonly OpenCells[] =>
    all.map((row) => (row.length > domain.cells ? row.slice(0, domain.cells) : row));
  const usable = (all: readonly OpenCells[]): readonly OpenCells[] =>
    complete ? learned(all) : wholeRows(learned(all));
  const found = usable(rows);
  if (found.length < LEAST_ROWS)
    fail(
      "data",
      `${found.length} rows${complete ? "" : " without missing cells"} are too few for an ` +
        "evaluation",
      `give at least ${LEAST_ROWS}`,
    );
  const order = permutation(fold(keyOf(seed), "rows"), found.length).data;
  return { rows: Array.from(order, (i) => found[i]), training: training && usable(training) };
}

/**
 * Evaluates a distribution of the rows of a product of domains.
 *
 * @param distribution - the distribution, such as `modelDistribution(model)`
 * @param domain - the domains of the columns
 * @param options - rows that were not used in training, and how much is measured
 * @returns the evaluation, with the rows that pictures need
 * @throws if there are too few rows
 */
export async function evaluateTable(
  distribution: TableDistribution,
  domain: Product,
  options: EvaluateOptions,
): Promise<Evaluated> {
  const { seed = 0, scored: most = 1000 } = options;
  const { shown = { domain, cells: (all) => all } } = distribution;
  const { rows, training } = rowsToMeasure(distribution, domain, options);
  const { samples = Math.min(5000, Math.max(300, 5 * rows.length)) } = options;
  const stage = stagesOf(options, STAGES + 3);
  await stage("sampling rows");
  const drawn = await distribution.draw(samples, seed);
  await stage("likelihoods of rows");
  const own = await likelihoodsInTime(distribution, rows.slice(0, most), options.minutes);
  const scored = rows.slice(0, own.length);
  await stage("filling in missing cells");
  const filled = await filledRows(distribution, rows, seed);
  const compared: Compared = { rows, filled, shown };
  const torn = rows.length - wholeRows(rows).length;
  await stage("likelihoods of samples");
  const isShort = scored.length < Math.min(most, rows.length);
  const among = await distribution.logLikelihood(
    drawn.slice(0, isShort ? scored.length : rankedAmong(rows.length)),
  );
  const ranked =
    torn === 0 ? own : await distribution.logLikelihood(compared.filled.slice(0, among.length));
  await stage("baselines");
  const baselines = await baselineScores(domain, rows, training, scored);
  const known = [...wholeRows(training ?? []), ...compared.filled];
  const features = featuresOf(domain, known);
  const measured = (some: readonly Cells[]) =>
    sampleMeasures(domain, features, some, compared, seed);
  await stage("samples");
  const model = measured(drawn);
  const others = [];
  for (const { distribution: baseline } of baselines) {
    await stage(`samples of ${baseline.name}`);
    others.push({
      name: baseline.name,
      ...measured(await baseline.draw(Math.min(samples, MOST_APART), seed)),
    });
  }
  const evaluation: TableEvaluation = {
    rows: rows.length,
    torn,
    training: training?.length ?? 0,
    samples,
    likelihood: likelihoodOf(own, distribution.probes, baselines),
    calibration: calibrationOf(ranked, among),
    model,
    baselines: others,
    clusters: clusterMasses(features.of(drawn), features.of(known), fold(keyOf(seed), "clusters")),
    ...(training && privacyBy(domain, features, drawn, rows.slice(0, most), training)),
  };
  return { evaluation, drawn, compared: compared.filled };
}
