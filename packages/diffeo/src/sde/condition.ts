/**
 * The posterior given an observation with the log-likelihood ℓ(y), with a process as the prior:
 *
 *   log ψ_t(x) = log E[e^{L(x₀)} | X_t = x],   L = ℓ∘φ
 *
 * where x₀ given x is approximated by N(x̂₀, d²I): x̂₀ = (x + σ²s)/m is its mean (Tweedie), and d =
 * σ/√(m² + σ²) its standard deviation if the data have variance one. By Laplace's method, with −κ
 * the curvature of L along u at the maximum,
 *
 *   log ψ = maxᵤ [L(x̂₀ + u) − |u|²/2d²] − ½ log(1 + d²κ),      ∂ log ψ/∂x̂₀ = u/d²
 *
 * The maximum is the Moreau envelope of L, and u/d² is its gradient, which is bounded even for very
 * precise observations. For a linear observation a·x₀ with noise s and residual r the formula is
 * exact: −r²/2(s² + d²|a|²) up to a constant. Proof: L(x̂₀ + u) is −(r + a·u)²/2s², so u = −d²a
 * r/(s² + d²|a|²), and the sum of both squares is r²/2(s² + d²|a|²). So the weight of an
 * observation depends on how well x̂₀ is known. L(x̂₀) alone (DPS; H. Chung et al., ICLR 2023)
 * treats x̂₀ as exact from the first step.
 */
import { alignToEvent, sumEvent } from "../bijector/index.ts";
import {
  add,
  cast,
  constant,
  div,
  fail,
  gradEach,
  greater,
  hvp,
  log1p,
  maximum,
  minimum,
  mul,
  sqrt,
  square,
  sub,
  type Tensor,
  where,
  zerosLike,
} from "../graph/index.ts";
import type { Field } from "./control.ts";
import { checkIndependence } from "./independent-events.ts";
import type { ReverseProcess } from "./process.ts";
import { oneEach, type TwistedProcess, twist, untwisted } from "./twist.ts";

/** Options of `condition`. */
export interface ConditionOptions {
  /**
   * The derivative of x̂₀ with respect to x. `exact` (default) differentiates the score. `simple`
   * uses ∂x̂₀/∂x = m/(m² + σ²), which holds for data from N(0, I), and needs no derivative of the
   * score. Its guidance is weaker; `particles` is exact with both.
   */
  readonly gradient?: "exact" | "simple";
  /**
   * A factor of ∇ₓ log ψ. It changes the distribution of guided samples, but only the efficiency of
   * `particles`. Default 1.
   */
  readonly strength?: number;
  /**
   * Whether to account for the variance of x₀ given x, which needs some evaluations of ℓ and its
   * derivatives. With false, log ψ = L(x̂₀). Default true.
   */
  readonly spread?: boolean;
}

/**
 * Conditions a process on an observation with log-likelihood ℓ(y), one number per event. `sample`
 * uses guidance, which is an approximation; `particles` is exact in the limit of many particles.
 */
