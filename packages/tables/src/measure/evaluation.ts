/** The options and the results of an evaluation of a model of a table. */
import type { Attributes } from "./attributes.ts";
import type { Calibration } from "./calibration.ts";
import type { Auc } from "./classifier.ts";
import type { Clusters } from "./clusters.ts";
import type { TableCompletion } from "./completion.ts";
import type { ColumnDistance, CorrelationDifferences, SlicedDistance } from "./distances.ts";
import type { Mean } from "./mean.ts";
import type { Privacy } from "./neighbours.ts";
import type { Cells, OpenCells } from "./table-distribution.ts";

export interface BaselineLikelihood extends Mean {
  readonly name: string;
  /** The gain of the model, row by row. */
  readonly gain: Mean;
}

/** Means over the rows of positive likelihood under the model; for baselines over the same rows. */
export interface Likelihood extends Mean {
  readonly rows: number;
  /**
   * Rows of likelihood zero: one of their integers is outside of the range that the model knows.
   */
  readonly noChance: number;
  /**
   * Random directions with which the model's likelihoods are estimated; absent if they are exact.
   */
  readonly probes?: number;
  readonly baselines: readonly BaselineLikelihood[];
}

/** Measures of the samples of a distribution, compared with rows. */
export interface SampleMeasures {
  readonly auc?: Auc;
  readonly columns: readonly ColumnDistance[];
  readonly correlations: CorrelationDifferences;
  readonly sliced: SlicedDistance;
  readonly energy: SlicedDistance;
}

/** The evaluation of a model of a table, compared with data and baselines. */
export interface TableEvaluation {
  /**
   * Number of evaluated rows, of those with missing cells, of available training rows, and of
   * sampled rows.
   */
  readonly rows: number;
  readonly torn: number;
  readonly training: number;
  readonly samples: number;
  readonly likelihood: Likelihood;
  readonly calibration: Calibration;
  readonly model: SampleMeasures;
  /** The same for the baselines' samples. */
  readonly baselines: readonly (SampleMeasures & { readonly name: string })[];
  readonly clusters: Clusters;
  /** Absent if the training rows were not available. */
  readonly privacy?: Privacy;
  /** What samples reveal about single cells of the training rows, if these were available. */
  readonly attributes?: Attributes;
  /** How well hidden cells are completed, if that was measured (`completionOf`). */
  readonly completion?: TableCompletion;
}

/** The rows that an evaluation uses, and its limits. */
export interface EvaluateOptions {
  /**
   * Rows that were not used in training. If cells are missing, likelihoods are those of the other
   * cells, and the model fills them in for comparisons with samples. A model that cannot complete
   * rows is evaluated on those without missing cells.
   */
  readonly rows: readonly OpenCells[];
  /**
   * Rows that were used in training. Without them baselines are fitted to nine tenths of the rows
   * at a time and evaluated on the other tenth.
   */
  readonly training?: readonly OpenCells[];
  /** Number of sampled rows. Default: five per row, from 300 to 5,000. */
  readonly samples?: number;
  /** Maximum number of rows whose likelihood is computed. Default 1,000. */
  readonly scored?: number;
  /** Approximate time limit: with less time, fewer rows are scored. Default: no limit. */
  readonly minutes?: number;
  readonly seed?: number;
  readonly signal?: AbortSignal;
  /** Called with the name of the next stage, and with the share of all that is done. */
  readonly onStage?: (what: string, share: number) => void;
}

/** An evaluation, with the rows that pictures need. */
export interface Evaluated {
  readonly evaluation: TableEvaluation;
  readonly drawn: readonly Cells[];
  /** The rows that samples were compared with, with missing cells filled in. */
  readonly compared: readonly Cells[];
}
