/**
 * The study: datasets × losses × seeds, one run each. A run is a pure function of its name, its record is one JSON file
 * written whole or not at all, and what has a file is not run again.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { DiffeoError, fail } from "../graph/index.ts";
import type { ObjectiveName } from "../matching/index.ts";
import { fold, key } from "../random/index.ts";
import { writeFileAtomic } from "../train/index.ts";
import { type DatasetName, prepareNamed } from "./datasets.ts";
import { EXACT_EVERY, type Fit, type FitProgress, fitDensity } from "./fit.ts";
import { type Measures, measureFitted } from "./measure.ts";
import type { Prepared } from "./prepare.ts";

export interface Task {
  readonly dataset: DatasetName;
  readonly loss: ObjectiveName;
  readonly seed: number;
}

export interface RunRecord extends Task {
  readonly n: number;
  readonly points: { readonly train: number; readonly validation: number; readonly test: number };
  /** Steps made, and the step at which patience ended. */
  readonly steps: number;
  readonly stopped: number;
  /** Of training alone, on one thread. */
  readonly seconds: number;
  /** The state chosen by the loss on the validation set, and that chosen by exact score matching there. */
  readonly chosen: Measures;
  readonly chosenByExact: Measures;
  /** Every `every`-th step, from that step on: the validation loss, and exact score matching on the validation set. */
  readonly curve: { readonly every: number; readonly loss: readonly number[]; readonly exact: readonly number[] };
  readonly failure?: string;
}

/** Steps between the points of a recorded curve. */
const EVERY = 10;
/** Curves of all runs reach at least this far, so that losses can be compared after equal steps. */
const EQUAL_STEPS = 600;

export interface RunOptions {
  /** Where the UCI files are. */
  readonly folder: string;
  /** Draws of plain importance sampling for the state the protocol chooses. Default 10⁶. */
  readonly samples?: number;
  readonly onStep?: (progress: FitProgress) => void;
  readonly signal?: AbortSignal;
}

/** Six digits say all there is in a number that noise has touched. */
const rounded = (values: readonly number[]): number[] => values.map((v) => Number(v.toPrecision(6)));

export async function runTask(task: Task, options: RunOptions): Promise<RunRecord> {
  const { dataset, loss, seed } = task;
  const { signal, onStep } = options;
  const data = await prepareNamed(dataset, seed, options.folder);
  const began = performance.now();
  let trained = began;
  const found = await fitDensity(data, {
    loss,
    seed,
    leastSteps: EQUAL_STEPS,
    onStep: (progress) => {
      trained = performance.now();
      onStep?.(progress);
    },
    ...(signal && { signal }),
  });
  return recordOf(task, data, found, (trained - began) / 1000, options);
}

/** What is kept of a fit: its two states measured, and its curves thinned. */
export async function recordOf(
  task: Task,
  data: Prepared,
  found: Fit,
  seconds: number,
  { samples = 1_000_000, signal }: Pick<RunOptions, "samples" | "signal">,
): Promise<RunRecord> {
  const measure = (which: "chosen" | "chosenByExact", draws: number): Promise<Measures> =>
    measureFitted(found[which], data, {
      key: fold(key(task.seed), "measure"),
      samples: draws,
      ...(signal && { signal }),
    });
  const chosen = await measure("chosen", samples);
  const every = (values: readonly number[], steps: number): number[] =>
    rounded(values.filter((_, i) => ((i + 1) * steps) % EVERY === 0));
  return {
    ...task,
    n: data.n,
    points: { train: data.train.shape[0], validation: data.validation.shape[0], test: data.test.shape[0] },
    steps: found.steps,
    stopped: found.stopped,
    seconds,
    chosen,
    chosenByExact: found.chosenByExact === found.chosen ? chosen : await measure("chosenByExact", 0),
    curve: { every: EVERY, loss: every(found.curve.loss, 1), exact: every(found.curve.exact, EXACT_EVERY) },
    ...(found.failure !== undefined && { failure: found.failure }),
  };
}

const runsFolder = (out: string): string => join(out, "runs");

export const taskName = ({ dataset, loss, seed }: Task): string => `${dataset}-${loss}-${seed}`;

export const recordPath = (out: string, task: Task): string => join(runsFolder(out), `${taskName(task)}.json`);

export const saveRecord = (out: string, record: RunRecord): Promise<void> =>
  writeFileAtomic(recordPath(out, record), `${JSON.stringify(record)}\n`);

/** Longest first, so that the cores end together: more coordinates, then losses that need all derivatives. */
const cost = ({ dataset, loss }: Task): number =>
  (dataset === "parkinsons" ? 3 : dataset === "white-wine" ? 2 : 1) * (loss === "ssm" || loss === "gssm" ? 1 : 2);

/** What is still to be run, given the records there are. */
export function openTasks(
  records: readonly RunRecord[],
  datasets: readonly DatasetName[],
  losses: readonly ObjectiveName[],
  seeds: number,
): Task[] {
  const known = new Set(records.map(taskName));
  const all = datasets.flatMap((dataset) =>
    losses.flatMap((loss) => Array.from({ length: seeds }, (_, seed) => ({ dataset, loss, seed }))),
  );
  return all.filter((task) => !known.has(taskName(task))).sort((a, b) => cost(b) - cost(a));
}

/** The record of a file, or its list of them. */
async function recordsIn(path: string): Promise<RunRecord[]> {
  const remedy = "move it away and run again";
  const text = await readFile(path, "utf8");
  try {
    const records = [JSON.parse(text)].flat() as Partial<RunRecord>[];
    if (records.every((r) => r?.chosen && r.chosenByExact && r.curve && r.points)) return records as RunRecord[];
  } catch (error) {
    throw new DiffeoError("data", `${path} is no JSON`, remedy, { cause: error });
  }
  return fail("data", `${path} is no record of a run`, remedy);
}

/** Records of a study's folder: its runs, and what an earlier study left as one file a dataset. */
export async function readRecords(out: string): Promise<RunRecord[]> {
  const found = new Map<string, RunRecord>();
  for (const folder of [out, runsFolder(out)]) {
    const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return [];
      throw new DiffeoError("data", `cannot read ${folder} (${error.code})`, "check the path", { cause: error });
    });
    for (const name of names.filter((file) => file.endsWith(".json")))
      for (const record of await recordsIn(join(folder, name))) found.set(taskName(record), record);
  }
  return [...found.values()].sort(
    (a, b) => a.dataset.localeCompare(b.dataset) || a.loss.localeCompare(b.loss) || a.seed - b.seed,
  );
}
