/**
 * Derivatives of any order, all from one rule a primitive: its vector–Jacobian product, written in primitives.
 *
 *   vjp       u ↦ uᵀJ           a walk backwards through the graph
 *   jvp       v ↦ Jv            the vjp of u ↦ uᵀJ, which is linear in u: its own transpose is J
 *   hvp       v ↦ Hv            the jvp of the gradient
 *   jacobian  J, dense          Jv for all unit vectors at once, along a new leading axis
 *
 * Points, directions and results are trees of tensors: one tensor, or lists and objects of them.
 * Per-sample functions take the event on the last axis and any batch before it; then the gradient of their sum is
 * the gradient of each, and a new leading axis is only more batch.
 */
import { add, addAll, mul } from "./elementwise.ts";
import { fail } from "./error.ts";
import { dot } from "./linalg.ts";
import { describe, isFloat, type Shape, sameShape, showShape } from "./ndarray.ts";
import { sum } from "./reduce.ts";
import { expand, expandDims, reshape, transpose } from "./shape.ts";
import { fill, onesLike, Tensor, zerosLike } from "./tensor.ts";
import { topological } from "./topological.ts";
import { leavesLike, mapTree, tensorsOf, withLeaves } from "./tree.ts";
import { eye, variable } from "./value.ts";

/** Cotangents of `wrt` given cotangents of `outputs`; `undefined` where an output does not depend on it. */
export function backward(
  outputs: readonly Tensor[],
  cotangents: readonly (Tensor | undefined)[],
  wrt: readonly Tensor[],
): (Tensor | undefined)[] {
  const order = topological(outputs);
  const targets = new Set(wrt);
  const active = new Set<Tensor>();
  for (const node of order) if (targets.has(node) || node.inputs.some((t) => active.has(t))) active.add(node);

  const gradient = new Map<Tensor, Tensor>();
  const accumulate = (t: Tensor, g: Tensor): void => {
    const sofar = gradient.get(t);
    gradient.set(t, sofar ? add(sofar, g) : g);
  };
  outputs.forEach((y, i) => {
    const g = cotangents[i];
    if (g && active.has(y)) accumulate(y, g);
  });
  for (let k = order.length - 1; k >= 0; k--) {
    const node = order[k];
    const g = gradient.get(node);
    const rule = node.op.vjp;
    if (!g || !rule || !active.has(node)) continue;
    node.inputs.forEach((t, i) => {
      if (!active.has(t) || !isFloat(t.dtype)) return;
      const share = rule(g, node, i);
      if (share) accumulate(t, share);
    });
  }
  return wrt.map((t) => gradient.get(t));
}

/** The tensors of a point x, for the derivative that is called `name`. */
const pointOf = (x: unknown, name: string): Tensor[] =>
  tensorsOf(
    x,
    `${name}: cannot differentiate with respect to`,
    "call it inside compile or evaluate, which make tensors of numbers and arrays, or make them with constant",
  ).map(({ tensor }) => tensor);

/** What a function returned, as tensors. */
const resultOf = (y: unknown, name: string): Tensor[] =>
  tensorsOf(y, `${name}: the function returned`, "return a tensor, or a list or object of tensors").map(
    ({ tensor }) => tensor,
  );

const isolate = <T>(x: T, name: string): { tree: T; leaves: Tensor[] } => {
  const leaves = pointOf(x, name).map((t) => variable(t));
  for (const t of leaves)
    if (!isFloat(t.dtype))
      fail(
        "type",
        `${name}: cannot differentiate with respect to a ${t.dtype} tensor`,
        "cast it to a float type, or pass it as another argument",
      );
  return { tree: withLeaves(x, leaves) as T, leaves };
};

const orZero = (gradients: readonly (Tensor | undefined)[], like: readonly Tensor[]): Tensor[] =>
  gradients.map((g, i) => g ?? zerosLike(like[i]));

function pull<T, R extends readonly unknown[]>(
  name: string,
  f: (x: T, ...rest: R) => Tensor,
  x: T,
  ...rest: R
): [Tensor, T] {
  const { tree, leaves } = isolate(x, name);
  const y = f(tree, ...rest);
  if (!(y instanceof Tensor) || !isFloat(y.dtype))
    fail(
      "type",
      `${name}: the function returned ${y instanceof Tensor ? `a tensor of ${y.dtype}` : describe(y)}`,
      "return a float scalar",
    );
  if (y.shape.length !== 0)
    fail("shape", `${name}: the function returned shape ${showShape(y.shape)}, not a scalar`, "sum it, or use vjp");
  return [y, withLeaves(x, orZero(backward([y], [onesLike(y)], leaves), leaves)) as T];
}

