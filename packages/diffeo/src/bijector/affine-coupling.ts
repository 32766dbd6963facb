/**
 * Affine coupling (RealNVP): the first part of x stays, and says how the rest is scaled and shifted.
 *
 *   y_a = x_a     y_b = x_b ∘ e^{s(x_a)} + m(x_a)     x_b = (y_b − m(y_a)) ∘ e^{−s(y_a)}     log|det J| = Σ s(x_a)
 *
 * s and m are any functions of tensors, e.g. networks with learned parameters. The inverse is as explicit as the map,
 * so autodiff of the two is exact and no closed form could do better.
 */
import { add, concat, exp, expand, fail, mul, neg, showShape, slice, sub, sum, type Tensor } from "../graph/index.ts";
import type { Bijector } from "./bijector.ts";

export interface AffineCouplingOptions {
  /** How many coordinates stay: the first ones, or the last with `flip`. */
  readonly keep: number;
  /** s and m of the coordinates that stay, each of the size of those that change. */
  readonly conditioner: (kept: Tensor) => { readonly logScale: Tensor; readonly shift: Tensor };
  /** Keep the last coordinates instead. A coupling changes only half of the vector: alternate in a `chain`. */
  readonly flip?: boolean;
}

export function affineCoupling({ keep, conditioner, flip: flipped = false }: AffineCouplingOptions): Bijector {
  const parts = (x: Tensor): readonly [Tensor, Tensor] => {
    const n = x.shape.at(-1) as number;
    if (!(Number.isInteger(keep) && keep > 0 && keep < n))
      fail(
        "shape",
        `affine coupling: keeps ${keep} of the ${n} coordinates of ${showShape(x.shape)}`,
        "keep some, not all",
      );
    const whole = x.shape.slice(0, -1).map(() => null);
    const cut = flipped ? n - keep : keep;
    const [head, tail] = [slice(x, ...whole, [0, cut]), slice(x, ...whole, [cut, n])];
    return flipped ? [tail, head] : [head, tail];
  };
  const join = (kept: Tensor, changed: Tensor): Tensor => concat(flipped ? [changed, kept] : [kept, changed]);
  return {
    name: "affine coupling",
    eventRank: 1,
    forward: (x) => {
      const [kept, rest] = parts(x);
      const { logScale, shift } = conditioner(kept);
      return join(kept, add(mul(rest, exp(logScale)), shift));
    },
    inverse: (y) => {
      const [kept, rest] = parts(y);
      const { logScale, shift } = conditioner(kept);
      return join(kept, mul(sub(rest, shift), exp(neg(logScale))));
    },
    logDet: (x) => {
      const [kept, rest] = parts(x);
      return sum(expand(conditioner(kept).logScale, rest.shape), -1);
    },
  };
}
