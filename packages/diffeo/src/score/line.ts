/**
 * Scores through maps of the line (`cor:score_change_of_variables_1d`), in both forms of the paper.
 * With ψ = φ⁻¹,
 *
 *   ∂ᵧ log q(y) = ψ′(y) s(ψ(y)) + ψ″(y)/ψ′(y)
 *              = (φ′(x) s(x) − φ″(x))/φ′(x)²           s = ∂ₓ log p
 *
 * and into Rⁿ (`appendix:R_to_Rn`). φ is any function of tensors that acts on each number alone.
 */
import {
  add,
  div,
  expandDims,
  fail,
  jvp,
  mul,
  onesLike,
  showShape,
  square,
  sub,
  type Tensor,
} from "../graph/index.ts";

/** f(z), f′(z), f″(z) for a function of one variable, at every number of z. */
function derivatives(f: (z: Tensor) => Tensor, z: Tensor): readonly [Tensor, Tensor, Tensor] {
  const slope = (w: Tensor): readonly [Tensor, Tensor] => jvp(f, w, onesLike(w));
  const [value, first] = slope(z);
  const [, second] = jvp((w: Tensor) => slope(w)[1], z, onesLike(z));
  return [value, first, second];
}

/**
 * The score of φ(X) at φ(x), from φ and the score of X at x: (φ′s − φ″)/φ′². φ acts on each number
 * alone.
 */
export function pushScoreLine(phi: (x: Tensor) => Tensor, x: Tensor, scoreX: Tensor): Tensor {
  const [, first, second] = derivatives(phi, x);
  return div(sub(mul(first, scoreX), second), square(first));
}

/** The score of φ(X) at y, from ψ = φ⁻¹ and the score s of X as a function: ψ′s(ψ(y)) + ψ″/ψ′. */
export function pushScoreLineInverse(
  psi: (y: Tensor) => Tensor,
  y: Tensor,
  scoreX: (x: Tensor) => Tensor,
): Tensor {
  const [x, first, second] = derivatives(psi, y);
  return add(mul(first, scoreX(x)), div(second, first));
}

/**
 * The scores of the n marginals Yᵢ = vᵢ(X) of a function R → Rⁿ, stacked: (vᵢ′s − vᵢ″)/vᵢ′².
 *
 * This is *not* the score of the vector Y. Y lies on a curve, so its joint distribution has neither
 * density nor score. The theorem is about each marginal alone. Every vᵢ must be monotone.
 *
 * @param v a function from […] to […, n]
 */
export function stackedMarginalScores(v: (x: Tensor) => Tensor, x: Tensor, scoreX: Tensor): Tensor {
  const [value, first, second] = derivatives(v, x);
  if (value.shape.length !== x.shape.length + 1)
    fail(
      "shape",
      `stackedMarginalScores: v maps shape ${showShape(x.shape)} to ${showShape(value.shape)}`,
      "return one more axis, with the values of the n functions",
    );
  return div(sub(mul(first, expandDims(scoreX, -1)), second), square(first));
}
