/**
 * An evaluation of a model of a table on rows that it was not trained on: its log-likelihood next
 * to those of baselines, row by row; whether its samples can be separated from the rows; where their
 * mass is; how near they are to the rows of training. Whatever a measure shows is a number next to
 * what chance makes of it, and compared with what a baseline has.
 */
import type { Product } from "diffeo/domain";
import { fail, type NdArray } from "diffeo/graph";
import { pickRows } from "diffeo/host";
import { fold, key as keyOf, permutation } from "diffeo/random";
import { pauses } from "diffeo/sampler";
import { energyDistance } from "diffeo/two-sample";
import { wholeRows } from "../diffusion/encode/index.ts";
import { type Attributes, attributesOf } from "./attributes.ts";
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
import type { Cells, OpenCells, TableLaw } from "./law.ts";
import { cellMarks } from "./marks.ts";
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
  /** Rows that have none: an integer of theirs is beyond all that the model knows. */
  readonly noChance: number;
  /** Random directions by which the model's are estimated; absent where they are exact. */
  readonly probes?: number;
  readonly baselines: readonly BaselineLikelihood[];
}

/** What samples of a distribution look like compared with rows. */
interface SampleMeasures {
  readonly auc?: Auc;
  readonly columns: readonly ColumnDistance[];
  readonly correlations: CorrelationDifferences;
  readonly sliced: SlicedDistance;
  readonly energy: SlicedDistance;
}

/** What a model of a table is like, compared with data and baselines. */
export interface TableEvaluation {
  /**
   * Rows that it was measured on, those of them that have missing cells, rows of training that were
   * at hand, and rows drawn.
   */
  readonly rows: number;
  readonly torn: number;
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
  /** What samples tell of single cells of the rows of training, where these were at hand. */
  readonly attributes?: Attributes;
  /** How well hidden cells are known, where that was measured (`completionOf`). */
  readonly completion?: TableCompletion;
}

/** Which rows a model is measured on, and compared with. */
export interface EvaluateOptions {
  /**
   * Rows that were not trained on. Where cells are missing likelihoods are those of the others, and
   * rows that are held against samples have them filled in by the model; a model that completes no
   * rows is measured on those without missing cells.
   */
  readonly rows: readonly OpenCells[];
  /**
   * Those that were. Without them baselines are fitted to nine tenths of the rows at a time and
   * tried on the tenth.
   */
  readonly training?: readonly OpenCells[];
  /** Rows to draw. Default five a row, from 300 to 5,000. */
  readonly samples?: number;
  /** Rows whose likelihood is taken at most. Default 1,000. */
  readonly scored?: number;
  /**
   * About how long it may take: fewer rows are scored where there is less time. Default: no end.
   */
  readonly minutes?: number;
  readonly seed?: number;
  readonly signal?: AbortSignal;
  /** Called with what is measured next, and with how much of all is done. */
  readonly onStage?: (what: string, share: number) => void;
}

