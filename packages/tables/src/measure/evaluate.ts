/**
 * What a model of a table is worth on rows that it was not trained on: its log-likelihood beside
 * those of baselines, row by row; whether its samples can be told from the rows; where their mass
 * is; how near they are to the rows of training. Whatever a measure shows is a number beside what
 * chance makes of it, and beside what a baseline has.
 */
import type { Product } from "diffeo/domain";
import { fail, type NdArray } from "diffeo/graph";
import { pickRows } from "diffeo/host";
import { fold, key as keyOf, permutation } from "diffeo/random";
import { energyDistance } from "diffeo/sampler";
import { someRows, tableBaselines } from "./baseline/baselines.ts";
import { type Calibration, calibrationOf, rankedAmong } from "./calibration.ts";
import { type Auc, rowsAuc } from "./classifier.ts";
import { type Clusters, clusterMasses } from "./clusters.ts";
import type { TableCompletion } from "./completion.ts";
import {
  type ColumnDistance,
  type CorrelationDifferences,
  columnDistances,
  correlationDifferences,
  type SlicedDistance,
  slicedDistance,
} from "./distances.ts";
import { type Features, featuresOf } from "./features.ts";
import type { Cells, TableLaw } from "./law.ts";
import { type Mean, meanOf } from "./mean.ts";
import { type Privacy, privacyOf } from "./neighbours.ts";

export interface BaselineLikelihood extends Mean {
  readonly name: string;
  /** What the model has more, row by row. */
  readonly gain: Mean;
}

/** Means are over the rows that have a chance under the model, and of baselines over the same. */
interface Likelihood extends Mean {
  readonly rows: number;
  /** Rows that have none: a whole number of theirs is beyond all that the model knows. */
  readonly noChance: number;
  readonly baselines: readonly BaselineLikelihood[];
}

/** What samples of a law look like beside rows. */
interface SampleMeasures {
  readonly auc?: Auc;
  readonly columns: readonly ColumnDistance[];
  readonly correlations: CorrelationDifferences;
  readonly sliced: SlicedDistance;
  readonly energy: SlicedDistance;
}

export interface TableEvaluation {
  /** Rows that it was measured on, rows of training that were at hand, and rows drawn. */
  readonly rows: number;
  readonly training: number;
  readonly samples: number;
  readonly likelihood: Likelihood;
  readonly calibration: Calibration;
  readonly model: SampleMeasures;
  /** The same of the baselines' samples. */
  readonly baselines: readonly (SampleMeasures & { readonly name: string })[];
  readonly clusters: Clusters;
  /** Absent where the rows of training were not at hand. */
  readonly privacy?: Privacy;
  /** How well hidden cells are known, where that was measured (`completionOf`). */
  readonly completion?: TableCompletion;
}

export interface EvaluateOptions {
  /** Rows that were not trained on. */
  readonly rows: readonly Cells[];
  /**
   * Those that were. Without them baselines are fitted to nine tenths of the rows at a time and
   * tried on the tenth.
   */
  readonly training?: readonly Cells[];
  /** Rows to draw. Default five a row, from 300 to 5,000. */
  readonly samples?: number;
  /** Rows whose likelihood is taken at most. Default 1,000. */
  readonly scored?: number;
  readonly seed?: number;
}

/** What evaluation found, with the rows that pictures need. */
export interface Evaluated {
  readonly evaluation: TableEvaluation;
  readonly drawn: readonly Cells[];
}

const LEAST_ROWS = 2;
const FOLDS = 10;
/** The least rows for folds, and for a classifier. */
const LEAST_FOLDED = 20;
const LEAST_TOLD = 8;
/**
 * Rows of each kind that a classifier sees, that distances are between, and that are looked at for
 * neighbours.
 */
const MOST_TOLD = 2000;
const MOST_APART = 3000;
const MOST_NEAR = 20_000;

