/**
 * One task of the benchmark with one seed: a model is fitted, rows are drawn, and they are compared
 * with fresh ones.
 */
import { fold, key } from "diffeo/random";
import { energyDistance } from "diffeo/two-sample";
import { type FitTableOptions, fitTable } from "diffeo-tables";
import { deviation, firstOf, mean, projected, sliced } from "./distance.ts";
import { laidRowsOf, rowsOf, tasks } from "./distributions.ts";
import { endProgress, printProgress } from "./progress.ts";

export interface Settings {
  readonly rows: number;
  /**
   * The number of rows that are tested for being outside, including additional ones beyond those
   * that are compared.
   */
  readonly inside: number;
  readonly seed: number;
  readonly fit: Omit<FitTableOptions, "columns" | "seed">;
}

export interface Measured {
  readonly task: string;
  readonly seed: number;
  /** The distance to fresh rows, the mean over sets of them. */
  readonly swd: number;
  /** The distance between two sets of fresh rows: mean and standard deviation over pairs. */
  readonly floor: number;
  readonly floorDeviation: number;
  readonly ratio: number;
  /**
   * The distance to rows at the peer's positions, if it has any, for comparison with the peer's
   * result.
   */
  readonly laid: number;
  readonly peer: number;
  readonly energy: number;
  readonly energyFloor: number;
  readonly outside: number;
  readonly looked: number;
  readonly evaluations: number;
  readonly trainingSeconds: number;
  readonly samplingSeconds: number;
  /** The number of steps, and the step of the chosen weights. */
  readonly steps: number;
  readonly best: number;
  /** The loss of the chosen weights on held-out rows. */
  readonly heldOut: number;
}

const COUNT = 10_000;
const PAIRS = 6;

/** Distances that do not depend on a model: fresh rows and their floor. */
function freshOf(name: string) {
  const task = tasks[name];
  const root = fold(key("tables"), name);
  const fresh = Array.from({ length: 2 * PAIRS }, (_, i) =>
    firstOf(rowsOf(task, COUNT, fold(fold(root, "fresh"), i)), task.compared),
  );
  const slices = fresh.map(projected);
  const pairs = Array.from({ length: PAIRS }, (_, i) => sliced(slices[2 * i], slices[2 * i + 1]));
  const laid = Array.from({ length: PAIRS }, (_, i) =>
    projected(firstOf(laidRowsOf(task, COUNT, fold(fold(root, "laid"), i)), task.compared)),
  );
  return { fresh, slices, laid, floor: mean(pairs), floorDeviation: deviation(pairs) };
}

export async function runTask(
  name: string,
  { rows: count, inside, seed, fit }: Settings,
): Promise<Measured> {
  const task = tasks[name];
  const rows = rowsOf(task, count, fold(fold(fold(key("tables"), name), "train"), seed));
  const { fresh, slices, laid, floor, floorDeviation } = freshOf(name);
  let taken = 0;
  const began = performance.now();
  const model = await fitTable(rows, {
    columns: task.columns,
    given: false,
    seed,
    ...fit,
    onProgress: (progress) => {
      taken = progress.step;
      printProgress(name, progress);
    },
  });
  const trained = performance.now();
  const { rows: drawn, evaluations } = await model.sample({ count: COUNT, seed });
  const samplingSeconds = (performance.now() - trained) / 1000;
  endProgress();
  const more =
    inside > COUNT
      ? (await model.sample({ count: inside - COUNT, seed: seed + 1_000_000 })).rows
      : [];
  const ours = firstOf(drawn as number[][], task.compared);
  const found = projected(ours);
  const to = (sets: readonly Float64Array[][]): number =>
    mean(sets.map((set) => sliced(found, set)));
  const energy = energyDistance(ours, fresh[0], { key: key("energy"), permutations: 5 });
  const isOutside = (row: readonly unknown[]): boolean => !task.inside(row as number[]);
  return {
    task: name,
    seed,
    swd: to(slices),
    floor,
    floorDeviation,
    ratio: to(slices) / floor,
    laid: to(laid),
    peer: task.peer,
    energy: energy.value,
    energyFloor: energy.chance.mean,
    outside: drawn.filter(isOutside).length + more.filter(isOutside).length,
    looked: drawn.length + more.length,
    evaluations,
    trainingSeconds: (trained - began) / 1000,
    samplingSeconds,
    steps: taken,
    best: model.training.step,
    heldOut: model.training.validation,
  };
}