/** Value and gradient of a scalar function in its first argument, a tree of tensors. */
export function valueAndGrad<T, R extends readonly unknown[]>(
  f: (x: T, ...rest: R) => Tensor,
): (x: T, ...rest: R) => [Tensor, T] {
  return (x, ...rest) => pull("grad", f, x, ...rest);
}

/** Gradient of a scalar function in its first argument, a tree of tensors. */
export function grad<T, R extends readonly unknown[]>(f: (x: T, ...rest: R) => Tensor): (x: T, ...rest: R) => T {
  return (x, ...rest) => pull("grad", f, x, ...rest)[1];
}

const place = (path: string): string => path && ` at ${path}`;

/** The leaves of `given` in the order of those of `like`, found by key, each of the same shape. */
function paired(like: unknown, given: unknown, what: string, partner: string, remedy: string): Tensor[] {
  const leaves = leavesLike(like, given, (path) =>
    fail("shape", `${what} and ${partner} differ in structure${place(path)}`, remedy),
  );
  let next = 0;
  mapTree<Tensor, void>(like, ({ shape: wanted }, path) => {
    const { shape } = leaves[next++];
    if (!sameShape(shape, wanted))
      fail("shape", `${what} has shape ${showShape(shape)}${place(path)}, ${partner} ${showShape(wanted)}`, remedy);
  });
  return leaves;
}

function directionsOf(name: string, x: unknown, v: unknown): Tensor[] {
  pointOf(x, name);
  return paired(
    x,
    v,
    `${name}: the direction`,
    "the point",
    "a direction says how far every number of the point moves: give it the structure and the shapes of the point",
  );
}

/** y = f(x), and the map from cotangents of y to cotangents of x. */
export function vjp<X, Y>(f: (x: X) => Y, x: X): [Y, (u: Y) => X] {
  const { tree, leaves } = isolate(x, "vjp");
  const y = f(tree);
  const outputs = resultOf(y, "vjp");
  return [
    y,
    (u) => {
      const cotangents = paired(
        y,
        u,
        "vjp: the cotangent",
        "the result",
        "a cotangent weighs every number of the result: give it the structure and the shapes of the result",
      );
      return withLeaves(x, orZero(backward(outputs, cotangents, leaves), leaves)) as X;
    },
  ];
}

interface Push<Y> {
  readonly y: Y;
  readonly outputs: readonly Tensor[];
  /** The change of each output; `undefined` where it does not depend on what moves. */
  readonly tangents: readonly (Tensor | undefined)[];
}

/** y = f(x) and its change along one direction a leaf of x; `undefined` is a leaf that stays. */
function push<X, Y>(name: string, f: (x: X) => Y, x: X, directions: readonly (Tensor | undefined)[]): Push<Y> {
  const { tree, leaves } = isolate(x, name);
  const y = f(tree);
  const outputs = resultOf(y, name);
  // u ↦ uᵀJ is linear in u; u itself cancels, so any value will do.
  const u = outputs.map((t) => variable(zerosLike(t)));
  const pulled = backward(outputs, u, leaves);
  const known = pulled.flatMap((p, i) => {
    const d = directions[i];
    return p && d ? [{ p, d }] : [];
  });
  const tangents = backward(
    known.map(({ p }) => p),
    known.map(({ d }) => d),
    u,
  );
  return { y, outputs, tangents };
}

function along<X, Y>(name: string, f: (x: X) => Y, x: X, v: X): [Y, Y] {
  const { y, outputs, tangents } = push(name, f, x, directionsOf(name, x, v));
  return [y, withLeaves(y, orZero(tangents, outputs)) as Y];
}

/** y = f(x) and its change J·v along v. */
export const jvp = <X, Y>(f: (x: X) => Y, x: X, v: X): [Y, Y] => along("jvp", f, x, v);

/** The gradient of each sample, for the derivative that is called `name`. */
const eachGradient =
  <X>(name: string, f: (x: X) => Tensor): ((x: X) => X) =>
  (x) =>
    pull(name, (z: X) => sum(f(z)), x)[1];

