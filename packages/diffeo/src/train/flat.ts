/**
 * A tree of parameters as one flat vector and back. The order is that of the tree, so that files
 * and graphs agree.
 */
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

/** The tree of `like`, cut out of a flat vector. */
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

/** A tree of tensors as one flat vector. */
export const flattenTensors = (tree: Tree<Tensor>): Tensor =>
  concat(
    leavesOf(tree).map((t) => reshape(t, [-1])),
    0,
  );
