/**
 * The contract of a map y = φ(x, t), and what diffeo derives from it.
 *
 * The last `eventRank` axes are the event, everything before them is batch, and every function
 * accepts any batch
 * shape. `x` is the space a score is trained in, `y` the space it is sampled in. A time `t` has
 * shape [] or one that broadcasts against the batch.
 */
import { fail, type Tensor } from "../graph/index.ts";

/**
 * A smooth invertible map φ: x ↦ y. Everything else is derived from `forward`, `inverse` and
 * `logDet`; a map may override what it has in closed form.
 */
export interface Bijector {
  readonly name: string;
  /** How many trailing axes make one event: 1 for vectors, 3 for a grid of vectors. */
  readonly eventRank: number;
  /** y = φ(x, t) */
  readonly forward: (x: Tensor, t?: Tensor) => Tensor;
  /** x = φ⁻¹(y, t) */
  readonly inverse: (y: Tensor, t?: Tensor) => Tensor;
  /**
   * log|det J_φ(x, t)|, one number per event; ½ log det JᵀJ where φ embeds into a space of more
   * dimensions.
   */
  readonly logDet: (x: Tensor, t?: Tensor) => Tensor;
  /** Whether φ depends on t. Absent: it does not. */
  readonly timeDependent?: boolean;
  /** Whether every yᵢ depends on xᵢ alone, so that J is diagonal. Absent: it may depend on all. */
  readonly coordinatewise?: boolean;

  // Closed forms. Each overrides the derivative by autodiff; a property test compares the two.
  /** J v */
  readonly pushVector?: (x: Tensor, v: Tensor, t?: Tensor) => Tensor;
  /** Jᵀ u */
  readonly pullCovector?: (x: Tensor, u: Tensor, t?: Tensor) => Tensor;
  /** J⁻¹ v; where φ embeds, J⁺ v = (JᵀJ)⁻¹Jᵀ v */
  readonly pullVector?: (x: Tensor, v: Tensor, t?: Tensor) => Tensor;
  /** J⁻ᵀ u; where φ embeds, (J⁺)ᵀ u, which is tangent to the image */
  readonly pushCovector?: (x: Tensor, u: Tensor, t?: Tensor) => Tensor;
  /** ∇ₓ log|det J| */
  readonly gradLogDet?: (x: Tensor, t?: Tensor) => Tensor;
  /** Tr[GᵀHG], the vector with components Σₖ Gₖᵀ H_i Gₖ */
  readonly itoTrace?: (x: Tensor, diffusion: Diffusion, t?: Tensor) => Tensor;
  /** J⁻¹Tr[GᵀHG] */
  readonly pullItoTrace?: (x: Tensor, diffusion: Diffusion, t?: Tensor) => Tensor;
  /** ∂ₜφ */
  readonly timeDerivative?: (x: Tensor, t: Tensor) => Tensor;
  /**
   * Whether each y lies in the image of φ, one bool an event. Absent: where φ⁻¹(y) is a number,
   * which a GPU may not tell from NaN; a map whose process is stepped in y there should compare y
   * with its bounds.
   */
  readonly contains?: (y: Tensor, t?: Tensor) => Tensor;
}

/**
 * The closed forms: all members of a map except the required ones and its two claims. The properties in `check/` are a record over these names, so that a new
 * closed form without a property does not compile.
 */
export type ClosedForm = Exclude<
  keyof Bijector,
  "name" | "eventRank" | "forward" | "inverse" | "logDet" | "timeDependent" | "coordinatewise"
>;

/**
 * A diffusion coefficient G at given points: one number for all coordinates (shape of the batch, or
 * []),
 * one for each (shape of the event), or a matrix […, n, k] whose k columns are driven by
 * independent noise, n the number of coordinates of a flattened event. Each may have batch axes,
 * which broadcast against the points'.
 */
export type Diffusion =
  | { readonly kind: "scalar"; readonly value: Tensor }
  | { readonly kind: "diagonal"; readonly value: Tensor }
  | { readonly kind: "matrix"; readonly value: Tensor };

/**
 * A map from its three functions and, if known, closed forms. Events are vectors unless `eventRank`
 * says otherwise.
 *
 *     const cube = bijector({
 *       name: "x + x³",
 *       forward: (x) => add(x, mul(x, square(x))),
 *       inverse: (y) => …,
 *       logDet: (x) => sum(log(add(mul(square(x), 3), 1)), -1),
 *     });
 *
 * `checkMap` checks its properties. For a function of one variable, `coordinatewise` derives every
 * closed form.
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
      "use 1 for vectors, or the number of trailing axes that make one event",
    );
  return phi;
}