/** Gradient of a per-sample scalar function: f maps […, n], or a tree of such, to […]. */
export const gradEach = <X = Tensor>(f: (x: X) => Tensor): ((x: X) => X) => eachGradient("gradEach", f);

/** H·v for a per-sample scalar function f: […, n] → […]. Of trees, H has a block for each two leaves. */
export const hvp = <X>(f: (x: X) => Tensor, x: X, v: X): X => along("hvp", eachGradient("hvp", f), x, v)[1];

/** The batch that all leaves of a point share: their axes before the last. */
function batchOf(leaves: readonly Tensor[], name: string): Shape {
  if (leaves.length === 0)
    fail("usage", `${name}: the point holds no tensor`, "give a tensor, or a list or object of tensors");
  const batch = leaves[0].shape.slice(0, -1);
  for (const { shape } of leaves) {
    if (shape.length === 0)
      fail("shape", `${name}: a tensor of shape [] has no last axis to differentiate along`, "use expandDims, or grad");
    if (!sameShape(shape.slice(0, -1), batch))
      fail(
        "shape",
        `${name}: shapes ${showShape(leaves[0].shape)} and ${showShape(shape)} differ before the last axis`,
        "give every tensor the same batch; for the derivatives of a loss in its parameters use grad or hvp",
      );
  }
  return batch;
}

/** A function of each sample by itself keeps the batch; one that does not look at its argument may leave it out. */
function requireBatch<Y>(name: string, { outputs, tangents }: Push<Y>, from: Shape, sizes: readonly number[]): void {
  outputs.forEach(({ shape }, i) => {
    const batch = from.slice(0, -1);
    const size = sizes[i] ?? shape.at(-1);
    if (size !== undefined && (!tangents[i] || sameShape(shape, [...batch, size]))) return;
    fail(
      "shape",
      `${name}: the function takes shape ${showShape(from)} to ${showShape(shape)}, not to [${[...batch, sizes[i] ?? "m"].join(", ")}]`,
      `give one from […, n] to […, ${sizes.length > 0 ? "n" : "m"}] for any axes before the last; of one number a sample, take grad or gradEach`,
    );
  });
}

interface Columns<Y> extends Push<Y> {
  /** The unit vectors of the leaf's last axis, along a new leading axis: [n, …, n]. */
  readonly units: Tensor;
}

/**
 * J along all unit vectors of each leaf of x in turn: the tangents of an output are [n, …, m]. `sizes` are the m, if only
 * those will do.
 */
function columns<X, Y>(name: string, f: (x: X) => Y, x: X, sizes: readonly number[] = []): Columns<Y>[] {
  const leaves = pointOf(x, name);
  const batch = batchOf(leaves, name);
  return leaves.map((leaf, i) => {
    const n = leaf.shape.at(-1) as number;
    const units = expand(reshape(eye(n, leaf.dtype), [n, ...batch.map(() => 1), n]), [n, ...leaf.shape]);
    const points = withLeaves(
      x,
      leaves.map((t) => expand(expandDims(t, 0), [n, ...t.shape])),
    ) as X;
    const swept = push(
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
 * Between trees it is a tree of such: `jacobian(f, x).p.q` is that of output `p` in input `q`. All inputs have one batch,
 * the axes before the last, and f is called with one more leading axis, once for each of them.
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
    const pushed = push(name, field, x, directions);
    requireBatch(name, pushed, leaves[0].shape, sizes);
    return pushed.tangents.map((t, i) => t && dot(directions[i], t));
  };
  const terms = v === undefined ? exact() : sampled(directionsOf(name, x, v));
  const known = terms.filter((t) => t !== undefined);
  return known.length > 0 ? addAll(known) : fill(batch, 0, leaves[0].dtype);
}

/** Tr J of a per-sample function […, n] → […, n], or of trees of such: exact without v, vᵀJv with it. */
export const traceJacobian = <X>(f: (x: X) => X, x: X, v?: X): Tensor => divergence("traceJacobian", f, x, v);

/** Δf of a per-sample scalar function of […, n], or of a tree of such. */
export const laplacian = <X>(f: (x: X) => Tensor, x: X): Tensor =>
  divergence("laplacian", eachGradient("laplacian", f), x);
