/**
 * Derivatives of any order, all from one rule a primitive: its vector–Jacobian product, written in primitives.
 *
 *   vjp       u ↦ uᵀJ           a walk backwards through the graph
 *   jvp       v ↦ Jv            the vjp of u ↦ uᵀJ, which is linear in u: its own transpose is J
 *   hvp       v ↦ Hv            the jvp of the gradient
 *   jacobian  J, dense          Jv for all unit vectors at once, along a new leading axis
 *
 * Per-sample functions take the event on the last axis and any batch before it; then the gradient of their sum is
 * the gradient of each, and a new leading axis is only more batch.
 */
import { add, mul } from "./elementwise.ts";
import { fail } from "./error.ts";
import { dot } from "./linalg.ts";
import { isFloat, sameShape, showShape } from "./ndarray.ts";
import { sum } from "./reduce.ts";
import { expand, expandDims, reshape, transpose } from "./shape.ts";
import { onesLike, Tensor, zerosLike } from "./tensor.ts";
import { topological } from "./topological.ts";
import { leavesOf, withLeaves } from "./tree.ts";
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

const isolate = <T>(x: T): { tree: T; leaves: Tensor[] } => {
  const leaves = leavesOf(x).map((t) => variable(t));
  for (const t of leaves)
    if (!isFloat(t.dtype))
      fail(
        "type",
        `cannot differentiate with respect to a ${t.dtype} tensor`,
        "cast it to a float type, or pass it as another argument",
      );
  return { tree: withLeaves(x, leaves) as T, leaves };
};

const orZero = (gradients: readonly (Tensor | undefined)[], like: readonly Tensor[]): Tensor[] =>
  gradients.map((g, i) => g ?? zerosLike(like[i]));

/** Value and gradient of a scalar function in its first argument, a tree of tensors. */
export function valueAndGrad<T, R extends readonly unknown[]>(
  f: (x: T, ...rest: R) => Tensor,
): (x: T, ...rest: R) => [Tensor, T] {
  return (x, ...rest) => {
    const { tree, leaves } = isolate(x);
    const y = f(tree, ...rest);
    if (!(y instanceof Tensor) || !isFloat(y.dtype))
      fail(
        "type",
        `grad: the function returned ${y instanceof Tensor ? `a tensor of ${y.dtype}` : typeof y}`,
        "return a float scalar",
      );
    if (y.shape.length !== 0)
      fail("shape", `grad: the function returned shape ${showShape(y.shape)}, not a scalar`, "sum it, or use vjp");
    return [y, withLeaves(x, orZero(backward([y], [onesLike(y)], leaves), leaves)) as T];
  };
}

/** Gradient of a scalar function in its first argument, a tree of tensors. */
export function grad<T, R extends readonly unknown[]>(f: (x: T, ...rest: R) => Tensor): (x: T, ...rest: R) => T {
  const both = valueAndGrad(f);
  return (x, ...rest) => both(x, ...rest)[1];
}

/** Every direction needs the input it moves, every cotangent its output, in the same shape. */
function requirePairs(given: readonly Tensor[], of: readonly Tensor[], what: string, partner: string): void {
  for (let i = 0; i < Math.max(given.length, of.length); i++) {
    if (given[i] && of[i] && sameShape(given[i].shape, of[i].shape)) continue;
    const shape = (t: Tensor | undefined): string => (t ? `has shape ${showShape(t.shape)}` : "is missing");
    fail(
      "shape",
      `${what} ${i} ${shape(given[i])}, its ${partner} ${shape(of[i])}`,
      `give one an ${partner}, of its shape`,
    );
  }
}

/** y = f(x), and the map from cotangents of y to cotangents of x. */
export function vjp<X, Y>(f: (x: X) => Y, x: X): [Y, (u: Y) => X] {
  const { tree, leaves } = isolate(x);
  const y = f(tree);
  const outputs = leavesOf(y);
  return [
    y,
    (u) => {
      const cotangents = leavesOf(u);
      requirePairs(cotangents, outputs, "vjp: cotangent", "output");
      return withLeaves(x, orZero(backward(outputs, cotangents, leaves), leaves)) as X;
    },
  ];
}

/** y = f(x) and its change J·v along v. */
export function jvp<X, Y>(f: (x: X) => Y, x: X, v: X): [Y, Y] {
  const { tree, leaves } = isolate(x);
  const y = f(tree);
  const outputs = leavesOf(y);
  const directions = leavesOf(v);
  requirePairs(directions, leaves, "jvp: direction", "input");
  // u ↦ uᵀJ is linear in u; u itself cancels, so any value will do.
  const u = outputs.map((t) => variable(zerosLike(t)));
  const pulled = backward(outputs, u, leaves);
  const known = pulled.flatMap((p, i) => (p ? [{ p, d: directions[i] }] : []));
  const tangents = backward(
    known.map(({ p }) => p),
    known.map(({ d }) => d),
    u,
  );
  return [y, withLeaves(y, orZero(tangents, outputs)) as Y];
}

/** Gradient of a per-sample scalar function: f maps […, n] to […]. */
export const gradEach = (f: (x: Tensor) => Tensor): ((x: Tensor) => Tensor) => grad((x: Tensor) => sum(f(x)));

/** H·v for a per-sample scalar function f: […, n] → […]. */
export const hvp = (f: (x: Tensor) => Tensor, x: Tensor, v: Tensor): Tensor => jvp(gradEach(f), x, v)[1];

/** x and the unit vectors along a new leading axis: [n, …, n]. */
function alongUnits(x: Tensor): [Tensor, Tensor] {
  if (x.shape.length === 0)
    fail("shape", "jacobian: a tensor of shape [] has no last axis to differentiate along", "use expandDims, or grad");
  const n = x.shape.at(-1) as number;
  const wide = [n, ...x.shape];
  const units = reshape(eye(n, x.dtype), [n, ...x.shape.slice(1).map(() => 1), n]);
  return [expand(expandDims(x, 0), wide), expand(units, wide)];
}

/** Dense Jacobian of a per-sample function: f maps […, n] to […, m]; the result is […, m, n]. */
export function jacobian(f: (x: Tensor) => Tensor, x: Tensor): Tensor {
  const [points, units] = alongUnits(x);
  const [, slopes] = jvp(f, points, units);
  // A function that does not look at its argument may have left out the batch.
  const columns = expand(slopes, [...points.shape.slice(0, -1), slopes.shape.at(-1) as number]);
  const rank = columns.shape.length;
  return transpose(columns, [...Array(rank - 1).keys()].map((i) => i + 1).concat(0));
}

/** Tr J of a per-sample function […, n] → […, n]: exact without v, vᵀJv with it. */
export function traceJacobian(f: (x: Tensor) => Tensor, x: Tensor, v?: Tensor): Tensor {
  if (v) return dot(v, jvp(f, x, v)[1]);
  const [points, units] = alongUnits(x);
  return sum(mul(units, jvp(f, points, units)[1]), [0, -1]);
}

/** Δf of a per-sample scalar function. */
export const laplacian = (f: (x: Tensor) => Tensor, x: Tensor): Tensor => traceJacobian(gradEach(f), x);
