/** A tree of parameters as one flat vector and back. The order is that of the tree, so that files and graphs agree. */
import {
  concat,
  fail,
  isNdArray,
  leavesOf,
  mapTree,
  type NdArray,
  reshape,
  type Shape,
  sizeOf,
  slice,
  type Tensor,
  type Tree,
} from "../graph/index.ts";

/** All numbers of a tree of arrays. */
export function flatten(tree: unknown): Float32Array {
  const arrays = leavesOf<NdArray>(tree, isNdArray);
  const out = new Float32Array(arrays.reduce((n, a) => n + a.data.length, 0));
  let at = 0;
  for (const a of arrays) {
    if (!(a.data instanceof Float32Array)) fail("type", `a parameter is ${a.dtype}`, "keep parameters in float32");
    out.set(a.data, at);
    at += a.data.length;
  }
  return out;
}

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
