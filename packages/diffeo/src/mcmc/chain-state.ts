/**
 * What a chain drew, and a chain after a whole transition as plain data: where it begins, and what
 * of kept chains cannot be continued.
 */
import { fail } from "../graph/index.ts";
import type { ChainSettings } from "./chain-settings.ts";
import { firstMetric, formOf, inverseLength } from "./metric.ts";
import { Region, type RegionState, type Restart } from "./restart.ts";
import { DualAverage, type DualAverageState } from "./step-size.ts";
import type { Leaf } from "./trajectory.ts";
import { type LearnedState, metricLearner } from "./warmup.ts";

/** What one chain drew, and how. */
export interface Chain {
  /** [draws, n] */
  readonly x: Float64Array;
  readonly value: Float64Array;
  readonly energy: Float64Array;
  readonly acceptance: Float64Array;
  readonly depth: Uint8Array;
  readonly leaves: Uint32Array;
  readonly diverged: Uint8Array;
  /** ε of the draws. */
  readonly stepSize: number;
  /** M⁻¹ of the draws: its diagonal, its rows, or D and the columns of the low-rank form. */
  readonly inverseMass: Float64Array;
  /** Of the warm-up. */
  readonly divergedInWarmup: number;
  /** How often, after the warm-up, log p or its slope was not a number, and where it was first. */
  readonly undefinedCount: number;
  readonly undefinedAt?: Float64Array;
  /** That it was moved to the place of another chain in the warm-up (restart.ts). */
  readonly restart?: Restart;
}

/** A chain after a whole transition, as plain data. */
export interface ChainState extends Omit<Chain, "undefinedAt" | "stepSize" | "restart"> {
  /** ε, by its name in files of chains. */
  readonly size: number;
  readonly undefinedAt: Float64Array | null;
  readonly restart: Restart | null;
  /** Whether it was compared with the others, and what it saw before that. */
  readonly compared: boolean;
  readonly region: RegionState;
  /** Transitions done, warm-up included. */
  readonly done: number;
  readonly at: Pick<Leaf, "x" | "slope" | "value">;
  /** Whether a step size is to be looked for next. */
  readonly looks: boolean;
  readonly average: DualAverageState;
  /** What was learned in the current window, by its name in files of chains. */
  readonly covariance: LearnedState;
}

/** A chain that has not begun, at a point with what is known there. */
export function stateAt(
  { x, slope, value }: ChainState["at"],
  settings: ChainSettings,
): ChainState {
  const { metric, stepSize, targetAcceptance } = settings;
  const form = formOf(metric);
  const average = new DualAverage(targetAcceptance);
  if (stepSize !== undefined) average.restart(stepSize);
  return {
    x: new Float64Array(0),
    value: new Float64Array(0),
    energy: new Float64Array(0),
    acceptance: new Float64Array(0),
    depth: new Uint8Array(0),
    leaves: new Uint32Array(0),
    diverged: new Uint8Array(0),
    size: stepSize ?? 1,
    inverseMass: firstMetric(slope, form),
    divergedInWarmup: 0,
    undefinedCount: 0,
    undefinedAt: null,
    restart: null,
    compared: false,
    region: new Region(x.length).state,
    done: 0,
    at: { x, slope, value },
    looks: stepSize === undefined,
    average: average.state,
    covariance: metricLearner(x.length, form).state,
  };
}

/** What a chain drew, of its state at its last draw. */
export function endedChain({
  size,
  undefinedAt,
  restart,
  compared: _compared,
  region: _region,
  done: _,
  at: _at,
  looks: _looks,
  average: _average,
  covariance: _covariance,
  ...chain
}: ChainState): Chain {
  return {
    ...chain,
    stepSize: size,
    undefinedAt: undefinedAt ?? undefined,
    restart: restart ?? undefined,
  };
}

/** Characters that the text of kept chains may have (checkpoint.ts): no longer text can be. */
const MOST_CHARACTERS = 2 ** 29 - 2 ** 16;

/**
 * Refuses chains whose last draws could not be kept: a text has 4 characters for 3 bytes, of which
 * a draw has 8n + 30.
 */
export function requireRoom(count: number, n: number, { draws }: ChainSettings): void {
  const most = Math.floor((0.75 * MOST_CHARACTERS) / (8 * n + 30));
  if (count * draws > most)
    fail(
      "usage",
      `${count} chains of ${draws} draws of ${n} coordinates cannot be kept, ${most} draws of them can`,
      "ask for fewer `draws` or `chains`; more than some thousand effective ones tell little",
    );
}

/** Refuses kept chains that are of another run. */
export function requireOwn(
  states: readonly ChainState[],
  count: number,
  n: number,
  { draws, warmup, metric }: ChainSettings,
): void {
  if (states.length !== count)
    fail(
      "data",
      `the run has kept ${states.length} chains, the options have ${count}`,
      "give the same number, or begin a new run",
    );
  const others = states.findIndex(
    ({ at, done, value, inverseMass }) =>
      at.x.length !== n ||
      done > warmup + draws ||
      value.length !== Math.max(0, done - warmup) ||
      inverseMass.length !== inverseLength(formOf(metric), n),
  );
  if (others >= 0)
    fail(
      "data",
      `chain ${others} was kept by a run with other settings`,
      "give it its settings, or begin a new run",
    );
}
