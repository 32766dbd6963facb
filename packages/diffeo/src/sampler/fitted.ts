/**
 * A time grid fitted to a denoiser, from its own squared error by time.
 *
 * With γ = m²/σ², D = E[x₀ | x_t] and e(γ) = E‖x₀ − D‖², an exponential step of the reverse SDE
 * holds D still where the process has it move. By Girsanov the two paths are apart by
 *
 *   KL = ½ Σₖ ∫ E‖D_γ − D_{γₖ}‖² dγ = ½ Σₖ ∫ (e(γₖ) − e(γ)) dγ         over the steps γₖ … γₖ₊₁
 *
 * since D is a martingale as γ rises: what it moves by is what its error loses. (½ ∫ e dγ is the
 * information gained, I-MMSE, and the sum its Riemann sum.) A short step costs ¼ |e′| Δγ², and n of
 * them cost least in all where ∫√|e′| dγ is the same over each:
 *
 *   Λ(tₖ) = Λ(T) + (k/n)(Λ(tEnd) − Λ(T)),      dΛ = √(−de · dγ)
 *
 * For data N(0, s²): e = s²/(1 + γs²), and Λ = log(1 + γs²) is the optimum for every n, since the
 * sum is that of the ratios of neighbours whose product is given. No steps are spent where nothing
 * is learned, however fast the noise changes there: solvers that step over the linear part of the
 * drift exactly, `dpmSolver2M` and `dpmSolver2MSde`, can use it; others need a finer grid.
 */
import { fail } from "../graph/index.ts";
import type { Transition } from "../sde/index.ts";
import { logSnr, spaceTimes, timesAt } from "./grid.ts";

/** E‖x₀ − E[x₀ | x_t]‖² of an event, at times that rise. */
export interface ErrorByTime {
  readonly times: readonly number[];
  readonly values: readonly number[];
}

/** Between which times, and in how many steps, a grid is fitted to the errors of a model. */
export interface FittedGridOptions {
  /**
   * The first and the last time, both within those of the errors: T and where the process stops.
   */
  readonly from: number;
  readonly to: number;
  readonly steps: number;
}

/**
 * Values that do not fall, nearest in squares: means of neighbours that do (pool adjacent
 * violators).
 */
export function poolAdjacent(values: readonly number[]): number[] {
  const blocks: { mean: number; count: number }[] = [];
  for (const value of values) {
    let block = { mean: value, count: 1 };
    for (let last = blocks.at(-1); last && last.mean > block.mean; last = blocks.at(-1)) {
      blocks.pop();
      const count = last.count + block.count;
      block = { mean: (last.mean * last.count + block.mean * block.count) / count, count };
    }
    blocks.push(block);
  }
  return blocks.flatMap(({ mean, count }) => new Array<number>(count).fill(mean));
}

/** `steps` + 1 times from `from` down to `to`, between which Λ changes by the same. */
export function fittedGrid(
  transition: Transition,
  errors: ErrorByTime,
  { from, to, steps }: FittedGridOptions,
): number[] {
  requireErrors(errors, from, to);
  const lambda = logSnr(transition)(errors.times);
  const error = poolAdjacent(errors.values);
  // Λ at the measured times, from the last of them down; between them it is taken as linear in log
  // γ.
  const length = new Array<number>(lambda.length).fill(0);
  for (let i = lambda.length - 2; i >= 0; i--)
    length[i] =
      length[i + 1] +
      Math.sqrt((error[i + 1] - error[i]) * (Math.exp(lambda[i]) - Math.exp(lambda[i + 1])));
  const ends = logSnr(transition)([from, to]).map((l) => between(lambda, length, l));
  if (!(ends[1] > ends[0]))
    fail(
      "usage",
      `the errors do not change from t = ${from} to ${to}`,
      "use another grid, or measure them again",
    );
  const wanted = spaceTimes(steps, (s) => ends[0] + s * (ends[1] - ends[0]), ends[0], ends[1]);
  const times = timesAt(
    transition,
    wanted.map((l) => between(length, lambda, l)),
    from,
    to,
  );
  return spaceTimes(steps, (_, i) => times[i], from, to);
}

function requireErrors({ times, values }: ErrorByTime, from: number, to: number): void {
  if (times.length < 2 || times.length !== values.length)
    fail(
      "usage",
      `errors at ${times.length} times with ${values.length} values`,
      "give a value for each, two or more",
    );
  times.forEach((t, i) => {
    if (
      !(t > (i === 0 ? 0 : times[i - 1]) && t < Infinity && values[i] >= 0 && values[i] < Infinity)
    )
      fail(
        "usage",
        `error ${i} is ${values[i]} at t = ${t}`,
        "give rising times above zero, and errors of at least zero",
      );
  });
  const last = times[times.length - 1];
  if (!(from > to && to >= times[0] && from <= last))
    fail(
      "usage",
      `a fitted grid from ${from} to ${to}, of errors from ${times[0]} to ${last}`,
      "stay within them",
    );
}

/** y at x on the line through points whose x fall, as those of λ and Λ over time do. */
function between(xs: readonly number[], ys: readonly number[], x: number): number {
  let i = xs.findIndex((known) => known <= x);
  if (i <= 0) i = 1;
  const [right, left] = [xs[i], xs[i - 1]];
  return left === right ? ys[i] : ys[i] + ((x - right) / (left - right)) * (ys[i - 1] - ys[i]);
}