/** Scores of rows by baselines fitted to other rows: those of training, or the other folds. */
async function baselineScores(
  domain: Product,
  rows: readonly Cells[],
  training: readonly Cells[] | undefined,
  scored: readonly Cells[],
): Promise<readonly { readonly law: TableLaw; readonly scores: Float64Array }[]> {
  if (training) {
    const found = [];
    for (const law of tableBaselines(domain, training))
      found.push({ law, scores: await law.logLikelihood(scored) });
    return found;
  }
  if (rows.length < LEAST_FOLDED)
    fail(
      "data",
      `${rows.length} rows are too few to fit baselines to`,
      "give the rows of training, or more rows",
    );
  // Scored rows are the first of a shuffle, so that folds of them are alike whatever the order of
  // the file.
  const laws = tableBaselines(domain, rows);
  const scores = laws.map(() => new Float64Array(scored.length));
  const place = new Map(scored.map((row, i) => [row, i]));
  for (let fold = 0; fold < FOLDS; fold++) {
    const isOut = (i: number): boolean => i % FOLDS === fold;
    const out = rows.filter((row, i) => isOut(i) && place.has(row));
    if (out.length === 0) continue;
    const own = tableBaselines(
      domain,
      rows.filter((_, i) => !isOut(i)),
    );
    for (const [k, law] of own.entries())
      (await law.logLikelihood(out)).forEach((v, i) => {
        scores[k][place.get(out[i]) as number] = v;
      });
  }
  return laws.map((law, k) => ({ law, scores: scores[k] }));
}

function likelihoodOf(
  model: Float64Array,
  baselines: readonly { law: TableLaw; scores: Float64Array }[],
): Likelihood {
  const hasChance = (_: number, i: number): boolean => model[i] > -Infinity;
  const own = model.filter(hasChance);
  return {
    rows: own.length,
    noChance: model.length - own.length,
    ...meanOf(own),
    baselines: baselines.map(({ law, scores }) => {
      const others = scores.filter(hasChance);
      return { name: law.name, ...meanOf(others), gain: meanOf(own.map((v, i) => v - others[i])) };
    }),
  };
}

const firstOf = (features: NdArray, most: number): NdArray =>
  features.shape[0] <= most
    ? features
    : pickRows(
        features,
        Int32Array.from({ length: most }, (_, i) => i),
      );

function sampleMeasures(
  domain: Product,
  features: Features,
  drawn: readonly Cells[],
  rows: readonly Cells[],
  seed: number,
): SampleMeasures {
  const key = fold(keyOf(seed), "measures");
  const [a, b] = [features.of(drawn), features.of(rows)];
  const told = Math.min(MOST_TOLD, a.shape[0], b.shape[0]);
  const [near, far] = [firstOf(a, MOST_APART), firstOf(b, MOST_APART)];
  const { value, chance } = energyDistance(near, far, {
    key: fold(key, "energy"),
    permutations: 10,
  });
  return {
    ...(told >= LEAST_TOLD && {
      auc: rowsAuc(firstOf(a, told), firstOf(b, told), fold(key, "auc")),
    }),
    columns: columnDistances(domain, drawn, rows),
    correlations: correlationDifferences(domain, drawn, rows),
    sliced: slicedDistance(near, far, { key: fold(key, "sliced") }),
    energy: { value, floor: chance.mean },
  };
}

/** Measures a law of the rows of a product of domains. */
export async function evaluateTable(
  law: TableLaw,
  domain: Product,
  options: EvaluateOptions,
): Promise<Evaluated> {
  const { training, seed = 0, scored: most = 1000 } = options;
  if (options.rows.length < LEAST_ROWS)
    fail(
      "data",
      `${options.rows.length} rows are too few to measure on`,
      `give at least ${LEAST_ROWS}`,
    );
  const order = permutation(fold(keyOf(seed), "rows"), options.rows.length).data;
  const rows = Array.from(order, (i) => options.rows[i]);
  const { samples = Math.min(5000, Math.max(300, 5 * rows.length)) } = options;
  const scored = rows.slice(0, most);
  const drawn = await law.draw(samples, seed);
  const own = await law.logLikelihood(scored);
  const ranked = await law.logLikelihood(drawn.slice(0, rankedAmong(rows.length)));
  const baselines = await baselineScores(domain, rows, training, scored);
  const known = training ? [...training, ...rows] : rows;
  const features = featuresOf(domain, known);
  const measured = (some: readonly Cells[]) => sampleMeasures(domain, features, some, rows, seed);
  const compared = [];
  for (const { law: baseline } of baselines)
    compared.push({
      name: baseline.name,
      ...measured(await baseline.draw(Math.min(samples, MOST_APART), seed)),
    });
  const evaluation: TableEvaluation = {
    rows: rows.length,
    training: training?.length ?? 0,
    samples,
    likelihood: likelihoodOf(own, baselines),
    calibration: calibrationOf(own, ranked),
    model: measured(drawn),
    baselines: compared,
    clusters: clusterMasses(features.of(drawn), features.of(known), fold(keyOf(seed), "clusters")),
    ...(training && {
      privacy: privacyOf(drawn.slice(0, most), scored, someRows(training, MOST_NEAR), features.of),
    }),
  };
  return { evaluation, drawn };
}
