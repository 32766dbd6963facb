/**
 * The posterior of a diffusion given an observation, log p(observation | y) = ℓ(y), with a trained or given process as prior:
 *
 *   log ψ_t(x) = log E[e^{L(x₀)} | X_t = x],   L = ℓ∘φ
 *
 * with x₀ given x taken as N(x̂₀, d²I): x̂₀ = (x + σ²s)/m is its mean (Tweedie), and d = σ/√(m² + σ²) its spread where the data have
 * variance one. Along its gradient g at x̂₀ let L be a parabola of curvature −κ, and elsewhere flat; the Gaussian integral is then
 *
 *   log ψ = L + ½ d²|g|²/(1 + d²κ) − ½ log(1 + d²κ),     κ = max(0, −gᵀHg/|g|²).
 *
 * Claim: for an observation a·x₀ + noise s it is the exact one, −r²/2(s² + d²|a|²) with r the residual and a constant, and for
 * one of all coordinates with equal noise up to a constant: g = −r a/s², κ = |a|²/s², and
 * −r²/2s² + ½ d²|a|²r²/s⁴ · s²/(s² + d²|a|²) = −r²/2(s² + d²|a|²). So the observation is believed as far as x̂₀ can know, where
 * L(x̂₀) alone (DPS; H. Chung et al., ICLR 2023) is sure of it from the first step.
 */
import { alignToEvent, sumEvent } from "../bijector/index.ts";
import {
  add,
  cast,
  constant,
  div,
  fail,
  gradEach,
  hvp,
  less,
  log1p,
  maximum,
  mul,
  sqrt,
  square,
  sub,
  type Tensor,
  where,
} from "../graph/index.ts";
import type { Field } from "./control.ts";
import type { ReverseProcess } from "./process.ts";
import { climbing, oneEach, type TwistedProcess, twist } from "./twist.ts";

export interface ConditionOptions {
  /**
   * How ∇ₓ log ψ is taken. `exact`: with the derivative of the score in it. `simple`: with ∂x̂₀/∂x = m/(m² + σ²), as if the data
   * were N(0, I): it asks no derivative of the score. A weaker guide, and particles are exact by either. Default exact.
   */
  readonly gradient?: "exact" | "simple";
  /** What ∇ₓ log ψ is multiplied by. It changes guidance, and of particles only how well they move. Default 1. */
  readonly strength?: number;
  /** Whether the spread of x₀ is reckoned with. It takes second derivatives of ℓ, and without them log ψ = L(x̂₀). Default true. */
  readonly spread?: boolean;
}

/**
 * A process that is conditioned on an observation: ℓ gives one number an event of y. `sample` draws from it by guidance, an
 * approximation; `particles` exactly in the limit of many.
 */
export function condition(
  process: ReverseProcess,
  logLikelihood: (y: Tensor) => Tensor,
  { gradient = "exact", strength = 1, spread = true }: ConditionOptions = {},
): TwistedProcess {
  const { transition, chart, eventRank, name, score } = process;
  if (typeof logLikelihood !== "function")
    fail(
      "usage",
      "condition: the likelihood is no function",
      "give (y) => log p(observation | y), one number an event",
    );
  if (!transition)
    fail("usage", `condition: ${name} has no Gaussian transition`, "use VP, VE, sub-VP or one of your own with it");
  if (gradient !== "exact" && gradient !== "simple")
    fail("usage", `condition: gradient is ${JSON.stringify(gradient)}`, "use exact or simple");
  if (!Number.isFinite(strength)) fail("usage", `condition: strength is ${strength}`, "give a finite number");
  const { meanFactor, std } = transition;
  const wide = (value: Tensor): Tensor => alignToEvent(value, eventRank);
  const ofData = (x0: Tensor): Tensor => {
    const y = chart ? chart.phi.forward(x0, constant(0, x0.dtype)) : x0;
    return oneEach(inType(logLikelihood(y), x0), x0, eventRank, "likelihood");
  };
  /** m² + σ² */
  const total = (t: Tensor): Tensor => add(square(meanFactor(t)), square(std(t)));
  const seenFrom = (x0: Tensor, t: Tensor): Tensor =>
    spread ? widened(ofData, x0, div(std(t), sqrt(total(t))), eventRank) : ofData(x0);
  const mean: Field = (x, t) => div(add(x, mul(score(x, t), wide(square(std(t))))), wide(meanFactor(t)));
  const log: Field = (x, t) => seenFrom(mean(x, t), t);
  const simple: Field = (x, t) =>
    mul(gradEach((x0: Tensor) => seenFrom(x0, t))(mean(x, t)), wide(div(meanFactor(t), total(t))));
  const uphill = gradient === "exact" ? climbing(log, eventRank, "likelihood") : simple;
  return twist(process, log, {
    delta: strength === 1 ? uphill : (x, t) => mul(uphill(x, t), strength),
    end: (y) => inType(logLikelihood(y), y),
  });
}

/** A likelihood that is made of numbers alone, as one of what is possible and what is not, takes the type of its events. */
const inType = (value: Tensor, x: Tensor): Tensor => (value.dtype === x.dtype ? value : cast(value, x.dtype));

/** log E[e^{L(x₀)}] for x₀ ~ N(x̂₀, d²I), by the parabola along the gradient. */
function widened(of: (x0: Tensor) => Tensor, x0: Tensor, d: Tensor, eventRank: number): Tensor {
  const g = gradEach(of)(x0);
  const size = sumEvent(square(g), eventRank);
  const flat = less(size, 1e-30);
  const bend = div(sumEvent(mul(g, hvp(of, x0, g)), eventRank), where(flat, 1, size));
  const curved = mul(square(d), maximum(mul(where(flat, 0, bend), -1), 0));
  const gained = div(mul(mul(size, square(d)), 0.5), add(curved, 1));
  return sub(add(of(x0), gained), mul(log1p(curved), 0.5));
}
