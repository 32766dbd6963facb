/**
 * SDEs by name whose transition is known and is not N(m(t) x₀, σ(t)² I). Those of `sdes` have such
 * a Gaussian transition.
 */
import type { Tensor } from "../graph/index.ts";
import { dampedLangevin } from "./damped-langevin.ts";
import { jacobi } from "./jacobi.ts";
import { reflected } from "./reflected.ts";
import type { Sde } from "./sde.ts";

/** An SDE with the density of its transition from points x₀. */
export interface ExactSde {
  readonly sde: Sde;
  /** log p_{0t}(x | x₀), one number per event. */
  readonly logTransition: (x: Tensor, x0: Tensor, t: Tensor) => Tensor;
  /** ∇ₓ log p_{0t}(x | x₀), the target of denoising score matching. */
  readonly transitionScore: (x: Tensor, x0: Tensor, t: Tensor) => Tensor;
}

/**
 * SDEs by name whose transition is known and is not N(m(t) x₀, σ(t)² I). All properties in
 * `test/sde/exact.test.ts` are tested for them.
 */
export const exactSdes = {
  reflected,
  dampedLangevin,
  jacobi,
} as const satisfies Readonly<Record<string, () => ExactSde>>;
