/**
 * Adaptive steps: a step with error ratio e is accepted if e ≤ 1, and the next one is tried with
 *
 *   dt ← dt · min(5, max(⅕, 0.9 e^{−1/5}))
 *
 * A step that gives NaN or leaves the domain is rejected like one that is too long. All samples of
 * a batch share the steps of the most demanding sample.
 */
import { add, constant, fail, less, type NdArray, type Tensor, where } from "../graph/index.ts";
import { type Build, byIndex, type NamedTensors } from "./compiler.ts";
import { firstNotFinite, type TimeStep } from "./exits.ts";
import { pauses } from "./pauses.ts";
import { dormandPrince, errorRatio, type State, type StateField } from "./rungekutta.ts";

export interface FlowProblem {
  readonly build: Build;
  /** Distinguishes its graphs from those of another field. */
  readonly name?: string;
  readonly field: StateField;
  readonly start: readonly NdArray[];
  /** Other inputs of the field: numbers, or arrays [count, …]. */
  readonly fixed?: readonly NdArray[];
  readonly from: number;
  readonly to: number;
  readonly tolerance: number;
  /** The most steps, accepted or rejected. Default 10,000. */
  readonly mostSteps?: number;
  /** The number of samples of a state outside the domain. */
  readonly outside?: (state: State, t: Tensor) => Tensor;
  readonly signal?: AbortSignal;
  readonly onAccept?: (state: readonly NdArray[], step: number, t: number) => void | Promise<void>;
  /** Called if no step succeeds, however short; may throw an error that explains why. */
  readonly onStuck?: (state: readonly NdArray[], stretch: TimeStep) => Promise<void>;
}

export interface Arrival {
  readonly state: readonly NdArray[];
  readonly times: readonly number[];
  readonly rejected: number;
  /** How often a rejected step took a sample out of the domain. */
  readonly exits: number;
}

/**
 * The derivative of a state, and a step from it with its error ratio. `fixed` is the last argument
 * of both.
 */
function graphsOf(problem: FlowProblem) {
  const { build, name: variant = "", tolerance, outside } = problem;
  const open = ({ shape }: NdArray) => ({
    shape: shape.length === 0 ? [] : [null, ...shape.slice(1)],
  });
  const specs = problem.start.map(open);
  const fixed = byIndex(problem.fixed ?? []);
  const fixedSpecs = byIndex((problem.fixed ?? []).map(open));
  const fieldWith =
    (known: NamedTensors): StateField =>
    (state, t) =>
      problem.field(state, t, Object.values(known));
  const slopeAt = build(
    `slope${variant}`,
    (state: State, t: Tensor, known: NamedTensors) => fieldWith(known)(state, t, []),
    [specs, [], fixedSpecs],
  );
  const move = build(
    `move${variant}`,
    (state: State, slope: State, t: Tensor, dt: Tensor, known: NamedTensors) => {
      const { next, slope: last, error } = dormandPrince(fieldWith(known), state, slope, t, dt);
      const out = outside?.(next, add(t, dt)) ?? constant(0, t.dtype);
      const ratio = errorRatio(error, state, next, tolerance);
      return {
        next,
        slope: last,
        out,
        ratio: where(less(0, out), Number.POSITIVE_INFINITY, ratio),
      };
    },
    [specs, specs, [], [], fixedSpecs],
  );
  return { slopeAt, move, fixed };
}

/** Integrates the field from `from` to `to`. */
export async function followFlow(problem: FlowProblem): Promise<Arrival> {
  const { from, to, tolerance, mostSteps = 10_000, signal } = problem;
  if (!(tolerance > 0 && tolerance < 1))
    fail("usage", `\`tolerance\` is ${tolerance}`, "give a number between 0 and 1, such as 1e-5");
  const { slopeAt, move, fixed } = graphsOf(problem);
  let state = problem.start;
  let slope = (await slopeAt(state, from, fixed)) as readonly NdArray[];
  let dt = (to - from) / 50;
  let rejected = 0;
  let exits = 0;
  const times = [from];
  const pause = pauses();
  for (let t = from; t !== to; ) {
    signal?.throwIfAborted();
    if (times.length - 1 + rejected >= mostSteps)
      fail(
        "numerical",
        `after ${mostSteps} steps with the tolerance ${tolerance} from t = ${from} the time ` +
          `is ${t}, ` +
          `not ${to}`,
        "increase the tolerance, end at another time, or compute in float64",
      );
    const last = Math.abs(dt) >= Math.abs(to - t) * (1 - 1e-9);
    const reach = last ? to : t + dt;
    const tried = reach - t;
    const result = await move(state, slope, t, tried, fixed);
    // The maximum of a runtime may ignore NaN, so the state is checked too.
    const whole = result.next.every((part) => firstNotFinite(part) === undefined);
    const ratio = whole ? Number(result.ratio.data[0]) : Number.NaN;
    const factor = Number.isFinite(ratio) ? Math.min(5, Math.max(0.2, 0.9 * ratio ** -0.2)) : 0.2;
    if (ratio <= 1) {
      state = result.next as readonly NdArray[];
      slope = result.slope as readonly NdArray[];
      t = reach;
      times.push(t);
      await problem.onAccept?.(state, times.length - 1, t);
    } else {
      rejected++;
      exits += Number(result.out.data[0]) || 0;
      if (Math.abs(tried) < 1e-10 * Math.abs(to - from)) {
        await problem.onStuck?.(state, { step: times.length - 1, from: t, to: reach });
        fail(
          "numerical",
          `no step is short enough for the tolerance ${tolerance} at t = ${t}: a step of ` +
            `${tried} has the error ratio ${ratio}`,
          "increase the tolerance, end at another time, or compute in float64",
        );
      }
    }
    dt = tried * factor;
    await pause();
  }
  return { state, times, rejected, exits };
}
