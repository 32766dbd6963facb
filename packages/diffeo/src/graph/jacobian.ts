/**
 * Dense derivatives of functions of each sample: Jv for all unit vectors at once, along a new
 * leading axis.
 *   jacobian  J        traceJacobian  Tr J = Σᵢ eᵢᵀJeᵢ, or vᵀJv        laplacian  Δf = Tr ∇²f
 */
import { addAll, mul } from "./arithmetic.ts";
import { eachGradient } from "./autodiff.ts";
import { directionsOf, type Push, place, pointOf, pushForward } from "./backward.ts";
import { expand, sum } from "./broadcast.ts";
import { fail } from "./error.ts";
import { dot } from "./linalg.ts";
import { type Shape, sameShape, showShape } from "./ndarray.ts";
import { expandDims, reshape, transpose } from "./shape.ts";
import { fill, type Tensor } from "./tensor.ts";
import { leavesLike, withLeaves } from "./tree.ts";
import { eye } from "./value.ts";

/** The batch that all leaves of a point share: their axes before the last. */
function batchOf(leaves: readonly Tensor[], name: string): Shape {
  if (leaves.length === 0)
    fail(
      "usage",
      `${name}: the point holds no tensor`,
      "give a tensor, or a list or object of tensors",
    );
  const batch = leaves[0].shape.slice(0, -1);
  for (const { shape } of leaves) {
    if (shape.length === 0)
      fail(
        "shape",
        `${name}: a tensor of shape [] has no last axis to differentiate along`,
        "use expandDims, or grad",
      );
    if (!sameShape(shape.slice(0, -1), batch))
      fail(
        "shape",
        `${name}: shapes ${showShape(leaves[0].shape)} and ${showShape(shape)} differ before ` +
          "the last axis",
        "give every tensor the same batch; for the derivatives of a loss in its parameters " +
          "use grad or hvp",
      );
  }
  return batch;
}

/**
 * A function of each sample by itself keeps the batch; one that does not look at its argument may
 * leave it out.
 */
function requireBatch<Y>(
  name: string,
  { outputs, tangents }: Push<Y>,
  from: Shape,
  sizes: readonly number[],
): void {
  outputs.forEach(({ shape }, i) => {
    const batch = from.slice(0, -1);
    const size = sizes[i] ?? shape.at(-1);
    if (size !== undefined && (!tangents[i] || sameShape(shape, [...batch, size]))) return;
    fail(
      "shape",
      `${name}: the function takes shape ${showShape(from)} to ${showShape(shape)}, ` +
        `not to [${[...batch, sizes[i] ?? "m"].join(", ")}]`,
      `give one from […, n] to […, ${sizes.length > 0 ? "n" : "m"}] for any axes before the ` +
        "last; for a function of one number per sample, use grad or gradEach",
    );
  });
}

interface Columns<Y> extends Push<Y> {
  /** The unit vectors of the leaf's last axis, along a new leading axis: [n, …, n]. */
  readonly units: Tensor;
}

/**
 * J along all unit vectors of each leaf of x in turn: the tangents of an output are [n, …, m].
 * `sizes` are the m, if only those will do.
 */
function columns<X, Y>(
  name: string,
  f: (x: X) => Y,
  x: X,
  sizes: readonly number[] = [],
): Columns<Y>[] {
  const leaves = pointOf(x, name);
  const batch = batchOf(leaves, name);
  return leaves.map((leaf, i) => {
    const n = leaf.shape.at(-1) as number;
    const units = expand(reshape(eye(n, leaf.dtype), [n, ...batch.map(() => 1), n]), [
      n,
      ...leaf.shape,
    ]);
    const points = withLeaves(
      x,
      leaves.map((t) => expand(expandDims(t, 0), [n, ...t.shape])),
    ) as X;
    const swept = pushForward(
      name,
      f,
      points,
      leaves.map((_, k) => (k === i ? units : undefined)),
    );
    requireBatch(name, swept, units.shape, sizes);
    return { ...swept, units };
  });
}

/** The tree of Y with, in place of each tensor, the tree of X. */
export type Jacobian<X, Y> = Y extends Tensor ? X : { readonly [K in keyof Y]: Jacobian<X, Y[K]> };

/**
 * Dense Jacobian of a per-sample function: f maps […, n] to […, m]; the result is […, m, n].
 *
 * Between trees it is a tree of such: `jacobian(f, x).p.q` is that of output `p` in input `q`. All
 * inputs have one batch, the axes before the last, and f is called with one more leading axis, once
 * for each of them.
 */
export function jacobian<X, Y>(f: (x: X) => Y, x: X): Jacobian<X, Y> {
  const swept = columns("jacobian", f, x);
  const dense = ({ units, outputs, tangents }: Columns<Y>, j: number): Tensor => {
    const m = outputs[j].shape.at(-1) as number;
    const slopes = tangents[j] ?? fill([...units.shape.slice(0, -1), m], 0, outputs[j].dtype);
    return transpose(slopes, [...slopes.shape.keys()].slice(1).concat(0));
  };
  const [{ y, outputs }] = swept;
  return withLeaves(
    y,
    outputs.map((_, j) =>
      withLeaves(
        x,
        swept.map((column) => dense(column, j)),
      ),
    ),
  ) as Jacobian<X, Y>;
}

function divergence<X>(name: string, f: (x: X) => X, x: X, v?: X): Tensor {
  const leaves = pointOf(x, name);
  const batch = batchOf(leaves, name);
  const field = (z: X): Tensor[] =>
    leavesLike(z, f(z), (path) =>
      fail(
        "shape",
        `${name}: the function's result and its argument differ in structure${place(path)}`,
        "give a function from […, n] to […, n]",
      ),
    );
  const sizes = leaves.map((t) => t.shape.at(-1) as number);
  const exact = (): (Tensor | undefined)[] =>
    columns(name, field, x, sizes).map(({ units, tangents }, i) => {
      const slopes = tangents[i];
      return slopes && sum(mul(units, slopes), [0, -1]);
    });
  const sampled = (directions: readonly Tensor[]): (Tensor | undefined)[] => {
    const pushed = pushForward(name, field, x, directions);
    requireBatch(name, pushed, leaves[0].shape, sizes);
    return pushed.tangents.map((t, i) => t && dot(directions[i], t));
  };
  const terms = v === undefined ? exact() : sampled(directionsOf(name, x, v));
  const known = terms.filter((t) => t !== undefined);
  return known.length > 0 ? addAll(known) : fill(batch, 0, leaves[0].dtype);
}

/**
 * Tr J of a per-sample function […, n] → […, n], or of trees of such: exact without v, vᵀJv with
 * it.
 */
export const traceJacobian = <X>(f: (x: X) => X, x: X, v?: X): Tensor =>
  divergence("traceJacobian", f, x, v);

/** Δf of a per-sample scalar function of […, n], or of a tree of such. */
export const laplacian = <X>(f: (x: X) => Tensor, x: X): Tensor =>
  divergence("laplacian", eachGradient("laplacian", f), x);
