/**
 * Trees: nested objects and arrays whose leaves are tensors (or whatever a predicate calls a leaf).
 * Object keys are visited in their own order, so that flattening is deterministic and reversible.
 */
import { Tensor } from "./tensor.ts";

export type Tree<L> = L | readonly Tree<L>[] | { readonly [key: string]: Tree<L> };

const isTensor = (value: unknown): value is Tensor => value instanceof Tensor;

/** Applies f to every leaf, with its path (`layers.0.w`), and keeps the structure. */
export function mapTree<L, M>(
  tree: unknown,
  f: (leaf: L, path: string) => M,
  isLeaf: (value: unknown) => boolean = isTensor,
  path = "",
): Tree<M> {
  if (isLeaf(tree)) return f(tree as L, path);
  const below = (key: string | number): string => (path === "" ? `${key}` : `${path}.${key}`);
  if (Array.isArray(tree)) return tree.map((child, i) => mapTree(child, f, isLeaf, below(i)));
  if (tree !== null && typeof tree === "object")
    return Object.fromEntries(Object.entries(tree).map(([key, child]) => [key, mapTree(child, f, isLeaf, below(key))]));
  throw new TypeError(`${path || "tree"}: ${String(tree)} is neither a leaf nor a list or object of leaves`);
}

/** Leaves in order. */
export function leavesOf<L = Tensor>(tree: unknown, isLeaf: (value: unknown) => boolean = isTensor): L[] {
  const leaves: L[] = [];
  mapTree<L, void>(tree, (leaf) => void leaves.push(leaf), isLeaf);
  return leaves;
}

/** The structure of `tree` with new leaves, taken in order. */
export function withLeaves<M>(
  tree: unknown,
  leaves: readonly M[],
  isLeaf: (value: unknown) => boolean = isTensor,
): Tree<M> {
  let next = 0;
  return mapTree<unknown, M>(tree, () => leaves[next++], isLeaf);
}
