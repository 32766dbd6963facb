/**
 * SDEs whose transition is known and is not N(m(t) x₀, σ(t)² I), by name: one row each. Those of
 * `sdes` have such a transition.
 */
import type { Tensor } from "../graph/index.ts";
import { dampedLangevin } from "./damped-langevin.ts";
import { jacobi } from "./jacobi.ts";
import { reflected } from "./reflected.ts";
import type { Sde } from "./sde.ts";

/** An SDE with its transition from points x₀. */
export interface ExactSde {
  readonly sde: Sde;
  /** log p_{0t}(x | x₀), one number per event. */
  readonly logTransition: (x: Tensor, x0: Tensor, t: Tensor) => Tensor;
  /** ∇ₓ log p_{0t}(x | x₀), the target of denoising score matching. */
  readonly transitionScore: (x: Tensor, x0: Tensor, t: Tensor) => Tensor;
}

/** Every property of `test/sde/exact.test.ts` runs over them. */
export const exactSdes = {
  reflected,
  dampedLangevin,
  jacobi,
} as const satisfies Readonly<Record<string, () => ExactSde>>;
