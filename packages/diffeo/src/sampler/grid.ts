/**
 * Times at which a sampler stops, from `from` to `to` in `steps` steps, s = i/steps:
 *
 *   uniform     t = from + s (to − from)
 *   quadratic   √t = √from + s (√to − √from)              finer near t = 0
 *   log-SNR     λ(t) = λ(from) + s (λ(to) − λ(from)),  λ = log m²/σ²
 *   Karras      r^{1/7} as √t in the quadratic grid, r = σ/m     finer where there is little noise
 *
 * The last is that of T. Karras et al., "Elucidating the design space of diffusion-based generative
 * models" (NeurIPS 2022), with their ρ = 7.
 */
import { div, fail, input, log, mul, reference, type Tensor } from "../graph/index.ts";
import type { Transition } from "../sde/index.ts";

/** Time grids by name. */
export const grids = ["uniform", "quadratic", "logSnr", "karras"] as const;
/** The name of a time grid. */
export type GridName = (typeof grids)[number];

/** Times from one to another in equal steps. */
export const uniformGrid = (from: number, to: number, steps: number): number[] =>
  spaceTimes(steps, (s) => from + s * (to - from), from, to);

/** Times from one to another with equal steps of √t: finer near 0. */
export const quadraticGrid = (from: number, to: number, steps: number): number[] =>
  spaceTimes(
    steps,
    (s) => (Math.sqrt(from) + s * (Math.sqrt(to) - Math.sqrt(from))) ** 2,
    from,
    to,
  );

/** Equal steps of the log signal-to-noise ratio. */
export function logSnrGrid(
  transition: Transition,
  from: number,
  to: number,
  steps: number,
): number[] {
  const [start, end] = ratioEnds(transition, from, to);
  const wanted = spaceTimes(steps, (s) => start + s * (end - start), start, end);
  const times = timesAt(transition, wanted, from, to);
  return spaceTimes(steps, (_, i) => times[i], from, to);
}

/** ρ of Karras et al. */
const RHO = 7;

/** Steps that become shorter as the noise falls, by the seventh root of the noise ratio σ/m. */
export function karrasGrid(
  transition: Transition,
  from: number,
  to: number,
  steps: number,
): number[] {
  const [start, end] = ratioEnds(transition, from, to).map((l) => Math.exp(-l / (2 * RHO)));
  // λ = −2 log r
  const wanted = spaceTimes(steps, (s) => start + s * (end - start), start, end).map(
    (root) => -2 * RHO * Math.log(root),
  );
  const times = timesAt(transition, wanted, from, to);
  return spaceTimes(steps, (_, i) => times[i], from, to);
}

/** λ at both ends of a grid. */
function ratioEnds(transition: Transition, from: number, to: number): number[] {
  if (!(from > 0 && to > 0))
    fail(
      "usage",
      `at t = ${Math.min(from, to)} there is no noise, and the signal-to-noise ratio is infinite`,
      "end at a time above zero, or use the uniform or the quadratic grid",
    );
  return logSnr(transition)([from, to]);
}

/** The times between `a` and `b` at which λ has these values, by bisection: λ falls as t rises. */
export function timesAt(
  transition: Transition,
  wanted: readonly number[],
  a: number,
  b: number,
): number[] {
  const lambda = logSnr(transition);
  let low = wanted.map(() => Math.min(a, b));
  let high = wanted.map(() => Math.max(a, b));
  // 60 halvings leave nothing of the interval that a float64 could tell apart.
  for (let i = 0; i < 60; i++) {
    const middle = low.map((t, k) => 0.5 * (t + high[k]));
    const above = lambda(middle).map((l, k) => l > wanted[k]);
    low = low.map((t, k) => (above[k] ? middle[k] : t));
    high = high.map((t, k) => (above[k] ? t : middle[k]));
  }
  return low;
}

/**
 * λ(t) = log m(t)²/σ(t)², on the host. Traced once for so many times: a bisection asks for as many
 * at every halving.
 */
export function logSnr({ meanFactor, std }: Transition): (times: readonly number[]) => number[] {
  const traced = (count: number) => {
    const t: Tensor = input("t", [count], "float64");
    return { t, lambda: mul(log(div(meanFactor(t), std(t))), 2) };
  };
  let graph = traced(1);
  return (times) => {
    if (graph.t.shape[0] !== times.length) graph = traced(times.length);
    const [values] = reference([graph.lambda], new Map([[graph.t, Float64Array.from(times)]]));
    return Array.from(values);
  };
}

const MOST_STEPS = 10_000_000;

/** steps + 1 values whose ends are exactly those given. */
export function spaceTimes(
  steps: number,
  at: (s: number, i: number) => number,
  from: number,
  to: number,
): number[] {
  if (!(Number.isInteger(steps) && steps >= 1 && steps <= MOST_STEPS))
    fail("usage", `a grid of ${steps} steps`, `set an integer from 1 to ${MOST_STEPS}`);
  return Array.from({ length: steps + 1 }, (_, i) =>
    i === 0 ? from : i === steps ? to : at(i / steps, i),
  );
}

/** A grid as it must be: finite, and falling (reverse) or rising (forward) throughout. */
export function checkedGrid(
  times: readonly number[],
  reversed: boolean,
  horizon: number,
): readonly number[] {
  const direction = reversed ? "fall" : "rise";
  if (times.length < 2)
    fail(
      "usage",
      `the time grid has ${times.length} times`,
      "give at least a first and a last one",
    );
  times.forEach((t, i) => {
    if (!(t >= 0 && t <= horizon))
      fail(
        "usage",
        `time ${t} of the grid (index ${i}) is outside 0 … ${horizon}`,
        "stay within the SDE's horizon",
      );
    const dt = i === 0 ? (reversed ? -1 : 1) : t - times[i - 1];
    if (!(reversed ? dt < 0 : dt > 0))
      fail(
        "usage",
        `the step from t = ${times[i - 1]} to t = ${t} (index ${i}) has dt = ${dt}: in this ` +
          `process time must ${direction}`,
        reversed ? "give falling times, from T to 0" : "give rising times, from 0 to T",
      );
  });
  return times;
}
