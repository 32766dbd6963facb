/**
 * The two passes from which all derivatives are made:
 *   backward  u ↦ uᵀJ   backwards through the graph, by the rule of each primitive
 *   push      v ↦ Jv    the backward walk of u ↦ uᵀJ, which is linear in u: its own transpose is J
 */
import { add } from "./arithmetic.ts";
import { fail } from "./error.ts";
import { isFloat, sameShape, showShape } from "./ndarray.ts";
import { type Tensor, zerosLike } from "./tensor.ts";
import { topological } from "./topological.ts";
import { leavesLike, mapTree, tensorsOf, withLeaves } from "./tree.ts";
import { variable } from "./value.ts";

/** Cotangents of `wrt` given cotangents of `outputs`; undefined if no output depends on it. */
export function backward(
  outputs: readonly Tensor[],
  cotangents: readonly (Tensor | undefined)[],
  wrt: readonly Tensor[],
): (Tensor | undefined)[] {
  const order = topological(outputs);
  const targets = new Set(wrt);
  const active = new Set<Tensor>();
  for (const node of order)
    if (targets.has(node) || node.inputs.some((t) => active.has(t))) active.add(node);

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

/** The tensors of a point x; `name` is the name of the derivative in errors. */
export const pointOf = (x: unknown, name: string): Tensor[] =>
  tensorsOf(
    x,
    `${name}: cannot differentiate with respect to`,
    "call it inside compile or evaluate, which convert numbers and arrays to tensors, or use " +
      "constant",
  ).map(({ tensor }) => tensor);

/** The result of a function, as tensors. */
export const resultOf = (y: unknown, name: string): Tensor[] =>
  tensorsOf(
    y,
    `${name}: the function returned`,
    "return a tensor, or a list or object of tensors",
  ).map(({ tensor }) => tensor);

export const isolate = <T>(x: T, name: string): { tree: T; leaves: Tensor[] } => {
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

export const orZero = (
  gradients: readonly (Tensor | undefined)[],
  like: readonly Tensor[],
): Tensor[] => gradients.map((g, i) => g ?? zerosLike(like[i]));

export const place = (path: string): string => path && ` at ${path}`;

/** The leaves of `given` in the order of `like`, matched by key, with the same shapes. */
export function paired(
  like: unknown,
  given: unknown,
  what: string,
  partner: string,
  remedy: string,
): Tensor[] {
  const leaves = leavesLike(like, given, (path) =>
    fail("shape", `${what} and ${partner} differ in structure${place(path)}`, remedy),
  );
  let next = 0;
  mapTree<Tensor, void>(like, ({ shape: wanted }, path) => {
    const { shape } = leaves[next++];
    if (!sameShape(shape, wanted))
      fail(
        "shape",
        `${what} has shape ${showShape(shape)}${place(path)}, ${partner} ${showShape(wanted)}`,
        remedy,
      );
  });
  return leaves;
}

export function directionsOf(name: string, x: unknown, v: unknown): Tensor[] {
  pointOf(x, name);
  return paired(
    x,
    v,
    `${name}: the direction`,
    "the point",
    "give a direction with the structure and the shapes of the point",
  );
}

export interface Push<Y> {
  readonly y: Y;
  readonly outputs: readonly Tensor[];
  /** The derivative of each output; undefined if it does not depend on the moved leaves. */
  readonly tangents: readonly (Tensor | undefined)[];
}

/**
 * y = f(x) and its derivative along one direction per leaf of x; undefined for leaves that are
 * constant.
 */
export function pushForward<X, Y>(
  name: string,
  f: (x: X) => Y,
  x: X,
  directions: readonly (Tensor | undefined)[],
): Push<Y> {
  const { tree, leaves } = isolate(x, name);
  const y = f(tree);
  const outputs = resultOf(y, name);
  // u ↦ uᵀJ is linear in u; u itself cancels, so it can have any value.
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
