/**
 * The draws of a chain, and its state after a complete transition as plain data: the initial state,
 * and the checks of saved states.
 */
import { fail } from "../graph/index.ts";
import type { ChainSettings } from "./chain-settings.ts";
import { firstMetric, formOf, inverseLength } from "./metric.ts";
import { Region, type RegionState, type Restart } from "./restart.ts";
import { DualAverage, type DualAverageState } from "./step-size.ts";
import type { Leaf } from "./trajectory.ts";
import { type LearnedState, metricLearner } from "./warmup.ts";

/** The draws of one chain in free coordinates, with the statistics of its sampler. */
export interface Chain {
  /** [draws, n] */
  readonly x: Float64Array;
  /** log p of each draw, up to a constant. */
  readonly value: Float64Array;
  /** The Hamiltonian H of each draw. */
  readonly energy: Float64Array;
  /** The acceptance of each transition; for `nuts` its mean over the trajectory. */
  readonly acceptance: Float64Array;
  /** Depth of each trajectory's tree. */
  readonly depth: Uint8Array;
  /** Leapfrog steps of each transition. */
  readonly leaves: Uint32Array;
  /** 1 for each transition that diverged, else 0. */
  readonly diverged: Uint8Array;
  /** The step size ε of the draws. */
  readonly stepSize: number;
  /**
   * The inverse mass matrix M⁻¹ of the draws: its diagonal, its rows, or D and the columns of the
   * low-rank form.
   */
  readonly inverseMass: Float64Array;
  /** Transitions of the warm-up that diverged. */
  readonly divergedInWarmup: number;
  /** How often log p or its gradient was NaN after the warm-up. */
  readonly undefinedCount: number;
  /** The first point, in free coordinates, where log p or its gradient was NaN. */
  readonly undefinedAt?: Float64Array;
  /** Set if the chain was moved to another chain's position in the warm-up (restart.ts). */
  readonly restart?: Restart;
}

/**
 * The state of a chain after a complete transition, as plain data from which it can be continued.
 */
export interface ChainState extends Omit<Chain, "undefinedAt" | "stepSize" | "restart"> {
  /** ε; the name is that of the file format. */
  readonly size: number;
  readonly undefinedAt: Float64Array | null;
  readonly restart: Restart | null;
  /** Whether it was compared with the others (restart.ts). */
  readonly compared: boolean;
  /** Statistics of its region for that comparison. */
  readonly region: RegionState;
  /** Completed transitions, including the warm-up. */
  readonly done: number;
  readonly at: Pick<Leaf, "x" | "slope" | "value">;
  /** Whether the chain searches for a step size next. */
  readonly looks: boolean;
  readonly average: DualAverageState;
  /** What the current window has learned of M⁻¹; the name is that of the file format. */
  readonly covariance: LearnedState;
}

/** The state of a chain before its first transition. */
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

/** The draws of a chain from its state at the last draw. */
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

/**
 * The most characters of the text of saved chains (checkpoint.ts): JavaScript's limit, with a
 * margin.
 */
const MOST_CHARACTERS = 2 ** 29 - 2 ** 16;

/**
 * Throws if the draws would be too many to save: the text has 4 characters per 3 bytes, and a draw
 * has 8n + 30 bytes.
 */
export function requireRoom(count: number, n: number, { draws }: ChainSettings): void {
  const most = Math.floor((0.75 * MOST_CHARACTERS) / (8 * n + 30));
  if (count * draws > most)
    fail(
      "usage",
      `${count} chains with ${draws} draws of ${n} coordinates are too large to save; the ` +
        `limit is ${most} draws in total`,
      "use fewer `draws` or `chains`; a few thousand effective draws are enough for most purposes",
    );
}

/** Throws if the saved chains belong to another run. */
export function requireOwn(
  states: readonly ChainState[],
  count: number,
  n: number,
  { draws, warmup, metric }: ChainSettings,
): void {
  if (states.length !== count)
    fail(
      "data",
      `${states.length} chains are saved, \`chains\` is ${count}`,
      "set the same number, or begin a new run",
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
      `chain ${others + 1} was saved by a run with other settings`,
      "use the settings of that run, or begin a new one",
    );
}
