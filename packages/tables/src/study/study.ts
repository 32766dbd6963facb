/**
 * The study: datasets × losses × seeds, one run each. A run is a pure function of its name. Its
 * record is one JSON file, written atomically, and a run with a record is not repeated.
 */
import type { ObjectiveName } from "diffeo/matching";
import { EXACT_EVERY } from "../dkef/search.ts";
import type { DensityRun } from "../measure/density-run.ts";
import type { Measures } from "../measure/measure.ts";
import type { Prepared } from "../table/prepare.ts";
import type { DatasetName } from "../table/uci.ts";

/** A run of the study: a dataset, a loss and a seed. */
export interface FitTask {
  readonly dataset: DatasetName;
  readonly loss: ObjectiveName;
  readonly seed: number;
}

/** The result of a run of the study. */
export interface RunRecord extends FitTask {
  readonly n: number;
  readonly points: { readonly train: number; readonly validation: number; readonly test: number };
  /** Number of steps, and the step at which the patience ran out. */
  readonly steps: number;
  readonly stopped: number;
  /**
   * The state chosen by the loss on the validation set, and the state chosen by exact score
   * matching there.
   */
  readonly chosen: Measures;
  readonly chosenByExact: Measures;
  /**
   * Every `every`-th step, from the first one on: the validation loss, and exact score matching on
   * the validation set.
   */
  readonly curve: {
    readonly every: number;
    readonly loss: readonly number[];
    readonly exact: readonly number[];
  };
  readonly failure?: string;
}

/** Steps between the points of a recorded curve. */
const EVERY = 10;
/**
 * Curves of all runs reach at least this step, so that losses can be compared after equal steps.
 */
export const EQUAL_STEPS = 600;

/** Six digits contain all the information in a noisy number. */
const rounded = (values: readonly number[]): number[] =>
  values.map((v) => Number(v.toPrecision(6)));

/**
 * The record of a run: measures of its two states, and its thinned curves. A run without measures
 * has no record.
 */
export function recordOf(
  task: FitTask,
  data: Prepared,
  { fit, measures, lost }: Pick<DensityRun, "fit" | "measures" | "lost">,
): RunRecord {
  if (!measures) throw lost;
  const every = (values: readonly number[], steps: number): number[] =>
    rounded(values.filter((_, i) => ((i + 1) * steps) % EVERY === 0));
  return {
    ...task,
    n: data.n,
    points: {
      train: data.train.shape[0],
      validation: data.validation.shape[0],
      test: data.test.shape[0],
    },
    steps: fit.steps,
    stopped: fit.stopped,
    chosen: measures.chosen,
    chosenByExact: measures.chosenByExact ?? measures.chosen,
    curve: {
      every: EVERY,
      loss: every(fit.curve.loss, 1),
      exact: every(fit.curve.exact, EXACT_EVERY),
    },
    failure: fit.failure,
  };
}

/** The name of a run of the study, and of its file without the extension. */
export const fitTaskName = ({ dataset, loss, seed }: FitTask): string =>
  `${dataset}-${loss}-${seed}`;

/**
 * Relative duration, so that the longest runs start first: more coordinates, and losses with all
 * derivatives, take longer.
 */
const cost = ({ dataset, loss }: FitTask): number =>
  (dataset === "parkinsons" ? 3 : dataset === "white-wine" ? 2 : 1) *
  (loss === "ssm" || loss === "gssm" ? 1 : 2);

/** The runs without a record. */
export function openFitTasks(
  records: readonly RunRecord[],
  datasets: readonly DatasetName[],
  losses: readonly ObjectiveName[],
  seeds: number,
): FitTask[] {
  const known = new Set(records.map(fitTaskName));
  const all = datasets.flatMap((dataset) =>
    losses.flatMap((loss) => Array.from({ length: seeds }, (_, seed) => ({ dataset, loss, seed }))),
  );
  return all.filter((task) => !known.has(fitTaskName(task))).sort((a, b) => cost(b) - cost(a));
}
