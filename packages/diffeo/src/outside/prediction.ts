/**
 * What a network trained elsewhere predicts, as a score. For X_t = m x₀ + σ ε, ε ~ N(0, I), the
 * mean of each of these given X_t = x is another form of s = ∇ₓ log p_t(x), since E[ε | x] = −σ s:
 *
 *   noise   ε                    s = −ε/σ
 *   x0      x₀                   s = (m x₀ − x)/σ²
 *   v       v = m ε − σ x₀       s = −(σ x + m v)/(σ (m² + σ²)),   as σ x + m v = (m² + σ²) ε
 *   score   s itself
 *
 * v is that of T. Salimans and J. Ho, "Progressive distillation", ICLR 2022, where m² + σ² = 1.
 */
import { alignToEvent } from "../bijector/index.ts";
import {
  add,
  constant,
  div,
  expand,
  fail,
  mul,
  neg,
  type OutsideFunction,
  outside,
  square,
  sub,
  type Tensor,
} from "../graph/index.ts";
import type { MarginalScore, Sde, Transition } from "../sde/index.ts";

const predictions = ["score", "noise", "x0", "v"] as const;
export type Prediction = (typeof predictions)[number];

export interface PredictionOptions {
  /** What comes out of it. */
  readonly predicts: Prediction;
  /**
   * The SDE it was trained for: its m(t) and σ(t) make a score of noise, x0 and v. A score needs
   * none.
   */
  readonly sde?: Sde;
  /**
   * Derivatives by central differences of this length, in units of σ(t), or of x where no SDE is
   * given: 0.03, say. They are what likelihood and guidance through the score need. Absent: those
   * are refused.
   */
  readonly differences?: number;
  /** The most events in one call: more are cut. Default: all. */
  readonly batch?: number;
  /** What errors call it. */
  readonly name?: string;
}

/** The score by what comes out, m and σ. */
export const formulas: Readonly<
  Record<Prediction, (x: Tensor, out: Tensor, m: Tensor, sigma: Tensor) => Tensor>
> = {
  score: (_, out) => out,
  noise: (_, out, __, sigma) => neg(div(out, sigma)),
  x0: (x, out, m, sigma) => div(sub(mul(out, m), x), square(sigma)),
  v: (x, out, m, sigma) =>
    neg(div(add(mul(x, sigma), mul(out, m)), mul(sigma, add(square(m), square(sigma))))),
};

/** The score that a function outside of graphs gives, by what it predicts. */
export function scoreFrom(
  name: string,
  open: OutsideFunction["open"],
  { predicts, sde, differences, batch }: PredictionOptions,
): MarginalScore {
  if (!predictions.includes(predicts))
    fail(
      "usage",
      `${name}: predicts is ${JSON.stringify(predicts)}`,
      `give one of ${predictions.join(", ")}`,
    );
  if (differences !== undefined && !(differences > 0 && differences < Infinity))
    fail("usage", `${name}: differences is ${differences}`, "give a positive number, such as 0.03");
  if (batch !== undefined && !(Number.isInteger(batch) && batch >= 1))
    fail("usage", `${name}: batch is ${batch}`, "give a whole number of events, at least 1");
  const transition = sde?.transition;
  const levels: Transition | undefined =
    transition ?? (predicts === "score" ? undefined : noTransition(name, predicts, sde));
  const field = outside({
    name,
    open,
    ...(differences !== undefined && {
      step: (t: Tensor) =>
        levels ? mul(levels.std(t), differences) : expand(constant(differences, t.dtype), t.shape),
    }),
  });
  if (predicts === "score" || !levels) return field;
  const { meanFactor, std } = levels;
  return (x, t) => {
    const wide = (value: Tensor): Tensor => alignToEvent(value, x.shape.length - t.shape.length);
    return formulas[predicts](x, field(x, t), wide(meanFactor(t)), wide(std(t)));
  };
}

const noTransition = (name: string, predicts: Prediction, sde: Sde | undefined): never =>
  fail(
    "usage",
    sde
      ? `${name}: ${sde.name} has no Gaussian transition, and ${predicts} is a score only with one`
      : `${name}: the network predicts ${predicts}, and the SDE it was trained for is not given`,
    "give `sde`, the one its noise was made with",
  );
