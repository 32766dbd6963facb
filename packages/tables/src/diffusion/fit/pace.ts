/** How many steps fit into the time of a run, by the pace of its first ones. */

import { quantile } from "diffeo/host";
import type { TrainingOptions } from "./training-options.ts";
import { usualSteps } from "./usual-steps.ts";

/** Measurements a run, unless specified. */
export const MEASUREMENTS = 40;

/** Batches of held-out rows that a measurement sees, the same each time. */
export const VALIDATION_BATCHES = 16;

/**
 * Where time is limited, this share of it goes to finding out how long a step takes; more, up to
 * another share, as long as the steps timed are fewer than `TIMED`; and in any case two steps.
 */
const [PACED, MOST_OF_IT] = [0.02, 0.08];

/** Milliseconds of it at most: by then the pace is known. */
const MOST_PACED = 30_000;

const [LEAST_TIMED, TIMED] = [2, 16];

/**
 * The usual milliseconds of a task, by the latter half of the runs that so much time allows, or up
 * to `most` while they are few: the first wake what sleeps.
 */
async function paceOf(
  task: () => Promise<unknown>,
  milliseconds: number,
  most: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  const paces: number[] = [];
  const began = performance.now();
  const isDue = (): boolean => {
    const spent = performance.now() - began;
    if (paces.length < LEAST_TIMED) return true;
    return spent < Math.min(MOST_PACED, milliseconds) || (paces.length < TIMED && spent < most);
  };
  while (isDue()) {
    signal?.throwIfAborted();
    const from = performance.now();
    await task();
    paces.push(performance.now() - from);
  }
  return quantile(paces.slice(paces.length >> 1), 0.5);
}

/**
 * Steps that fit into so many minutes next to all measurements, of which no budget is too small for
 * one.
 */
async function fitting(
  minutes: number,
  step: () => Promise<unknown>,
  measure: () => Promise<unknown>,
  signal: AbortSignal | undefined,
): Promise<number> {
  const began = performance.now();
  const budget = minutes * 60_000;
  const most = MOST_OF_IT * budget;
  const [a, b] = [
    await paceOf(step, PACED * budget, most, signal),
    await paceOf(measure, 0, most, signal),
  ];
  const left = budget - (performance.now() - began);
  const whole = Math.floor((left - MEASUREMENTS * VALIDATION_BATCHES * b) / a);
  // With fewer steps than measurements there is one after each.
  return Math.max(
    1,
    whole >= MEASUREMENTS ? whole : Math.floor(left / (a + VALIDATION_BATCHES * b)),
  );
}

/**
 * Steps of a run that begins: as many as were requested or are usual, and no more than fit into its
 * time.
 */
export async function plannedSteps(
  rows: number,
  { network, steps = usualSteps(rows, network), minutes, signal }: TrainingOptions,
  step: () => Promise<unknown>,
  measure: () => Promise<unknown>,
): Promise<number> {
  return minutes === undefined
    ? steps
    : Math.min(steps, await fitting(minutes, step, measure, signal));
}
