/**
 * A time grid fitted to a denoiser, from its squared error as a function of time.
 *
 * With γ = m²/σ², D = E[x₀ | x_t] and e(γ) = E‖x₀ − D‖², an exponential step of the reverse SDE
 * keeps D constant, while in the process it changes. By Girsanov's theorem the two path
 * distributions differ by
 *
 *   KL = ½ Σₖ ∫ E‖D_γ − D_{γₖ}‖² dγ = ½ Σₖ ∫ (e(γₖ) − e(γ)) dγ         over the steps γₖ … γₖ₊₁
 *
 * because D is a martingale as γ increases, so the variance of its change is the decrease of its
 * error. (½ ∫ e dγ is the information gained (I-MMSE), and the sum is its Riemann sum.) A short
 * step costs ¼ |e′| Δγ², and the total of n steps is least if ∫√|e′| dγ is the same over each:
 *
 *   Λ(tₖ) = Λ(T) + (k/n)(Λ(tEnd) − Λ(T)),      dΛ = √(−de · dγ)
 *
 * For data N(0, s²): e = s²/(1 + γs²), and Λ = log(1 + γs²) is optimal for every n, because the
 * cost is a sum of ratios of neighbours with a given product. The grid has no steps where the error
 * does not change, however fast the noise changes there. So it is for solvers that integrate the
 * linear part of the drift exactly, `dpmSolver2M` and `dpmSolver2MSde`; others need a finer grid.
 */
import { fail } from "../graph/index.ts";
import type { Transition } from "../sde/index.ts";
import { logSnr, spaceTimes, timesAt } from "./grid.ts";

/** The errors E‖x₀ − E[x₀ | x_t]‖² of a denoiser per event, at increasing times. */
export interface ErrorByTime {
  readonly times: readonly number[];
  readonly values: readonly number[];
}

/** Options of `fittedGrid`: the ends and the number of steps. */
export interface FittedGridOptions {
  /**
   * The first and the last time of the grid, T and `tEnd`. Both must be within the times of the
   * errors.
   */
  readonly from: number;
  readonly to: number;
  readonly steps: number;
}

/** The nondecreasing values closest in least squares, by pooling adjacent violators. */
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

/**
 * Fits a time grid to the errors of a denoiser: `steps` + 1 times from `from` down to `to` with
 * equal changes of Λ. For the solvers `dpmSolver2M` and `dpmSolver2MSde`.
 */
export function fittedGrid(
  transition: Transition,
  errors: ErrorByTime,
  { from, to, steps }: FittedGridOptions,
): number[] {
  requireErrors(errors, from, to);
  const lambda = logSnr(transition)(errors.times);
  const error = poolAdjacent(errors.values);
  // Λ at the measured times, from the last one down; between them it is linear in log γ.
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
      `\`errors\` has ${times.length} times and ${values.length} values`,
      "give one value per time, and at least two",
    );
  times.forEach((t, i) => {
    if (
      !(t > (i === 0 ? 0 : times[i - 1]) && t < Infinity && values[i] >= 0 && values[i] < Infinity)
    )
      fail(
        "usage",
        `error ${i} is ${values[i]} at t = ${t}`,
        "give increasing times above 0, and errors of at least 0",
      );
  });
  const last = times[times.length - 1];
  if (!(from > to && to >= times[0] && from <= last))
    fail(
      "usage",
      `the grid is from ${from} to ${to}, the errors are from ${times[0]} to ${last}`,
      "use times within those of the errors",
    );
}

/** Linear interpolation at x between points whose x decrease. */
function between(xs: readonly number[], ys: readonly number[], x: number): number {
  let i = xs.findIndex((known) => known <= x);
  if (i <= 0) i = 1;
  const [right, left] = [xs[i], xs[i - 1]];
  return left === right ? ys[i] : ys[i] + ((x - right) / (left - right)) * (ys[i - 1] - ys[i]);
}
