/** One score, trained in one of several ways on a distribution with a known score, and measured. */
import { type Diffusible, sampleFrom } from "diffeo/distribution";
import type { NdArray, Tensor } from "diffeo/graph";
import { rowsOf } from "diffeo/host";
import type { Parameters } from "diffeo/model";
import { fold, type Key, key, normal, uniform } from "diffeo/random";
import { type GaussianSde, vp } from "diffeo/sde";
import { boards, classesOf, colours, isLegal, SITES } from "../problem/colours.ts";
import { type StudyMap, scaledMap } from "../problem/maps.ts";
import { threeGaussians } from "../problem/mixture.ts";
import { rounded } from "../study/records.ts";
import type { TaskContext } from "../study/study.ts";
import { trainSmall } from "../study/train.ts";
import { type LossName, type Problem, wayOf } from "./losses.ts";
import { distancesOf, type ErrorAt, errorsOf, type Samples, samplesOf } from "./measure.ts";

/** `inside` and `boundary`: three Gaussians through φ(x) and φ(3x); `colours`: a small grid. */
export const lawNames = ["inside", "boundary", "colours"] as const;
export type LawName = (typeof lawNames)[number];

export interface WhereToTrainTask {
  readonly law: LawName;
  readonly map: StudyMap;
  readonly loss: LossName;
  readonly seed: number;
}

export interface WhereToTrainResult {
  readonly errors: readonly ErrorAt[];
  /** Absent for the grid, which has no density. */
  readonly samples?: Samples;
  /** Of the grid: share of legal boards, and total variation from the 18 of them. */
  readonly grid?: { readonly legal: number; readonly variation: number };
}

const TRAINING_POINTS = 25_600;
const BATCH = 256;
const TRAINING_STEPS = 2000;
const SCALES = { inside: 1, boundary: 3 } as const;

function problemOf({ law, map }: WhereToTrainTask): {
  readonly problem: Problem;
  readonly distribution: Diffusible;
} {
  const sde = vp();
  if (law === "colours") {
    const grid = colours(map);
    const { phi, codes } = grid;
    return { problem: { sde, phi, n: 2 * SITES, codes }, distribution: grid.law };
  }
  return {
    problem: { sde, phi: scaledMap(map, SCALES[law]), n: 2 },
    distribution: threeGaussians(),
  };
}

/** Parameters after training on points of the distribution. */
function trained(
  way: ReturnType<typeof wayOf>,
  { n, sde }: { readonly n: number; readonly sde: GaussianSde },
  points: NdArray,
  root: Key,
  context: TaskContext,
): Promise<Parameters<Tensor>> {
  const first = sde.horizon / 1000;
  const batch = (i: number): NdArray[] => {
    const x0 = rowsOf(points, (i * BATCH) % TRAINING_POINTS, BATCH);
    const t = uniform(fold(fold(root, "times"), i), [BATCH]);
    for (let k = 0; k < BATCH; k++) t.data[k] = first + (sde.horizon - first) * t.data[k];
    return [x0, t, normal(fold(fold(root, "noise"), i), [BATCH, n])];
  };
  return trainSmall<readonly [Tensor, Tensor, Tensor]>(
    {
      init: way.network.init(fold(root, "parameters")),
      loss: way.loss,
      shapes: [[BATCH, n], [BATCH], [BATCH, n]],
      batch,
      steps: TRAINING_STEPS,
    },
    context,
  );
}

/** Legal boards among samples of the grid, and the total variation of boards from the uniform distribution. */
function gridOf({ data, shape }: NdArray): NonNullable<WhereToTrainResult["grid"]> {
  const [count, n] = shape;
  const seen = new Map(boards.map((board) => [board.join(), 0]));
  let legal = 0;
  for (let i = 0; i < count; i++) {
    const board = classesOf((data as Float64Array).subarray(i * n, (i + 1) * n));
    if (!isLegal(board)) continue;
    legal++;
    seen.set(board.join(), (seen.get(board.join()) as number) + 1);
  }
  const missing = [...seen.values()].map((k) => Math.max(0, 1 / boards.length - k / count));
  return { legal: legal / count, variation: missing.reduce((a, b) => a + b, 0) };
}

export async function whereToTrain(
  task: WhereToTrainTask,
  context: TaskContext,
): Promise<WhereToTrainResult> {
  const { problem, distribution } = problemOf(task);
  const root = fold(key(task.seed), "where-to-train");
  const way = wayOf(task.loss, problem);
  const points = sampleFrom(distribution, fold(root, "points"), TRAINING_POINTS);
  const score = way.score(await trained(way, problem, points, root, context));
  const errors = await errorsOf(problem, distribution, score, root);
  const y = await samplesOf(problem, score, root, context.signal);
  return rounded({
    errors,
    ...(task.law === "colours"
      ? { grid: gridOf(y) }
      : { samples: await distancesOf(problem, distribution, score, y, root) }),
  });
}
