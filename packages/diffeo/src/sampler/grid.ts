/**
 * Time grids of samplers, from `from` to `to` in `steps` steps, with s = i/steps:
 *
 *   uniform     t = from + s (to − from)
 *   quadratic   √t = √from + s (√to − √from)              finer near t = 0
 *   log-SNR     λ(t) = λ(from) + s (λ(to) − λ(from)),  λ = log m²/σ²
 *   Karras      r^{1/7} as √t in the quadratic grid, r = σ/m     finer for less noise
 *
 * The last is that of T. Karras et al., "Elucidating the design space of diffusion-based generative
 * models" (NeurIPS 2022), with their ρ = 7.
 */
import { div, fail, input, log, mul, reference, type Tensor } from "../graph/index.ts";
import type { Transition } from "../sde/index.ts";

/** The names of the time grids. */
export const grids = ["uniform", "quadratic", "logSnr", "karras"] as const;
/** The name of a time grid. */
export type GridName = (typeof grids)[number];

/** Times from `from` to `to` in equal steps. */
export const uniformGrid = (from: number, to: number, steps: number): number[] =>
  spaceTimes(steps, (s) => from + s * (to - from), from, to);

/** Times from `from` to `to` in equal steps of √t, finer near 0. */
export const quadraticGrid = (from: number, to: number, steps: number): number[] =>
  spaceTimes(
    steps,
    (s) => (Math.sqrt(from) + s * (Math.sqrt(to) - Math.sqrt(from))) ** 2,
    from,
    to,
  );

/**
 * Times from `from` to `to` in equal steps of the log signal-to-noise ratio, for an SDE with a
 * Gaussian transition.
 */
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

/**
 * Times from `from` to `to` in equal steps of the seventh root of the noise ratio σ/m, finer for
 * less noise (T. Karras et al., 2022).
 */
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
      `the signal-to-noise ratio is infinite at t = ${Math.min(from, to)}, where the noise is 0`,
      "end at a time above 0, or use the uniform or the quadratic grid",
    );
  return logSnr(transition)([from, to]);
}

/**
 * The times between `a` and `b` at which λ has the given values, by bisection; λ decreases in t.
 */
export function timesAt(
  transition: Transition,
  wanted: readonly number[],
  a: number,
  b: number,
): number[] {
  const lambda = logSnr(transition);
  let low = wanted.map(() => Math.min(a, b));
  let high = wanted.map(() => Math.max(a, b));
  // 60 bisections reach the resolution of float64.
  for (let i = 0; i < 60; i++) {
    const middle = low.map((t, k) => 0.5 * (t + high[k]));
    const above = lambda(middle).map((l, k) => l > wanted[k]);
    low = low.map((t, k) => (above[k] ? middle[k] : t));
    high = high.map((t, k) => (above[k] ? t : middle[k]));
  }
  return low;
}

/**
 * λ(t) = log m(t)²/σ(t)², on the host. Traced once per number of times, which is constant in a
 * bisection.
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

/** `steps` + 1 values with exactly the given ends. */
export function spaceTimes(
  steps: number,
  at: (s: number, i: number) => number,
  from: number,
  to: number,
): number[] {
  if (!(Number.isInteger(steps) && steps >= 1 && steps <= MOST_STEPS))
    fail("usage", `\`steps\` is ${steps}`, `set an integer from 1 to ${MOST_STEPS}`);
  return Array.from({ length: steps + 1 }, (_, i) =>
    i === 0 ? from : i === steps ? to : at(i / steps, i),
  );
}

/** Checks that a grid is finite, and decreasing (reverse) or increasing (forward). */
export function checkedGrid(
  times: readonly number[],
  reversed: boolean,
  horizon: number,
): readonly number[] {
  const direction = reversed ? "decrease" : "increase";
  if (times.length < 2)
    fail("usage", `\`grid\` has ${times.length} times`, "give at least a first and a last time");
  times.forEach((t, i) => {
    if (!(t >= 0 && t <= horizon))
      fail(
        "usage",
        `time ${t} of \`grid\` (index ${i}) is outside 0 … ${horizon}`,
        "use times up to the SDE's horizon",
      );
    const dt = i === 0 ? (reversed ? -1 : 1) : t - times[i - 1];
    if (!(reversed ? dt < 0 : dt > 0))
      fail(
        "usage",
        `the step from t = ${times[i - 1]} to t = ${t} (index ${i}) has dt = ${dt}, but in this ` +
          `process time must ${direction}`,
        reversed ? "give decreasing times, from T to 0" : "give increasing times, from 0 to T",
      );
  });
  return times;
}
