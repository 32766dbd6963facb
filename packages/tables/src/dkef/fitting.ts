/**
 * The inputs of one fit: its data and settings, its initial state, its graphs, and its random
 * numbers by purpose.
 */
import type { NdArray } from "diffeo/graph";
import { pickRows } from "diffeo/host";
import { drawArrays } from "diffeo/matching";
import { type Dkef, dkefInit } from "diffeo/model";
import { choice, fold, type Key, key } from "diffeo/random";
import type { AdamState } from "diffeo/train";
import type { Prepared } from "../table/prepare.ts";
import { objectiveOf, type Settings } from "./settings.ts";
import { type FitSteps, fitSteps } from "./steps.ts";

export { pickRows };

export interface Fitting {
  readonly data: Prepared;
  readonly settings: Settings;
  readonly root: Key;
  readonly start: Dkef<NdArray>;
  readonly steps: FitSteps;
  /** Training points that give α for validation. */
  readonly points: number;
  /** Validation points per step of the ridge. */
  readonly ridgeBatch: number;
  /** The random numbers of the objective for this many points, by purpose and step. */
  readonly draws: (purpose: string, step: number, count: number) => ReturnType<typeof drawArrays>;
}

/** Maximum number of validation points per step of the ridge. */
export const RIDGE_BATCH = 100;

export function openFitting(data: Prepared, settings: Settings): Fitting {
  const { train, validation, n } = data;
  const { batch, inducing, rate, clip, ridgeRate } = settings;
  const rows = train.shape[0];
  const root = key(settings.seed);
  const objective = objectiveOf(settings.loss);
  const chosen = choice(fold(root, "inducing"), rows, inducing, { replace: false }).data;
  const start = dkefInit(fold(root, "parameters"), pickRows(train, chosen), settings.model);
  const points = Math.min(settings.points, rows);
  const ridgeBatch = Math.min(RIDGE_BATCH, validation.shape[0]);
  const sizes = { n, batch, points, validation: validation.shape[0], ridgeBatch };
  const spec = objective.draws(n);
  return {
    data,
    settings,
    root,
    start,
    steps: fitSteps(objective, start, sizes, { rate, clip, ridgeRate }),
    points,
    ridgeBatch,
    draws: (purpose, step, count) => drawArrays(spec, [count], fold(fold(root, purpose), step)),
  };
}

/** Adam's state before its first step. */
export const freshState = (theta: Float32Array): AdamState<Float32Array> => ({
  theta,
  m: new Float32Array(theta.length),
  v: new Float32Array(theta.length),
});

export const stateOf = ({ theta, m, v }: AdamState<NdArray>): AdamState<Float32Array> => ({
  theta: theta.data as Float32Array,
  m: m.data as Float32Array,
  v: v.data as Float32Array,
});
