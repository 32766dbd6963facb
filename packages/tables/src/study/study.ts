/**
 * The study: datasets × losses × seeds, one run each. A run is a pure function of its name, its
 * record is one JSON file written whole or not at all, and what has a file is not run again.
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

/** What a run of the study gave. */
export interface RunRecord extends FitTask {
  readonly n: number;
  readonly points: { readonly train: number; readonly validation: number; readonly test: number };
  /** Steps made, and the step at which patience ended. */
  readonly steps: number;
  readonly stopped: number;
  /**
   * The state chosen by the loss on the validation set, and that chosen by exact score matching
   * there.
   */
  readonly chosen: Measures;
  readonly chosenByExact: Measures;
  /**
   * Every `every`-th step, from that step on: the validation loss, and exact score matching on the
   * validation set.
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
/** Curves of all runs reach at least this far, so that losses can be compared after equal steps. */
export const EQUAL_STEPS = 600;

/** Six digits say all there is in a number that noise has touched. */
const rounded = (values: readonly number[]): number[] =>
  values.map((v) => Number(v.toPrecision(6)));

/**
 * What is kept of a run: its two states measured, and its curves thinned. A run without measures
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

/** The name of a run of the study, and of its file. */
export const fitTaskName = ({ dataset, loss, seed }: FitTask): string =>
  `${dataset}-${loss}-${seed}`;

/**
 * Longest first, so that the cores end together: more coordinates, then losses that need all
 * derivatives.
 */
const cost = ({ dataset, loss }: FitTask): number =>
  (dataset === "parkinsons" ? 3 : dataset === "white-wine" ? 2 : 1) *
  (loss === "ssm" || loss === "gssm" ? 1 : 2);

/** What is still to be run, given the records there are. */
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
