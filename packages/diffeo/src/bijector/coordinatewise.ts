/**
 * Maps that act on each coordinate alone: yᵢ = f(xᵢ, t). J is diagonal, and all other quantities
 * follow from ℓ(x) = log|f′(x)|:
 *
 *   log|det J| = Σ ℓ(xᵢ)    ∇ log|det J| = ℓ′(x)    J v = f′v    J⁻¹v = v/f′
 *   Tr[GᵀHG]ᵢ = f″(xᵢ)(GGᵀ)ᵢᵢ,   f″ = f′ℓ′   since (log|f′|)′ = f″/f′;  hence J⁻¹Tr[GᵀHG] = ℓ′(GGᵀ)ᵢᵢ
 */
import { add, div, exp, grad, mul, neg, sum, type Tensor } from "../graph/index.ts";
import type { Bijector } from "./bijector.ts";
import { rowSquares } from "./coefficient.ts";
import { everyCoordinate, filled } from "./event.ts";

/**
 * A strictly monotone function of one variable with its inverse and the logarithm of its
 * derivative; see `coordinatewise`.
 */
export interface Coordinate {
  readonly name: string;
  /** y = f(x, t); strictly monotone in x. */
  readonly forward: (x: Tensor, t?: Tensor) => Tensor;
  readonly inverse: (y: Tensor, t?: Tensor) => Tensor;
  /** ℓ = log|f′|, in a shape that broadcasts against x. */
  readonly logSlope: (x: Tensor, t?: Tensor) => Tensor;
  /** f′. Default e^ℓ, for an increasing f. */
  readonly slope?: (x: Tensor, t?: Tensor) => Tensor;
  /** 1/f′. Default: 1 divided by `slope`, or e^−ℓ. */
  readonly inverseSlope?: (x: Tensor, t?: Tensor) => Tensor;
  /** ℓ′. Default: by automatic differentiation. */
  readonly logSlopeDerivative?: (x: Tensor, t?: Tensor) => Tensor;
  readonly timeDependent?: boolean;
  /** Whether each number is in the range of f, by comparison. Default: whether f⁻¹ is finite. */
  readonly contains?: (y: Tensor) => Tensor;
}

/**
 * Makes a map of vectors that applies a function of one variable to each coordinate, with all
 * closed forms. `each` applies it to grids.
 */
export function coordinatewise(f: Coordinate): Bijector {
  const { contains } = f;
  const everywhere = (x: Tensor, t?: Tensor): Tensor =>
    add(filled(x.shape, 0, x.dtype), f.logSlope(x, t));
  const slope = f.slope ?? ((x: Tensor, t?: Tensor) => exp(f.logSlope(x, t)));
  const inverseSlope = (x: Tensor, t?: Tensor): Tensor =>
    f.inverseSlope?.(x, t) ?? (f.slope ? div(1, f.slope(x, t)) : exp(neg(f.logSlope(x, t))));
  const derivative = (x: Tensor, t?: Tensor): Tensor =>
    f.logSlopeDerivative?.(x, t) ?? grad((z: Tensor) => sum(everywhere(z, t)))(x);
  const along = (x: Tensor, v: Tensor, t?: Tensor): Tensor => mul(slope(x, t), v);
  const against = (x: Tensor, v: Tensor, t?: Tensor): Tensor => mul(inverseSlope(x, t), v);
  return {
    name: f.name,
    eventRank: 1,
    coordinatewise: true,
    timeDependent: f.timeDependent ?? false,
    forward: f.forward,
    inverse: f.inverse,
    logDet: (x, t) => sum(everywhere(x, t), -1),
    pushVector: along,
    pullCovector: along,
    pullVector: against,
    pushCovector: against,
    gradLogDet: (x, t) => add(filled(x.shape, 0, x.dtype), derivative(x, t)),
    ...(contains && { contains: (y: Tensor) => everyCoordinate(contains(y), y.dtype) }),
    itoTrace: (x, diffusion, t) => {
      const second = mul(slope(x, t), derivative(x, t));
      return add(
        filled(x.shape, 0, x.dtype),
        mul(second, rowSquares(diffusion, [x.shape.at(-1) as number])),
      );
    },
    pullItoTrace: (x, diffusion, t) =>
      add(
        filled(x.shape, 0, x.dtype),
        mul(derivative(x, t), rowSquares(diffusion, [x.shape.at(-1) as number])),
      ),
  };
}
