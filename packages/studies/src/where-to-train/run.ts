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
import { BATCH, TRAINING_POINTS, TRAINING_STEPS } from "./budget.ts";
import { type LossName, type Problem, wayOf } from "./losses.ts";
import {
  distancesOf,
  type ErrorAt,
  errorsOf,
  natsOf,
  nullIfNumerical,
  type Samples,
  samplesOf,
} from "./measure.ts";
import { runProcess } from "./process-run.ts";
import { isProcess, type ProcessName } from "./processes.ts";

/** `inside` and `boundary`: three Gaussians through φ(x) and φ(3x); `colours`: a small grid. */
export const lawNames = ["inside", "boundary", "colours"] as const;
export type LawName = (typeof lawNames)[number];

export interface WhereToTrainTask {
  readonly law: LawName;
  readonly map: StudyMap;
  /** How the score is trained in x or y, or another process that is trained. */
  readonly loss: LossName | ProcessName;
  readonly seed: number;
}

export interface WhereToTrainResult {
  /** None of other processes, whose times and scores are their own. */
  readonly errors: readonly ErrorAt[];
  /** Absent for the grid, which has no density. */
  readonly samples?: Samples;
  /**
   * Of the grid: share of legal boards, and total variation from the 18 of them; none where the
   * trained score is not finite, so that the sampler stopped.
   */
  readonly grid?: { readonly legal: number | null; readonly variation: number | null };
}

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

/**
 * Legal boards among samples of the grid, and the total variation of boards from the uniform
 * distribution.
 */
function gridOf(y: NdArray | null): NonNullable<WhereToTrainResult["grid"]> {
  if (!y) return { legal: null, variation: null };
  const [count, n] = y.shape;
  const data = y.data as Float64Array;
  const seen = new Map(boards.map((board) => [board.join(), 0]));
  let legal = 0;
  for (let i = 0; i < count; i++) {
    const board = classesOf(data.subarray(i * n, (i + 1) * n));
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
  const points = sampleFrom(distribution, fold(root, "points"), TRAINING_POINTS);
  const onGrid = task.law === "colours";
  if (isProcess(task.loss)) {
    const { y, nats } = await runProcess(task.loss, problem, points, root, context);
    if (onGrid) return rounded({ errors: [], grid: gridOf(y) });
    const distances = await distancesOf(problem, distribution, y, root);
    return rounded({ errors: [], samples: { ...distances, nats } });
  }
  const way = wayOf(task.loss, problem);
  const score = way.score(await trained(way, problem, points, root, context));
  const errors = await errorsOf(problem, distribution, score, root);
  const drawn = samplesOf(problem, score, root, context.signal);
  if (onGrid) return rounded({ errors, grid: gridOf(await nullIfNumerical(drawn)) });
  const y = await drawn;
  const distances = await distancesOf(problem, distribution, y, root);
  const nats = await natsOf(problem, distribution, score, root);
  return rounded({ errors, samples: { ...distances, nats } });
}
