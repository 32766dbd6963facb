/**
 * Scores of Y = v(X) for v: Rⁿ → R, in two ways.
 *
 * Given conditionals (`cor:score_change_variables_different_dimensions`): with cᵢ = ∂/∂y log
 * p(x_{−i} | y),
 *   ∂ᵧ log q(y) = (∇vᵀs − Δv − Σ (∂ᵢv)² cᵢ)/‖∇v‖²
 * at any x with v(x) = y. It holds on each branch only: if y and x_{−i} admit several xᵢ (a
 * quadratic has two roots), cᵢ must be that of the branch of x, and every ∂ᵢv must not be 0.
 *
 * As a conditional mean, which needs neither: by the co-area formula, q(y)E[h | y] = ∫ h p/‖∇v‖
 * over {v = y}, and
 * d/dy ∫_{v=y} F·n dS = ∫_{v=y} ∇·F/‖∇v‖ dS. With F = p ∇v/‖∇v‖², whose flux is q(y),
 *   ∂ᵧ log q(y) = E[ (∇vᵀs + Δv)/‖∇v‖² − 2 ∇vᵀH∇v/‖∇v‖⁴ | v(X) = y ],
 * because ∇·(p∇v/‖∇v‖²) = p(∇vᵀs + Δv)/‖∇v‖² − 2p ∇vᵀH∇v/‖∇v‖⁴.
 */
import {
  add,
  div,
  dot,
  exp,
  expandDims,
  fail,
  gradEach,
  hvp,
  laplacian,
  mean,
  mul,
  type Operand,
  pow,
  showShape,
  sqrt,
  square,
  squaredNorm,
  sub,
  sum,
  type Tensor,
} from "../graph/index.ts";

/** A function from […, n] to […]. */
export type Projection = (x: Tensor) => Tensor;

/**
 * The score ∂ᵧ log q(v(x)) of v(X), given cᵢ = ∂/∂y log p(x_{−i} | y) in the shape […, n]. The
 * result is the same at every x with the same v(x).
 */
export function projectedScore(
  v: Projection,
  x: Tensor,
  scoreX: Tensor,
  conditional: Tensor,
): Tensor {
  const slope = gradEach(v)(x);
  const top = sub(sub(dot(slope, scoreX), laplacian(v, x)), dot(square(slope), conditional));
  return div(top, squaredNorm(slope));
}

/**
 * The function of x whose conditional mean given v(x) = y is ∂ᵧ log q(y). Infinite where ∇v = 0.
 */
export function projectionIntegrand(v: Projection, x: Tensor, scoreX: Tensor): Tensor {
  const slope = gradEach(v)(x);
  const norm2 = squaredNorm(slope);
  const along = div(add(dot(slope, scoreX), laplacian(v, x)), norm2);
  return sub(along, mul(div(dot(slope, hvp(v, x, slope)), square(norm2)), 2));
}

/** The score of a projection, estimated from samples, with its standard error. */
export interface ProjectionEstimate {
  /** ∂ᵧ log q at each given y. */
  readonly score: Tensor;
  /**
   * The standard error, from the variation of the samples. It does not include the bias due to the
   * bandwidth.
   */
  readonly standardError: Tensor;
}

/**
 * Estimates the score ∂ᵧ log q of Y = v(X) from samples of X, by local linear regression of the
 * conditional mean on v(X).
 *
 * With weights wᵢ = exp(−(v(xᵢ) − y)²/2h²) and moments Sₖ = Σ wᵢ(v(xᵢ) − y)ᵏ the fitted value at y
 * is Σ lᵢ hᵢ, lᵢ = wᵢ(S₂ − (vᵢ − y)S₁)/(S₂S₀ − S₁²). Its bias is ½h²m″(y), where m is the
 * conditional mean, also at the ends of the range.
 *
 * @param samples [N, n], sampled from p
 * @param scoreX ∇ log p at the samples
 * @param at [m], the values of y
 * @param bandwidth h. Default: Silverman's 1.06 sd(v) N^(−1/5)
 */
export function estimateProjectedScore(
  v: Projection,
  samples: Tensor,
  scoreX: Tensor,
  at: Tensor,
  bandwidth?: Operand,
): ProjectionEstimate {
  if (samples.shape.length !== 2 || at.shape.length !== 1)
    fail(
      "shape",
      `estimateProjectedScore: \`samples\` has shape ${showShape(samples.shape)}, \`at\` has ` +
        `shape ${showShape(at.shape)}`,
      "give samples of shape [N, n] and values of shape [m]",
    );
  const values = v(samples);
  const integrand = projectionIntegrand(v, samples, scoreX);
  const count = samples.shape[0];
  const spread = sqrt(mean(square(sub(values, mean(values)))));
  const h = bandwidth ?? mul(spread, 1.06 * count ** -0.2);

  const offset = sub(values, expandDims(at, -1));
  const w = exp(mul(square(div(offset, h)), -0.5));
  const moment = (k: number): Tensor =>
    sum(k === 0 ? w : mul(w, pow(offset, k)), -1, { keepDims: true });
  const [s0, s1, s2] = [moment(0), moment(1), moment(2)];
  const weights = div(mul(w, sub(s2, mul(offset, s1))), sub(mul(s2, s0), square(s1)));
  const score = sum(mul(weights, integrand), -1);
  const residual = sub(integrand, expandDims(score, -1));
  return { score, standardError: sqrt(sum(square(mul(weights, residual)), -1)) };
}