/** What evaluation found, with the rows that pictures need. */
export interface Evaluated {
  readonly evaluation: TableEvaluation;
  readonly drawn: readonly Cells[];
  /** The rows that samples were held against, with missing cells filled in. */
  readonly compared: readonly Cells[];
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
  rows: readonly OpenCells[],
  training: readonly OpenCells[] | undefined,
  scored: readonly OpenCells[],
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
  probes: number | undefined,
  baselines: readonly { law: TableLaw; scores: Float64Array }[],
): Likelihood {
  const hasChance = (_: number, i: number): boolean => model[i] > -Infinity;
  const own = model.filter(hasChance);
  return {
    rows: own.length,
    noChance: model.length - own.length,
    ...(probes !== undefined && { probes }),
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

/** Rows as they are, and with their missing cells filled in. */
interface Compared {
  readonly rows: readonly OpenCells[];
  readonly filled: readonly Cells[];
}

function sampleMeasures(
  domain: Product,
  features: Features,
  drawn: readonly Cells[],
  { rows, filled }: Compared,
  seed: number,
): SampleMeasures {
  const key = fold(keyOf(seed), "measures");
  const [a, b] = [features.of(drawn), features.of(filled)];
  const told = Math.min(MOST_TOLD, a.shape[0], b.shape[0]);
  const [near, far] = [firstOf(a, MOST_APART), firstOf(b, MOST_APART)];
  const { value, chance } = energyDistance(near, far, {
    key: fold(key, "energy"),
    permutations: 10,
  });
  return {
    ...(told >= LEAST_TOLD && {
      auc: rowsAuc(
        firstOf(a, told),
        firstOf(b, told),
        fold(key, "auc"),
        cellMarks(domain, [drawn.slice(0, told), filled.slice(0, told)]),
      ),
    }),
    columns: columnDistances(domain, drawn, rows, filled),
    correlations: correlationDifferences(domain, drawn, filled),
    sliced: slicedDistance(near, far, { key: fold(key, "sliced") }),
    energy: { value, floor: chance.mean },
  };
}

/** Rows with their missing cells filled in, in their order. */
async function filledRows(
  { complete }: TableLaw,
  rows: readonly OpenCells[],
  seed: number,
): Promise<readonly Cells[]> {
  const whole = wholeRows(rows);
  if (whole.length === rows.length || !complete) return whole;
  return complete(rows, seed);
}

/** Rows below which copies are not reported. */
const LEAST_NEAR = 10;

/**
 * How near samples are to rows of training, and what they tell of single cells, by those rows that
 * have no missing cells; nothing where these are too few.
 */
function privacyBy(
  domain: Product,
  features: Features,
  drawn: readonly Cells[],
  fresh: readonly OpenCells[],
  training: readonly OpenCells[],
): Pick<TableEvaluation, "privacy" | "attributes"> {
  const [own, others] = [wholeRows(training), wholeRows(fresh)];
  if (own.length < LEAST_NEAR || others.length < LEAST_ROWS) return {};
  const among = someRows(own, MOST_NEAR);
  const attributes = attributesOf(domain, drawn, others, among, features);
  return {
    privacy: privacyOf(drawn.slice(0, others.length), others, among, features.of),
    ...(attributes && { attributes }),
  };
}

/** Reports what is measured next, lets others run, and ends where that is wanted. */
function stagesOf({ signal, onStage }: EvaluateOptions, stages: number) {
  const pause = pauses();
  let done = 0;
  return async (what: string): Promise<void> => {
    onStage?.(what, done++ / stages);
    await pause();
    signal?.throwIfAborted();
  };
}

/** Rows by which the time of a likelihood is known. */
const TIMED = 20;
/** The share of its time that an evaluation spends on likelihoods of rows. */
const LIKELIHOOD_SHARE = 0.3;

/** The likelihoods of the first rows, of so many as there is time for. */
async function likelihoodsInTime(
  law: TableLaw,
  rows: readonly OpenCells[],
  minutes: number | undefined,
): Promise<Float64Array> {
  if (minutes === undefined || rows.length <= TIMED) return law.logLikelihood(rows);
  const began = performance.now();
  const first = await law.logLikelihood(rows.slice(0, TIMED));
  const pace = (performance.now() - began) / TIMED;
  const most = Math.floor((LIKELIHOOD_SHARE * minutes * 60_000) / pace);
  if (most <= TIMED) return first;
  return law.logLikelihood(rows.slice(0, most));
}

/** Stages of an evaluation compared with those of each baseline. */
const STAGES = 6;

/**
 * Measures a distribution of the rows of a product of domains.
 *
 * @param law - what is measured, such as `modelLaw(model)`
 * @param domain - the domains of the columns
 * @param options - rows that it has not seen, and how much is measured
 * @returns what was found, with the rows that pictures need
 * @throws where rows are too few to measure on
 */
export async function evaluateTable(
  law: TableLaw,
  domain: Product,
  options: EvaluateOptions,
): Promise<Evaluated> {
  const { seed = 0, scored: most = 1000 } = options;
  // Of columns that follow from others nothing is measured.
  const learned = (all: readonly OpenCells[]): readonly OpenCells[] =>
    all.map((row) => (row.length > domain.cells ? row.slice(0, domain.cells) : row));
  const usable = (all: readonly OpenCells[]): readonly OpenCells[] =>
    law.complete ? learned(all) : wholeRows(learned(all));
  const usual = usable(options.rows);
  const training = options.training && usable(options.training);
  if (usual.length < LEAST_ROWS)
    fail(
      "data",
      `${usual.length} rows${law.complete ? "" : " without missing cells"} are too few to measure on`,
      `give at least ${LEAST_ROWS}`,
    );
  const order = permutation(fold(keyOf(seed), "rows"), usual.length).data;
  const rows = Array.from(order, (i) => usual[i]);
  const { samples = Math.min(5000, Math.max(300, 5 * rows.length)) } = options;
  const stage = stagesOf(options, STAGES + 3);
  await stage("drawing rows");
  const drawn = await law.draw(samples, seed);
  await stage("likelihoods of rows");
  const own = await likelihoodsInTime(law, rows.slice(0, most), options.minutes);
  const scored = rows.slice(0, own.length);
  await stage("filling in missing cells");
  const compared: Compared = { rows, filled: await filledRows(law, rows, seed) };
  const torn = rows.length - wholeRows(rows).length;
  await stage("likelihoods of samples");
  const isShort = scored.length < Math.min(most, rows.length);
  const among = await law.logLikelihood(
    drawn.slice(0, isShort ? scored.length : rankedAmong(rows.length)),
  );
  const ranked = torn === 0 ? own : await law.logLikelihood(compared.filled.slice(0, among.length));
  await stage("baselines");
  const baselines = await baselineScores(domain, rows, training, scored);
  const known = [...wholeRows(training ?? []), ...compared.filled];
  const features = featuresOf(domain, known);
  const measured = (some: readonly Cells[]) =>
    sampleMeasures(domain, features, some, compared, seed);
  await stage("samples");
  const model = measured(drawn);
  const others = [];
  for (const { law: baseline } of baselines) {
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
    likelihood: likelihoodOf(own, law.probes, baselines),
    calibration: calibrationOf(ranked, among),
    model,
    baselines: others,
    clusters: clusterMasses(features.of(drawn), features.of(known), fold(keyOf(seed), "clusters")),
    ...(training && privacyBy(domain, features, drawn, rows.slice(0, most), training)),
  };
  return { evaluation, drawn, compared: compared.filled };
}
