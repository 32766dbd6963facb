/** Increasing vectors: y₁ = x₁, yᵢ = yᵢ₋₁ + eˣⁱ. */
import {
  abs,
  concat,
  constant,
  cumsum,
  exp,
  expand,
  greater,
  less,
  log,
  logicalAnd,
  mul,
  neg,
  slice,
  sub,
  sum,
  type Tensor,
} from "../graph/index.ts";
import type { Bijector } from "./bijector.ts";
import { rowSquares } from "./coefficient.ts";
import { everyCoordinate } from "./event.ts";

/** 0 at the first coordinate, which is free, and 1 at the gaps. */
const gaps = (x: Tensor): Tensor =>
  constant(
    Array.from({ length: x.shape.at(-1) as number }, (_, i) => (i === 0 ? 0 : 1)),
    x.dtype,
  );

/** (v₁, v₂ − v₁, v₃ − v₂, …) */
function differences(v: Tensor): Tensor {
  const n = v.shape.at(-1) as number;
  if (n === 1) return v;
  const whole = v.shape.slice(0, -1).map(() => null);
  const part = (a: number, b: number): Tensor => slice(v, ...whole, [a, b]);
  return concat([part(0, 1), sub(part(1, n), part(0, n - 1))]);
}

/** The transpose of `differences`: (v₁ − v₂, v₂ − v₃, …, v_n) */
function differencesBack(v: Tensor): Tensor {
  const n = v.shape.at(-1) as number;
  if (n === 1) return v;
  const whole = v.shape.slice(0, -1).map(() => null);
  const part = (a: number, b: number): Tensor => slice(v, ...whole, [a, b]);
  return concat([sub(part(0, n - 1), part(1, n)), part(n - 1, n)]);
}

/**
 * The map onto increasing vectors, y₁ = x₁ and yᵢ = yᵢ₋₁ + eˣⁱ.
 *
 * J = C D, with C the lower triangle of ones (running sums) and D = diag(1, eˣ², …, eˣⁿ); so J⁻¹ =
 * D⁻¹ × differences, log|det J| = x₂ + … + x_n, and D²φ[v, v] = C(0, eˣ²v₂², …).
 */
export function ordered(): Bijector {
  /** log D: (0, x₂, …, x_n) */
  const logSlopes = (x: Tensor): Tensor => mul(x, gaps(x));
  return {
    name: "ordered",
    eventRank: 1,
    forward: (x) => {
      const n = x.shape.at(-1) as number;
      if (n === 1) return x;
      const whole = x.shape.slice(0, -1).map(() => null);
      return cumsum(concat([slice(x, ...whole, [0, 1]), exp(slice(x, ...whole, [1, n]))]), -1);
    },
    inverse: (y) => {
      const n = y.shape.at(-1) as number;
      if (n === 1) return y;
      const whole = y.shape.slice(0, -1).map(() => null);
      const d = differences(y);
      return concat([slice(d, ...whole, [0, 1]), log(slice(d, ...whole, [1, n]))]);
    },
    contains: (y) => {
      const n = y.shape.at(-1) as number;
      const finite = everyCoordinate(less(abs(y), Number.POSITIVE_INFINITY), y.dtype);
      if (n === 1) return finite;
      const whole = y.shape.slice(0, -1).map(() => null);
      const steps = slice(differences(y), ...whole, [1, n]);
      return logicalAnd(finite, everyCoordinate(greater(steps, 0), y.dtype));
    },
    logDet: (x) => sum(logSlopes(x), -1),
    pushVector: (x, v) => cumsum(mul(exp(logSlopes(x)), v), -1),
    pullCovector: (x, u) => mul(exp(logSlopes(x)), cumsum(u, -1, { reverse: true })),
    pullVector: (x, v) => mul(exp(neg(logSlopes(x))), differences(v)),
    pushCovector: (x, u) => differencesBack(mul(exp(neg(logSlopes(x))), u)),
    gradLogDet: (x) => expand(gaps(x), x.shape),
    itoTrace: (x, diffusion) => {
      const bends = mul(
        mul(exp(logSlopes(x)), gaps(x)),
        rowSquares(diffusion, [x.shape.at(-1) as number]),
      );
      return cumsum(bends, -1);
    },
    // D⁻¹C⁻¹C(0, eˣ²v₂², …) = (0, v₂², …)
    pullItoTrace: (x, diffusion) =>
      expand(mul(gaps(x), rowSquares(diffusion, [x.shape.at(-1) as number])), x.shape),
  };
}
