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
      `${name}: the point contains no tensors`,
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
        "give every tensor the same batch axes; for derivatives of a loss with respect to " +
          "parameters use grad or hvp",
      );
  }
  return batch;
}

/**
 * Checks that a per-sample function keeps the batch; one that does not use its argument may omit
 * it.
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
      `${name}: the function maps shape ${showShape(from)} to ${showShape(shape)}, ` +
        `not to [${[...batch, sizes[i] ?? "m"].join(", ")}]`,
      `give a function from […, n] to […, ${sizes.length > 0 ? "n" : "m"}] for any leading ` +
        "axes; for a function of one number per sample, use grad or gradEach",
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

/** The type of a Jacobian: the tree of Y with each tensor replaced by the tree of X. */
export type Jacobian<X, Y> = Y extends Tensor ? X : { readonly [K in keyof Y]: Jacobian<X, Y[K]> };

/**
 * The dense Jacobian of a per-sample function f: […, n] → […, m], in the shape […, m, n].
 *
 * For trees it is a tree of Jacobians: `jacobian(f, x).p.q` is that of output `p` with respect to
 * input `q`. All inputs have the same batch axes, those before the last. f is called once per
 * input, with an additional leading axis.
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
 * The trace of the Jacobian of a per-sample function […, n] → […, n], or of trees of such. It is
 * exact without v; with v it is vᵀJv.
 */
export const traceJacobian = <X>(f: (x: X) => X, x: X, v?: X): Tensor =>
  divergence("traceJacobian", f, x, v);

/** The Laplacian Δf of a per-sample scalar function of […, n], or of a tree of such. */
export const laplacian = <X>(f: (x: X) => Tensor, x: X): Tensor =>
  divergence("laplacian", eachGradient("laplacian", f), x);