export function condition(
  process: ReverseProcess,
  logLikelihood: (y: Tensor) => Tensor,
  { gradient = "exact", strength = 1, spread = true }: ConditionOptions = {},
): TwistedProcess {
  const { transition, chart, eventRank, name } = process;
  if (typeof logLikelihood !== "function")
    fail(
      "usage",
      "condition: the likelihood is not a function",
      "give (y) => log p(observation | y), one number per event",
    );
  if (!transition)
    fail(
      "usage",
      `condition: ${name} has no Gaussian transition`,
      "use VP, VE, sub-VP or another SDE with a `transition`",
    );
  if (gradient !== "exact" && gradient !== "simple")
    fail("usage", `condition: gradient is ${JSON.stringify(gradient)}`, "use exact or simple");
  if (!Number.isFinite(strength))
    fail("usage", `condition: strength is ${strength}`, "give a finite number");
  const { meanFactor, std } = transition;
  const { score } = untwisted(process);
  const wide = (value: Tensor): Tensor => alignToEvent(value, eventRank);
  const ofData = (x0: Tensor): Tensor => {
    const y = chart ? chart.phi.forward(x0, constant(0, x0.dtype)) : x0;
    return oneEach(inType(logLikelihood(y), x0), x0, eventRank, "likelihood");
  };
  /** m² + σ² */
  const total = (t: Tensor): Tensor => add(square(meanFactor(t)), square(std(t)));
  const mean: Field = (x, t) =>
    div(add(x, mul(score(x, t), wide(square(std(t))))), wide(meanFactor(t)));
  const look = checkIndependence(ofData, eventRank, "likelihood");
  const seenFrom = (x0: Tensor, t: Tensor): Seen => {
    const seen = spread
      ? laplaceEstimate(ofData, x0, div(std(t), sqrt(total(t))), eventRank)
      : { log: ofData(x0), pull: gradEach(ofData)(x0) };
    look(x0);
    return seen;
  };
  const exact: Field = (x, t) => {
    const { pull } = seenFrom(mean(x, t), t);
    return gradEach((z) => sumEvent(mul(mean(z, t), pull), eventRank))(x);
  };
  const simple: Field = (x, t) =>
    mul(seenFrom(mean(x, t), t).pull, wide(div(meanFactor(t), total(t))));
  const uphill = gradient === "exact" ? exact : simple;
  return twist(process, (x, t) => seenFrom(mean(x, t), t).log, {
    delta: strength === 1 ? uphill : (x, t) => mul(uphill(x, t), strength),
    end: (y) => inType(logLikelihood(y), y),
  });
}

/**
 * A likelihood of constants only, such as an indicator function, gets the element type of the
 * events.
 */
const inType = (value: Tensor, x: Tensor): Tensor =>
  value.dtype === x.dtype ? value : cast(value, x.dtype);

/** log ψ at x̂₀, and its gradient. */
interface Seen {
  readonly log: Tensor;
  readonly pull: Tensor;
}

/**
 * The number of steps towards the maximum, the step sizes tried in each, and the longest step in
 * units of d.
 */
const STEPS = 4;
const SHARES = [1, 1 / 3, 1 / 9, 1 / 27];
const LONGEST = 3;

/** Laplace's method: Newton steps along the gradient, shortened until the value increases. */
function laplaceEstimate(
  of: (x0: Tensor) => Tensor,
  x0: Tensor,
  d: Tensor,
  eventRank: number,
): Seen {
  const wide = (value: Tensor): Tensor => alignToEvent(value, eventRank);
  const total = (v: Tensor): Tensor => sumEvent(v, eventRank);
  const precision = div(1, square(d));
  const bend = (at: Tensor, along: Tensor): Tensor => {
    const size = total(square(along));
    const none = greater(1e-30, size);
    const curve = div(total(mul(along, hvp(of, at, along))), where(none, 1, size));
    return maximum(mul(where(none, 0, curve), -1), 0);
  };
  let u = zerosLike(x0);
  let best = of(x0);
  for (let i = 0; i < STEPS; i++) {
    const at = add(x0, u);
    const uphill = sub(gradEach(of)(at), mul(u, wide(precision)));
    const newton = div(1, add(bend(at, uphill), precision));
    const length = mul(sqrt(total(square(uphill))), newton);
    const step = mul(
      uphill,
      wide(mul(newton, minimum(1, div(mul(d, LONGEST), maximum(length, 1e-30))))),
    );
    const base = u;
    for (const share of SHARES) {
      const tried = add(base, mul(step, share));
      const value = sub(of(add(x0, tried)), mul(mul(total(square(tried)), precision), 0.5));
      const better = greater(value, best);
      u = where(wide(better), tried, u);
      best = where(better, value, best);
    }
  }
  const curved = mul(bend(add(x0, u), u), square(d));
  return { log: sub(best, mul(log1p(curved), 0.5)), pull: mul(u, wide(precision)) };
}
