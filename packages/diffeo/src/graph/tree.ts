/**
 * Trees: nested objects and arrays whose leaves are tensors, or values that a predicate selects.
 * Object keys are visited in insertion order, so flattening is deterministic and reversible.
 */
import { fail } from "./error.ts";
import { describe, isNdArray } from "./ndarray.ts";
import { Tensor } from "./tensor.ts";

/** A leaf, or a list or an object of trees. */
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
    return Object.fromEntries(
      Object.entries(tree).map(([key, child]) => [key, mapTree(child, f, isLeaf, below(key))]),
    );
  return fail(
    "type",
    `${path || "tree"}: ${describe(tree)} is neither a leaf nor a list or object of leaves`,
    "give a tree of leaves only",
  );
}

/** The leaves of a tree in order. */
export function leavesOf<L = Tensor>(
  tree: unknown,
  isLeaf: (value: unknown) => boolean = isTensor,
): L[] {
  const leaves: L[] = [];
  mapTree<L, void>(tree, (leaf) => void leaves.push(leaf), isLeaf);
  return leaves;
}

/** Replaces the leaves of `tree` by new ones, in order. */
export function withLeaves<M>(
  tree: unknown,
  leaves: readonly M[],
  isLeaf: (value: unknown) => boolean = isTensor,
): Tree<M> {
  let next = 0;
  return mapTree<unknown, M>(tree, () => leaves[next++], isLeaf);
}

/** Whether a value is neither a list nor an object of a tree. */
const isEnd = (value: unknown): boolean =>
  typeof value !== "object" ||
  value === null ||
  isTensor(value) ||
  isNdArray(value) ||
  ArrayBuffer.isView(value);

/**
 * The tensors of a tree that a caller or a caller's function made; other values are errors, which
 * start with `complaint`.
 */
export function tensorsOf(
  tree: unknown,
  complaint: string,
  remedy: string,
): { path: string; tensor: Tensor }[] {
  const found: { path: string; tensor: Tensor }[] = [];
  const visit = (end: unknown, path: string): void => {
    if (!isTensor(end))
      fail("type", `${complaint} ${describe(end)}${path && `, at ${path}`}`, remedy);
    found.push({ path, tensor: end });
  };
  mapTree<unknown, void>(tree, visit, isEnd);
  return found;
}

/**
 * The leaves of a tree in the order of another tree, matched by key. `differs` is called if their
 * structures differ.
 */
export function leavesLike(
  like: unknown,
  tree: unknown,
  differs: (path: string) => never,
  path = "",
): Tensor[] {
  if (isEnd(like) || isEnd(tree)) return isTensor(like) && isTensor(tree) ? [tree] : differs(path);
  const [wanted, given] = [like, tree] as Record<string, unknown>[];
  const below = (key: string): string => (path === "" ? key : `${path}.${key}`);
  for (const key of Object.keys(given)) if (!Object.hasOwn(wanted, key)) differs(below(key));
  return Object.keys(wanted).flatMap((key) =>
    leavesLike(wanted[key], given[key], differs, below(key)),
  );
}
