/**
 * Derivatives of any order, from one rule per primitive: its vector–Jacobian product, written in
 * primitives.
 *
 *   vjp       u ↦ uᵀJ           a walk backwards through the graph
 *   jvp       v ↦ Jv            the vjp of u ↦ uᵀJ, which is linear in u: its own transpose is J
 *   hvp       v ↦ Hv            the jvp of the gradient
 *
 * Points, directions and results are trees of tensors: one tensor, or lists and objects of them.
 * Per-sample functions take the event on the last axis and any batch before it; then the gradient
 * of their sum has the gradients of all samples, and new leading axes are batch axes.
 */
import {
  backward,
  directionsOf,
  isolate,
  orZero,
  paired,
  pushForward,
  resultOf,
} from "./backward.ts";
import { sum } from "./broadcast.ts";
import { fail } from "./error.ts";
import { describe, isFloat, showShape } from "./ndarray.ts";
import { onesLike, Tensor } from "./tensor.ts";
import { withLeaves } from "./tree.ts";

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
      `${name}: the function returned ` +
        `${y instanceof Tensor ? `a tensor of ${y.dtype}` : describe(y)}`,
      "return a float scalar",
    );
  if (y.shape.length !== 0)
    fail(
      "shape",
      `${name}: the function returned shape ${showShape(y.shape)}, not a scalar`,
      "sum it, or use vjp",
    );
  return [y, withLeaves(x, orZero(backward([y], [onesLike(y)], leaves), leaves)) as T];
}

/**
 * Returns a function that computes the value and the gradient of a scalar function with respect to
 * its first argument, a tree of tensors.
 */
export function valueAndGrad<T, R extends readonly unknown[]>(
  f: (x: T, ...rest: R) => Tensor,
): (x: T, ...rest: R) => [Tensor, T] {
  return (x, ...rest) => pull("grad", f, x, ...rest);
}

/**
 * Returns the gradient of a scalar function with respect to its first argument, a tree of tensors.
 */
export function grad<T, R extends readonly unknown[]>(
  f: (x: T, ...rest: R) => Tensor,
): (x: T, ...rest: R) => T {
  return (x, ...rest) => pull("grad", f, x, ...rest)[1];
}

/** Reverse-mode differentiation: y = f(x), and the function from cotangents u of y to uᵀJ. */
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
        "give a cotangent with the structure and the shapes of the result",
      );
      return withLeaves(x, orZero(backward(outputs, cotangents, leaves), leaves)) as X;
    },
  ];
}

function along<X, Y>(name: string, f: (x: X) => Y, x: X, v: X): [Y, Y] {
  const { y, outputs, tangents } = pushForward(name, f, x, directionsOf(name, x, v));
  return [y, withLeaves(y, orZero(tangents, outputs)) as Y];
}

/** Forward-mode differentiation: y = f(x), and its derivative J·v along v. */
export const jvp = <X, Y>(f: (x: X) => Y, x: X, v: X): [Y, Y] => along("jvp", f, x, v);

/** The gradient of each sample; `name` is the name of the derivative in errors. */
export const eachGradient =
  <X>(name: string, f: (x: X) => Tensor): ((x: X) => X) =>
  (x) =>
    pull(name, (z: X) => sum(f(z)), x)[1];

/** Returns the per-sample gradients of a function that maps […, n], or a tree of such, to […]. */
export const gradEach = <X = Tensor>(f: (x: X) => Tensor): ((x: X) => X) =>
  eachGradient("gradEach", f);

/**
 * The Hessian-vector product H·v of a per-sample scalar function f: […, n] → […]. For trees, H has
 * a block per pair of leaves.
 */
export const hvp = <X>(f: (x: X) => Tensor, x: X, v: X): X =>
  along("hvp", eachGradient("hvp", f), x, v)[1];
