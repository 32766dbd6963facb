/**
 * Affine coupling (RealNVP): one part of x is kept and determines how the rest is scaled and
 * shifted.
 *
 *   y_a = x_a     y_b = x_b ∘ e^{s(x_a)} + m(x_a)     x_b = (y_b − m(y_a)) ∘ e^{−s(y_a)}     log|det J| = Σ s(x_a)
 *
 * s and m are any functions of tensors, e.g. networks with learned parameters. The inverse is as
 * explicit as the map, so automatic differentiation of both is accurate, and closed forms are not
 * needed.
 */
import {
  add,
  concat,
  constant,
  exp,
  expand,
  fail,
  mul,
  neg,
  showShape,
  sub,
  sum,
  type Tensor,
  take,
} from "../graph/index.ts";
import type { Bijector } from "./bijector.ts";

/**
 * Options of `affineCoupling`: the coordinates that are kept, and the scale and shift of the
 * others.
 */
export interface AffineCouplingOptions {
  /**
   * The coordinates that are kept: a number n for the first n, or a mask with one entry per
   * coordinate. A coupling changes only the others, so alternate masks in a `chain`, or put a
   * `permutation` between two couplings.
   */
  readonly keep: number | readonly (boolean | number)[];
  /** s and m as functions of the kept coordinates. Each has one entry per changed coordinate. */
  readonly conditioner: (kept: Tensor) => { readonly logScale: Tensor; readonly shift: Tensor };
  /** Keeps the last n coordinates, or those that the mask excludes, instead. Default false. */
  readonly flip?: boolean;
}

/**
 * An affine coupling (RealNVP): y_b = x_b e^{s(x_a)} + m(x_a), where the coordinates x_a are kept.
 */
export function affineCoupling({
  keep,
  conditioner,
  flip = false,
}: AffineCouplingOptions): Bijector {
  /** The indices of the kept and of the changed coordinates. */
  const places = (x: Tensor): readonly [number[], number[]] => {
    const n = x.shape.at(-1) as number;
    if (typeof keep !== "number" && keep.length !== n)
      fail(
        "shape",
        `affineCoupling: \`keep\` has ${keep.length} entries, events of shape ` +
          `${showShape(x.shape)} have ${n} coordinates`,
        "give one entry per coordinate",
      );
    const stays = (i: number): boolean =>
      typeof keep === "number" ? (flip ? i >= n - keep : i < keep) : Boolean(keep[i]) !== flip;
    const all = [...Array(n).keys()];
    const [kept, changed] = [all.filter(stays), all.filter((i) => !stays(i))];
    const whole = typeof keep !== "number" || kept.length === keep;
    if (!whole || kept.length === 0 || changed.length === 0)
      fail(
        "shape",
        `affineCoupling: \`keep\` keeps ${typeof keep === "number" ? keep : kept.length} of ` +
          `${n} coordinates`,
        "keep at least one and not all of them",
      );
    return [kept, changed];
  };
  const pick = (x: Tensor, at: readonly number[]): Tensor => take(x, constant(at, "int32"), -1);
  const parts = (x: Tensor) => {
    const [a, b] = places(x);
    const order = [...a, ...b];
    /** Joins both parts in the original order. */
    const join = (kept: Tensor, changed: Tensor): Tensor =>
      pick(
        concat([kept, changed]),
        order.map((_, i) => order.indexOf(i)),
      );
    return { kept: pick(x, a), rest: pick(x, b), join };
  };
  return {
    name: "affine coupling",
    eventRank: 1,
    forward: (x) => {
      const { kept, rest, join } = parts(x);
      const { logScale, shift } = conditioner(kept);
      return join(kept, add(mul(rest, exp(logScale)), shift));
    },
    inverse: (y) => {
      const { kept, rest, join } = parts(y);
      const { logScale, shift } = conditioner(kept);
      return join(kept, mul(sub(rest, shift), exp(neg(logScale))));
    },
    logDet: (x) => {
      const { kept, rest } = parts(x);
      return sum(expand(conditioner(kept).logScale, rest.shape), -1);
    },
  };
}
