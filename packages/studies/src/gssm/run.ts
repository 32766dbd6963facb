/**
 * The three parts of the study gssm: the asymptotic variance by the sandwich formula, the variance
 * of estimates from samples for comparison, and fits of a UCI set by losses that differ in one
 * thing.
 */
import { drawArrays } from "diffeo/matching";
import { fold, type Key, key } from "diffeo/random";
import { fitDensity, measureFitted, preparedUci, type UciName } from "diffeo-tables/density";
import { rounded } from "../study/records.ts";
import type { TaskContext } from "../study/study.ts";
import { type ModelName, models } from "./models.ts";
import {
  type SweepName,
  type SweepVariant,
  sweep,
  type TheoryObjective,
  theoryObjectives,
} from "./objectives.ts";
import { derivativesOf, type Sandwich, sandwich } from "./sandwich.ts";

interface TheoryTask {
  readonly part: "theory";
  readonly model: ModelName;
  readonly objective: TheoryObjective;
  readonly n: number;
}

interface CheckTask extends Omit<TheoryTask, "part"> {
  readonly part: "check";
  readonly seed: number;
}

interface SweepTask {
  readonly part: "sweep";
  readonly dataset: UciName;
  readonly variant: SweepName;
  readonly seed: number;
}

export type GssmTask = TheoryTask | CheckTask | SweepTask;

/** The errors of estimates from samples: N(θ̂ − θ)² of each. */
export interface CheckResult {
  readonly squared: readonly number[];
}

/** A fit measured on the test set. */
export interface SweepResult {
  readonly steps: number;
  readonly chosen: number;
  /** Exact score matching, mean and median over points. */
  readonly scoreMatching: number;
  readonly median: number;
  /** In nats, by the annealed normaliser. */
  readonly logLikelihood: number;
  /** Exact score matching on the validation set after 200 and 400 steps, where it got there. */
  readonly after: readonly (number | null)[];
}

export type GssmResult = Sandwich | CheckResult | SweepResult;

const POINTS = 2000;
const REPEATS = 20;
const NEWTON = 6;

/** Estimates by Newton's method from the truth, each from points and slices of its own. */
async function check({ model: name, objective, n, seed }: CheckTask): Promise<CheckResult> {
  const model = models[name];
  const loss = theoryObjectives[objective](n);
  const derivatives = derivativesOf(loss, model, POINTS, n);
  const squared: number[] = [];
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    const own: Key = fold(fold(fold(key(seed), "gssm"), "check"), repeat);
    const x = model.sample(fold(own, "points"), POINTS, n);
    const draws = drawArrays(loss.draws(n), [POINTS], fold(own, "slices"), "float64");
    let theta: number = model.truth;
    for (let k = 0; k < NEWTON; k++) {
      const [slope, curvature] = (await derivatives(x, draws, theta)).map(({ data }) =>
        (data as Float64Array).reduce((a, b) => a + b, 0),
      );
      theta -= slope / curvature;
    }
    squared.push(POINTS * (theta - model.truth) ** 2);
  }
  await derivatives.dispose();
  return { squared };
}

async function fitted(
  { dataset, variant, seed }: SweepTask,
  { file, report, signal }: TaskContext,
): Promise<SweepResult> {
  const data = preparedUci(dataset, seed, await file());
  const { objective, patience }: SweepVariant = sweep[variant];
  const fit = await fitDensity(data, {
    ...{ loss: objective(data.n), seed, patience, leastSteps: 400, signal },
    onStep: ({ step }) => {
      if (step % 20 === 0) report(Math.min(0.9, step / 1000));
    },
  });
  const measures = await measureFitted(fit.chosen, data, {
    key: fold(key(seed), "measure"),
    signal,
  });
  return {
    steps: fit.stopped,
    chosen: measures.step,
    scoreMatching: measures.scoreMatching.mean,
    median: measures.scoreMatching.median,
    logLikelihood: measures.logDensity.mean - measures.annealed.logZ,
    after: [200, 400].map((steps) => fit.curve.exact[steps / 5 - 1] ?? null),
  };
}

export async function runGssm(task: GssmTask, context: TaskContext): Promise<GssmResult> {
  if (task.part === "sweep") return rounded(await fitted(task, context));
  if (task.part === "check") return rounded(await check(task));
  const { model, objective, n } = task;
  const own = fold(key("gssm"), "theory");
  return rounded(await sandwich(theoryObjectives[objective](n), models[model], n, own));
}
