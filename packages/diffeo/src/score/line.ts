/**
 * Maps of the line (`cor:score_change_of_variables_1d`), in both printed forms; with ψ = φ⁻¹,
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

/** From φ at x: (φ′s − φ″)/φ′². */
export function pushScoreLine(phi: (x: Tensor) => Tensor, x: Tensor, scoreX: Tensor): Tensor {
  const [, first, second] = derivatives(phi, x);
  return div(sub(mul(first, scoreX), second), square(first));
}

/** From ψ = φ⁻¹ at y: ψ′s + ψ″/ψ′, with s as a function of x. */
export function pushScoreLineInverse(
  psi: (y: Tensor) => Tensor,
  y: Tensor,
  scoreX: (x: Tensor) => Tensor,
): Tensor {
  const [x, first, second] = derivatives(psi, y);
  return add(mul(first, scoreX(x)), div(second, first));
}

/**
 * R → Rⁿ: the scores of the n marginals Yᵢ = vᵢ(X), stacked: (vᵢ′s − vᵢ″)/vᵢ′².
 *
 * This is *not* the score of the vector Y. All of Y lies on a curve, its joint distribution is singular and
 * has no density, so it has no score; the theorem is a statement about each marginal
 * alone. Every vᵢ must be monotone.
 *
 * @param v takes […] to […, n]
 */
export function stackedMarginalScores(v: (x: Tensor) => Tensor, x: Tensor, scoreX: Tensor): Tensor {
  const [value, first, second] = derivatives(v, x);
  if (value.shape.length !== x.shape.length + 1)
    fail(
      "shape",
      `stackedMarginalScores: v takes ${showShape(x.shape)} to ${showShape(value.shape)}`,
      "return one more axis, the n functions",
    );
  return div(sub(mul(first, expandDims(scoreX, -1)), second), square(first));
}
