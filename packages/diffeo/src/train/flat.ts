/** Conversion between a tree of parameters and one flat vector, in the order of the tree. */
import {
  concat,
  isNdArray,
  leavesOf,
  mapTree,
  reshape,
  type Shape,
  sizeOf,
  slice,
  type Tensor,
  type Tree,
} from "../graph/index.ts";

export { flatten } from "../host/flat.ts";

/** Splits a flat vector into a tree with the structure of `like`. */
export function unflatten(flat: Tensor, like: unknown): Tree<Tensor> {
  let at = 0;
  return mapTree<{ readonly shape: Shape }, Tensor>(
    like,
    ({ shape }) => {
      const size = sizeOf(shape);
      at += size;
      return reshape(slice(flat, [at - size, at]), shape);
    },
    isNdArray,
  );
}

/** Joins a tree of tensors into one flat vector. */
export const flattenTensors = (tree: Tree<Tensor>): Tensor =>
  concat(
    leavesOf(tree).map((t) => reshape(t, [-1])),
    0,
  );
