/**
 * The banana: a Gaussian bent along a parabola. x₁ = a ε₁ and x₂ = ε₂ + b(x₁² − a²), so with r = x₂
 * − b(x₁² − a²)
 *
 *   log p = −x₁²/2a² − r²/2 − log 2πa     ∇ log p = (−x₁/a² + 2b x₁r, −r)
 *
 * The Jacobian of the bend has determinant 1; mean and covariance are (0, 0) and diag(a², 1 +
 * 2b²a⁴).
 */
import { add, at, fail, mul, neg, square, stack, sub, type Tensor } from "../graph/index.ts";
import { type Keys, normal } from "../random/index.ts";
import { type Distribution, vectors } from "./distribution.ts";

/** Options of `banana`. */
export interface BananaOptions {
  /** a, the length. Default 1. */
  readonly length?: number;
  /** b, the bend. Default 0.5. */
  readonly bend?: number;
}

/**
 * A Gaussian in two dimensions that is bent along a parabola: a hard test case with a known score.
 *
 * @throws DiffeoError of kind `usage` if the length is not positive or the bend is not finite
 */
export function banana({ length = 1, bend = 0.5 }: BananaOptions = {}): Distribution {
  if (!(length > 0 && Number.isFinite(length) && Number.isFinite(bend)))
    fail(
      "usage",
      `banana: length ${length} and bend ${bend}`,
      "use a positive length and a finite bend",
    );
  const parts = (x: Tensor): { readonly x1: Tensor; readonly r: Tensor } => {
    const x1 = at(x, 0, -1);
    return { x1, r: sub(at(x, 1, -1), mul(sub(square(x1), length * length), bend)) };
  };
  const draw = (keys: Keys): Float64Array => {
    const { data } = normal(keys, [2], { dtype: "float64" });
    const out = new Float64Array(data.length);
    for (let i = 0; i < data.length; i += 2) {
      out[i] = length * data[i];
      out[i + 1] = data[i + 1] + bend * (out[i] ** 2 - length ** 2);
    }
    return out;
  };
  return {
    ...vectors("banana", 2, draw),
    logDensity: (x) => {
      const { x1, r } = parts(x);
      return sub(
        mul(add(square(mul(x1, 1 / length)), square(r)), -0.5),
        Math.log(2 * Math.PI * length),
      );
    },
    score: (x) => {
      const { x1, r } = parts(x);
      return stack([sub(mul(mul(x1, r), 2 * bend), mul(x1, length ** -2)), neg(r)], -1);
    },
  };
}
