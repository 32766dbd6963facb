/**
 * Jacobi diffusions on the simplex by stick-breaking (P. Avdeyev et al., ICML 2023): stick-breaking
 * of stationary Zᵢ with aᵢ = αᵢ and bᵢ = Σⱼ>ᵢ αⱼ gives Dirichlet(α).
 */
import { type Bijector, bijector, chain } from "../bijector/index.ts";
import { cumsum, div, exp, fail, log1p, mul, neg, sub, sum, type Tensor } from "../graph/index.ts";
import { type Jacobi, jacobi } from "./jacobi.ts";
import type { JacobiOptions } from "./jacobi-spectrum.ts";

/** yᵢ = zᵢ Πⱼ<ᵢ(1 − zⱼ), from (0, 1)ⁿ onto the open simplex {y > 0, Σy < 1}. */
function brokenSticks(): Bijector {
  const logRest = (z: Tensor): Tensor => cumsum(log1p(neg(z)), -1, { exclusive: true });
  return bijector({
    name: "broken sticks",
    forward: (z) => mul(z, exp(logRest(z))),
    inverse: (y) => div(y, sub(1, cumsum(y, -1, { exclusive: true }))),
    // J is lower triangular with ∂yᵢ/∂zᵢ = Πⱼ<ᵢ(1 − zⱼ).
    logDet: (z) => sum(logRest(z), -1),
  });
}

/** Options of `jacobiSimplex`. */
export interface JacobiSimplexOptions extends Pick<JacobiOptions, "horizon" | "terms"> {
  /** α of the stationary Dirichlet distribution: n + 1 positive numbers for n coordinates of y. */
  readonly alpha: readonly number[];
}

/**
 * The result of `jacobiSimplex`: Jacobi diffusions of the sticks, and the maps from sticks and
 * angles to the simplex.
 */
export interface JacobiSimplex extends Jacobi {
  /** The map y = sticks(z) onto {y > 0, Σy < 1}, the simplex without its last coordinate. */
  readonly sticks: Bijector;
  /** The map from angles to y; samplers step in angles. */
  readonly phi: Bijector;
}

/**
 * The diffusion on the simplex by stick-breaking of Jacobi diffusions, with the stationary
 * distribution Dirichlet(α). `sde`, `logTransition` and `transitionScore` are those of the sticks
 * z.
 *
 * @throws DiffeoError of kind `usage` if α has fewer than two numbers, or one is not positive
 * @example
 * import { key } from "diffeo/random";
 * import { pulledScore } from "diffeo/score";
 *
 * const { angle, phi } = jacobiSimplex({ alpha: [1, 1, 1] });
 * // The product is the score of the uniform distribution; replace it by a network of y and t.
 * const process = reversePush(angle, phi, pulledScore(phi, (y) => mul(y, 0)));
 * await sample(process, { shape: [2], count: 100, key: key(1), solver: "domainPreserving" });
 */
export function jacobiSimplex({ alpha, ...options }: JacobiSimplexOptions): JacobiSimplex {
  if (alpha.length < 2)
    fail("usage", `jacobiSimplex: \`alpha\` has ${alpha.length} numbers`, "give at least two");
  const a = alpha.slice(0, -1);
  const b = a.map((_, i) => alpha.slice(i + 1).reduce((x, y) => x + y, 0));
  const process = jacobi({ ...options, a, b });
  const sticks = brokenSticks();
  return { ...process, sticks, phi: chain(process.phi, sticks) };
}
