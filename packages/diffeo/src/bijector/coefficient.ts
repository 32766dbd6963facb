/**
 * Operations on the three kinds of diffusion coefficient G that the Itô terms need:
 *   columns  G₁ … G_k along a new leading axis        rowSquares  (GGᵀ)ᵢᵢ
 *   moved    J G, in the cheapest kind that holds it  forms       GGᵀx, Tr GGᵀ, xᵀGGᵀx
 *   dense    G as a matrix, whatever its kind         apply…      G w, Gᵀu, GGᵀu
 */
import {
  expand,
  expandDims,
  eye,
  matmul,
  matvec,
  mul,
  reshape,
  type Shape,
  square,
  sum,
  type Tensor,
  transpose,
} from "../graph/index.ts";
import { sizeOf } from "../graph/ndarray.ts";
import type { Diffusion } from "./bijector.ts";
import { alignToEvent, batchOf, eventOf, flattenEvent, sumEvent } from "./event.ts";

const lastFirst = (m: Tensor): Tensor => {
  const rank = m.shape.length;
  return transpose(m, [rank - 1, ...Array(rank - 1).keys()]);
};
const firstLast = (m: Tensor): Tensor => {
  const rank = m.shape.length;
  return transpose(m, [...Array(rank - 1).keys()].map((i) => i + 1).concat(0));
};

/** The unit vectors of an event along a new leading axis, to broadcast against […, ...event]. */
export function units(x: Tensor, eventRank: number): Tensor {
  const event = eventOf(x, eventRank);
  const n = sizeOf(event);
  return reshape(eye(n, x.dtype), [n, ...batchOf(x, eventRank).map(() => 1), ...event]);
}

/** Columns G₁ … G_k, each an event, along a new leading axis: [k, ...batch, ...event]. */
export function columnsOf(diffusion: Diffusion, x: Tensor, eventRank: number): Tensor {
  const { kind, value } = diffusion;
  if (kind === "matrix") {
    const [n, k] = value.shape.slice(-2);
    const whole = expand(value, [...batchOf(x, eventRank), n, k]);
    return reshape(lastFirst(whole), [k, ...x.shape]);
  }
  const size = kind === "scalar" ? alignToEvent(value, eventRank) : value;
  return expand(mul(units(x, eventRank), size), [sizeOf(eventOf(x, eventRank)), ...x.shape]);
}

/** The matrix […, n, k] of columns [k, …, ...event]. */
export const matrixOf = (columns: Tensor, eventRank: number): Tensor =>
  firstLast(
    reshape(columns, [...batchOf(columns, eventRank), sizeOf(eventOf(columns, eventRank))]),
  );

/** (GGᵀ)ᵢᵢ = Σₖ Gᵢₖ², to broadcast against an event. */
export function rowSquares(diffusion: Diffusion, event: Shape): Tensor {
  const { kind, value } = diffusion;
  if (kind === "scalar") return square(alignToEvent(value, event.length));
  if (kind === "diagonal") return square(value);
  return reshape(sum(square(value), -1), [...value.shape.slice(0, -2), ...event]);
}

/** G as a matrix […, n, k], whatever its kind: its batch axes are those of its value. */
export function denseDiffusion({ kind, value }: Diffusion, event: Shape): Tensor {
  if (kind === "matrix") return value;
  const n = sizeOf(event);
  const sizes = kind === "scalar" ? alignToEvent(value, 1) : flattenEvent(value, event.length);
  return mul(expandDims(sizes, -1), eye(n, value.dtype));
}

/** G w, the sum of the noise of all columns, as an event. `w` has one number per column. */
export function applyPlainDiffusion(g: Diffusion, w: Tensor, event: Shape): Tensor {
  if (g.kind === "scalar") return mul(w, alignToEvent(g.value, event.length));
  if (g.kind === "diagonal") return mul(w, g.value);
  const moved = matvec(g.value, w);
  return reshape(moved, [...moved.shape.slice(0, -1), ...event]);
}

/** Gᵀ u, one number per column. */
export const applyPlainTransposed = (g: Diffusion, u: Tensor, event: Shape): Tensor =>
  g.kind === "matrix"
    ? matvec(transpose(g.value), flattenEvent(u, event.length))
    : applyPlainDiffusion(g, u, event);

/** G Gᵀ u */
export const applyPlainCovariance = (g: Diffusion, u: Tensor, event: Shape): Tensor =>
  applyPlainDiffusion(g, applyPlainTransposed(g, u, event), event);

/** J G for the linear map `apply` = J·, which acts on each coordinate alone if `coordinatewise`. */
export function movedDiffusion(
  diffusion: Diffusion,
  x: Tensor,
  eventRank: number,
  coordinatewise: boolean,
  apply: (v: Tensor) => Tensor,
): Diffusion {
  if (diffusion.kind !== "matrix" && coordinatewise) {
    const { kind, value } = diffusion;
    return {
      kind: "diagonal",
      value: apply(expand(kind === "scalar" ? alignToEvent(value, eventRank) : value, x.shape)),
    };
  }
  return { kind: "matrix", value: matrixOf(apply(columnsOf(diffusion, x, eventRank)), eventRank) };
}

/**
 * A x, Tr A and xᵀA x for A = GGᵀ and a vector x; the last two have an axis of size 1 for the
 * event.
 */
export function formsOf(
  diffusion: Diffusion,
  x: Tensor,
): { readonly ax: Tensor; readonly trace: Tensor; readonly xax: Tensor } {
  const { kind, value } = diffusion;
  const n = x.shape.at(-1) as number;
  const dotted = (a: Tensor, b: Tensor): Tensor => expandDims(sumEvent(mul(a, b), 1), -1);
  if (kind === "matrix") {
    const projected = matmul(transpose(value), expandDims(x, -1));
    const ax = matmul(value, projected);
    return {
      ax: reshape(ax, ax.shape.slice(0, -1)),
      trace: expandDims(sum(square(value), [-2, -1]), -1),
      xax: sum(square(projected), -2),
    };
  }
  const squares = rowSquares(diffusion, [n]);
  const ax = mul(squares, x);
  return {
    ax,
    trace: kind === "scalar" ? mul(squares, n) : sum(squares, -1, { keepDims: true }),
    xax: dotted(ax, x),
  };
}
