/**
 * Score matching of X = φ⁻¹(Y) as a loss of the score of Y. With s_x = Jᵀs_y + ∇ℓ and ℓ = log|det
 * J| (Theorem 1, pulled back),
 *
 *   ½‖s_x‖² + tr ∇s_x = ½ s_yᵀ C s_y + tr(C ∇s_y) + div C·s_y + const,   C = J Jᵀ
 *
 * Proof: ∇ₓ(Jᵀs_y) = Jᵀ(∇s_y)J + H·s_y, so tr ∇s_x = tr(C∇s_y) + (Tr H)·s_y + Δℓ, and ½‖s_x‖² = ½
 * s_yᵀCs_y + (J∇ℓ)·s_y + ½‖∇ℓ‖². The sum of the linear terms is Tr H + J∇ℓ = div_y(JJᵀ)
 * (`pushedCovarianceDivergence`), and the other terms do not contain s_y.
 *
 * So it is the form of GSSM-VR with this C, which vanishes at the boundary of the image: there are
 * no boundary terms for bounded data.
 */
import { type Bijector, gradLogDet, itoTrace, pushVector, units } from "../bijector/index.ts";
import { add, expand, fill, type Tensor, transpose } from "../graph/index.ts";
import type { Objective } from "./objective.ts";

/**
 * Score matching through a map, for a score of y = φ(x). Up to a constant, the loss is that of
 * score matching of φ⁻¹(Y) with the score pulled back.
 */
export const scoreMatchingThrough = (phi: Bijector): Objective => ({
  name: `sm through ${phi.name}`,
  draws: () => ({}),
  terms: (y) => {
    const x = phi.inverse(y);
    const n = x.shape.at(-1) as number;
    const wide = [n, ...x.shape];
    const columns = pushVector(phi, expand(x, wide), expand(units(x, 1), wide));
    const axes = columns.shape.length;
    // [n, …, n] to […, n, n]: column k along the axis before the last.
    const batch = Array.from({ length: axes - 2 }, (_, i) => i + 1);
    const directions = transpose(columns, [...batch, 0, axes - 1]);
    const trace = itoTrace(phi, x, { kind: "scalar", value: fill([], 1, x.dtype) });
    const pushed = pushVector(phi, x, gradLogDet(phi, x));
    const drift: Tensor = add(trace, pushed);
    return { metric: { directions }, slices: directions, drift };
  },
});
