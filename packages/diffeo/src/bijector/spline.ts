/**
 * Monotone rational-quadratic splines (Durkan et al. 2019), one per coordinate, which are the
 * identity outside [−B, B]. In the bin [xₖ, xₖ₊₁] of width w and height h, with ξ = (x − xₖ)/w, s =
 * h/w and slopes δₖ, δₖ₊₁ at its ends:
 *
 *   y = yₖ + h(sξ² + δₖξ(1 − ξ))/D     D = s + (δₖ₊₁ + δₖ − 2s)ξ(1 − ξ)
 *   y′ = s²(δₖ₊₁ξ² + 2sξ(1 − ξ) + δₖ(1 − ξ)²)/D²
 *
 * y′ is continuous, y″ jumps at the knots, so Theorem 1 holds almost everywhere, between the knots.
 */
import {
  abs,
  add,
  cast,
  concat,
  cumsum,
  div,
  expandDims,
  fail,
  less,
  lessEqual,
  log,
  mul,
  neg,
  type Operand,
  slice,
  softmax,
  softplus,
  sqrt,
  square,
  sub,
  sum,
  type Tensor,
  where,
} from "../graph/index.ts";
import { asTensor } from "../graph/tensor.ts";
import type { Bijector } from "./bijector.ts";
import { coordinatewise } from "./coordinatewise.ts";
import { filled } from "./event.ts";

/** Options of `rationalQuadraticSpline`: bins and slopes. */
export interface SplineOptions {
  /**
   * […, n, K]. A softmax turns them into the widths of the K bins that fill [−B, B]; equal numbers
   * give equal widths.
   */
  readonly widths: Operand;
  /** […, n, K], the same for heights. */
  readonly heights: Operand;
  /** […, n, K − 1]. A softplus turns them into the slopes at the inner knots; 0 gives slope 1. */
  readonly slopes: Operand;
  /** B. Default 3. */
  readonly bound?: number;
}

/** The least share of a bin and the least slope, which keep the inverse well conditioned. */
const LEAST = 1e-3;
/** softplus(0 + UNIT) + LEAST = 1 */
const UNIT = Math.log(Math.expm1(1 - LEAST));

/** The bins of one axis: their starts and sizes. */
interface Bins {
  readonly starts: Tensor;
  readonly sizes: Tensor;
}

function binsOf(raw: Operand, bound: number, like: Tensor): Bins {
  const parameters = asTensor(raw, like.dtype);
  const k = parameters.shape.at(-1) as number;
  const sizes = mul(add(mul(softmax(parameters), 1 - LEAST * k), LEAST), 2 * bound);
  return { sizes, starts: sub(cumsum(sizes, -1, { exclusive: true }), bound) };
}

/** The slopes at the left and the right knot of every bin. */
function knotSlopes(slopes: Operand, like: Tensor): readonly [Tensor, Tensor] {
  const inner = add(softplus(add(asTensor(slopes, like.dtype), UNIT)), LEAST);
  const end = filled([...inner.shape.slice(0, -1), 1], 1, like.dtype);
  return [concat([end, inner]), concat([inner, end])];
}

/**
 * The bin of each coordinate, for values on the x axis (`widths`) or the y axis (`heights`): its
 * corner, size, mean slope s and the slopes at both knots.
 */
function locate(
  { widths, heights, slopes, bound }: Required<SplineOptions>,
  value: Tensor,
  axis: "x" | "y",
) {
  const horizontal = binsOf(widths, bound, value);
  const vertical = binsOf(heights, bound, value);
  const { starts } = axis === "x" ? horizontal : vertical;
  const k = starts.shape.at(-1) as number;
  if (k < 2)
    fail(
      "shape",
      `spline: ${k} ${k === 1 ? "bin" : "bins"}`,
      "give `widths` and `heights` of at least 2 bins",
    );
  const at = expandDims(value, -1);
  // One-hot by differences of steps. The first bin has no lower end, the last bin no upper end.
  const reached = cast(
    lessEqual(slice(starts, ...starts.shape.slice(0, -1).map(() => null), [1, k]), at),
    value.dtype,
  );
  const none = filled([...reached.shape.slice(0, -1), 1], 0, value.dtype);
  const hit = sub(concat([add(none, 1), reached]), concat([reached, none]));
  const pick = (table: Tensor): Tensor => sum(mul(hit, table), -1);
  const [left, right] = knotSlopes(slopes, value);
  const w = pick(horizontal.sizes);
  const h = pick(vertical.sizes);
  return {
    x0: pick(horizontal.starts),
    y0: pick(vertical.starts),
    w,
    h,
    s: div(h, w),
    d0: pick(left),
    d1: pick(right),
  };
}

/**
 * Monotone rational-quadratic splines, one per coordinate; the identity outside [−bound, bound].
 *
 * @throws DiffeoError of kind `usage` if the bound is not a positive number. The functions of the
 * map throw an error of kind `shape` if there are fewer than 2 bins
 */
export function rationalQuadraticSpline(options: SplineOptions): Bijector {
  const { bound = 3 } = options;
  if (!(bound > 0 && Number.isFinite(bound)))
    fail("usage", `spline: \`bound\` is ${bound}`, "use a positive number");
  const own = { ...options, bound };

  const inside = (value: Tensor): Tensor => less(abs(value), bound);
  /** Replaces values outside by 0, so that the branch that is not used is finite. */
  const held = (value: Tensor): Tensor => where(inside(value), value, 0);

  return coordinatewise({
    name: "rational-quadratic spline",
    forward: (x) => {
      const z = held(x);
      const { x0, y0, w, h, s, d0, d1 } = locate(own, z, "x");
      const xi = div(sub(z, x0), w);
      const bend = mul(xi, sub(1, xi));
      const top = mul(h, add(mul(s, square(xi)), mul(d0, bend)));
      const bottom = add(s, mul(sub(add(d1, d0), mul(s, 2)), bend));
      return where(inside(x), add(y0, div(top, bottom)), x);
    },
    /**
     * y − yₖ = η: aξ² + bξ + c = 0, and the root in [0, 1] without cancellation is 2c/(−b − √(b² −
     * 4ac)).
     */
    inverse: (y) => {
      const z = held(y);
      const { x0, y0, w, h, s, d0, d1 } = locate(own, z, "y");
      const eta = sub(z, y0);
      const excess = mul(eta, sub(add(d1, d0), mul(s, 2)));
      const a = add(mul(h, sub(s, d0)), excess);
      const b = sub(mul(h, d0), excess);
      const c = neg(mul(s, eta));
      const xi = div(mul(c, 2), sub(neg(b), sqrt(sub(square(b), mul(mul(a, c), 4)))));
      return where(inside(y), add(x0, mul(xi, w)), y);
    },
    logSlope: (x) => {
      const z = held(x);
      const { x0, w, s, d0, d1 } = locate(own, z, "x");
      const xi = div(sub(z, x0), w);
      const rest = sub(1, xi);
      const bend = mul(xi, rest);
      const top = add(add(mul(d1, square(xi)), mul(mul(s, 2), bend)), mul(d0, square(rest)));
      const bottom = add(s, mul(sub(add(d1, d0), mul(s, 2)), bend));
      return where(inside(x), add(mul(log(div(s, bottom)), 2), log(top)), 0);
    },
  });
}
