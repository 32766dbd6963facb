/** An evaluation of a model of a table: what it takes and what it measures. */
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
  /** What the model has more, row by row. */
  readonly gain: Mean;
}

/** Means are over the rows that have a chance under the model, and of baselines over the same. */
export interface Likelihood extends Mean {
  readonly rows: number;
  /** Rows that have none: an integer of theirs is beyond all that the model knows. */
  readonly noChance: number;
  /** Random directions by which the model's are estimated; absent where they are exact. */
  readonly probes?: number;
  readonly baselines: readonly BaselineLikelihood[];
}

/** What samples of a distribution look like compared with rows. */
export interface SampleMeasures {
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
