/**
 * Twisted processes, for observations and guidance: ψ_t(x) > 0 approximates p(observation | X_t =
 * x). The distribution p_t ψ_t has the score s + ∇ₓ log ψ_t, which the twisted process uses.
 *
 *   guide        log ψ = −E(φ(x, t), t)                     an energy of the current state
 *   condition    log ψ ≈ log E[e^{ℓ(y)} | x]                an observation of the data y (condition.ts)
 *   likelihood   log ψ = log p(known | x)                   coordinates that are known
 *
 * With the exact ψ, ψ_t(X_t) is a martingale, and Doob's transform of the process by it samples the
 * posterior. Any other ψ is an approximation, whose error `particles` (diffeo/sampler) corrects by
 * weights.
 */

import { batchOf } from "../bijector/event.ts";
import { add, constant, fail, gradEach, mul, type Tensor } from "../graph/index.ts";
import { sameShape, showShape } from "../graph/ndarray.ts";
import { type Field, tilt } from "./control.ts";
import { checkIndependence } from "./independent-events.ts";
import type { ReverseProcess } from "./process.ts";
import { timesOf } from "./score.ts";

/** The twist of a process. */
export interface Twist {
  /** The process without the twist. */
  readonly of: ReverseProcess;
  /** log ψ_t(x), one number per event. */
  readonly log: Field;
  /** The term added to the score: ∇ₓ log ψ, or an approximation of it. */
  readonly delta: Field;
  /**
   * The log-weight of a final point y, such as its log-likelihood. Default: log ψ at the last time.
   */
  readonly end?: (y: Tensor) => Tensor;
  /** The drift of the twisted process, to detect later changes of the process. */
  readonly drift: Field;
}

/** A process with its twist. */
export interface TwistedProcess extends ReverseProcess {
  readonly twist: Twist;
}

const twistOf = (process: ReverseProcess): Twist | undefined =>
  (process as Partial<TwistedProcess>).twist;

/** The process without observations and guidance. */
export const untwisted = (process: ReverseProcess): ReverseProcess =>
  twistOf(process)?.of ?? process;

/**
 * Twists a process by ψ, so that it has the distributions p_t ψ_t. Several twists of a process
 * accumulate.
 */
export function twist(
  process: ReverseProcess,
  log: Field,
  {
    delta = climbing(log, process.eventRank, "twist"),
    end,
  }: { readonly delta?: Field; readonly end?: (y: Tensor) => Tensor } = {},
): TwistedProcess {
  const before = twistOf(process);
  const made = tilt(process, delta);
  if (!before) return { ...made, twist: { of: process, log, delta, drift: made.drift, end } };
  requireUnchanged(process, before);
  const endOf = (own: Twist["end"], psi: Field) => own ?? lastTime(process, psi);
  const [first, second] = [endOf(before.end, before.log), endOf(end, log)];
  return {
    ...made,
    twist: {
      of: before.of,
      log: (x, t) => add(before.log(x, t), log(x, t)),
      delta: (x, t) => add(before.delta(x, t), delta(x, t)),
      drift: made.drift,
      ...((before.end || end) && { end: (y: Tensor) => add(first(y), second(y)) }),
    },
  };
}

/** log ψ at t = 0, as a function of y. */
const lastTime =
  ({ chart, eventRank }: ReverseProcess, log: Field) =>
  (y: Tensor): Tensor => {
    const t = constant(0, y.dtype);
    const x = chart ? chart.phi.inverse(y, t) : y;
    return log(x, timesOf(x, t, eventRank));
  };

/** Throws if the drift of a process is not the one of its twist. */
export function requireUnchanged({ drift, name }: ReverseProcess, { drift: made }: Twist): void {
  if (drift !== made)
    fail(
      "usage",
      `${name}: its drift was changed after it was conditioned`,
      "change the process first, then condition it",
    );
}

/**
 * The gradient ∇ₓ of a function with one number per event, after a check that events are not mixed.
 * `name` is its name in errors; functions whose names are in `seen` are not checked again.
 */
export function climbing(f: Field, eventRank: number, name: string, seen?: Set<string>): Field {
  const look = checkIndependence(f, eventRank, name, seen);
  return (x, t) => {
    const uphill = gradEach((z) => oneEach(f(z, t), z, eventRank, name))(x);
    look(x);
    return uphill;
  };
}

/** Throws if a value does not have one number per event. */
export function oneEach(value: Tensor, x: Tensor, eventRank: number, name: string): Tensor {
  const batch = batchOf(x, eventRank);
  if (!sameShape(value.shape, batch))
    fail(
      "shape",
      `the ${name} of a batch ${showShape(batch)} has shape ${showShape(value.shape)}`,
      "return one number per event: sum over its axes",
    );
  return value;
}

/**
 * Guidance by an energy E(y, t), one number per event: the process whose distribution at each t is
 * tilted by e^{−E}.
 *
 *   ∇ᵧ log(q e^{−E}) = ∇ᵧ log q − ∇ᵧE,   and in x, by the chain rule,   s(x, t) − ∇ₓ E(φ(x, t), t)
 *
 * Log-determinants cancel, so in x guidance is the gradient of E∘φ for any map. For exactly the
 * tilted distribution at t = 0, E(·, t) must be −log E[e^{−E₀} | Y_t = y]; an energy that does not
 * depend on t is the usual approximation. E gets one time per event, like a score.
 */
export function guide(
  process: ReverseProcess,
  energy: (y: Tensor, t: Tensor) => Tensor,
  strength: number | Tensor = 1,
): TwistedProcess {
  const phi = process.chart?.phi;
  const inX: Field = (z, t) => energy(phi ? phi.forward(z, t) : z, t);
  const uphill = climbing(inX, process.eventRank, "energy");
  const by = typeof strength === "number" ? -strength : mul(strength, -1);
  return twist(process, (x, t) => mul(inX(x, t), by), { delta: (x, t) => mul(uphill(x, t), by) });
}
