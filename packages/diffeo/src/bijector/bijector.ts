/**
 * The interface of a map y = φ(x, t).
 *
 * The last `eventRank` axes are the event, all axes before them are the batch, and every function
 * accepts any batch shape. x is in the space in which a score is trained, y in the domain of the
 * samples. A time t has shape [] or a shape that broadcasts against the batch.
 */
import { fail, type Tensor } from "../graph/index.ts";

/**
 * A smooth invertible map φ: x ↦ y, defined by `forward`, `inverse` and `logDet`. Other quantities
 * are derived by automatic differentiation, unless the map has a closed form of them. `bijector`
 * makes one, and `checkMap` checks it.
 */
export interface Bijector {
  readonly name: string;
  /** The number of trailing axes of one event: 1 for vectors, 3 for a grid of vectors. */
  readonly eventRank: number;
  /** y = φ(x, t) */
  readonly forward: (x: Tensor, t?: Tensor) => Tensor;
  /** x = φ⁻¹(y, t) */
  readonly inverse: (y: Tensor, t?: Tensor) => Tensor;
  /**
   * log|det J_φ(x, t)|, one number per event; ½ log det JᵀJ if φ is an embedding into a space of
   * more dimensions.
   */
  readonly logDet: (x: Tensor, t?: Tensor) => Tensor;
  /** Whether φ depends on t. Default false. */
  readonly timeDependent?: boolean;
  /** Whether every yᵢ depends on xᵢ alone, so that J is diagonal. Default false. */
  readonly coordinatewise?: boolean;

  // Closed forms. Each replaces automatic differentiation; a property test compares the two.
  /** The Jacobian-vector product J v. */
  readonly pushVector?: (x: Tensor, v: Tensor, t?: Tensor) => Tensor;
  /** The vector-Jacobian product Jᵀ u. */
  readonly pullCovector?: (x: Tensor, u: Tensor, t?: Tensor) => Tensor;
  /** J⁻¹ v; for embeddings J⁺ v = (JᵀJ)⁻¹Jᵀ v. */
  readonly pullVector?: (x: Tensor, v: Tensor, t?: Tensor) => Tensor;
  /** J⁻ᵀ u; for embeddings (J⁺)ᵀ u, which is tangent to the image. */
  readonly pushCovector?: (x: Tensor, u: Tensor, t?: Tensor) => Tensor;
  /** ∇ₓ log|det J| */
  readonly gradLogDet?: (x: Tensor, t?: Tensor) => Tensor;
  /** The Itô term Tr[GᵀHG], a vector with components Σₖ Gₖᵀ H_i Gₖ. */
  readonly itoTrace?: (x: Tensor, diffusion: Diffusion, t?: Tensor) => Tensor;
  /** The Itô term in x, J⁻¹Tr[GᵀHG]. */
  readonly pullItoTrace?: (x: Tensor, diffusion: Diffusion, t?: Tensor) => Tensor;
  /** ∂ₜφ at fixed x. */
  readonly timeDerivative?: (x: Tensor, t: Tensor) => Tensor;
  /**
   * Whether each y is in the image of φ, one bool per event. Default: whether φ⁻¹(y) is finite. A
   * GPU may not distinguish finite numbers from NaN, so a map whose process is sampled in y on a
   * GPU should compare y with its bounds.
   */
  readonly contains?: (y: Tensor, t?: Tensor) => Tensor;
}

/**
 * The names of the optional closed forms of a map. The properties in `check/` are a record over
 * these names, so a new closed form without a property does not compile.
 */
export type ClosedForm = Exclude<
  keyof Bijector,
  "name" | "eventRank" | "forward" | "inverse" | "logDet" | "timeDependent" | "coordinatewise"
>;

/**
 * A diffusion coefficient G at given points: one number for all coordinates (shape of the batch, or
 * []), one number per coordinate (shape of the event), or a matrix […, n, k] whose k columns are
 * driven by independent noise, where n is the number of coordinates of a flattened event. Each may
 * have batch axes, which broadcast against those of the points.
 */
export type Diffusion =
  | { readonly kind: "scalar"; readonly value: Tensor }
  | { readonly kind: "diagonal"; readonly value: Tensor }
  | { readonly kind: "matrix"; readonly value: Tensor };

/**
 * Makes a map from its three functions and, if known, closed forms. Events are vectors by default
 * (`eventRank` 1).
 *
 *     const cube = bijector({
 *       name: "x + x³",
 *       forward: (x) => add(x, mul(x, square(x))),
 *       inverse: (y) => …,
 *       logDet: (x) => sum(log(add(mul(square(x), 3), 1)), -1),
 *     });
 *
 * `checkMap` checks that the three functions agree. For a function of one variable,
 * `coordinatewise` derives every closed form.
 */
export function bijector(
  definition: Omit<Bijector, "eventRank"> & { readonly eventRank?: number },
): Bijector {
  const phi = { eventRank: 1, ...definition };
  for (const part of ["forward", "inverse", "logDet"] as const)
    if (typeof phi[part] !== "function")
      fail(
        "usage",
        `bijector "${phi.name}": ${part} is missing`,
        "give forward(x, t), inverse(y, t) and logDet(x, t), functions of tensors",
      );
  if (!Number.isInteger(phi.eventRank) || phi.eventRank < 1)
    fail(
      "usage",
      `bijector "${phi.name}": eventRank is ${phi.eventRank}`,
      "use 1 for vectors, or the number of trailing axes of one event",
    );
  return phi;
}
