/** Joins a tree of arrays into one flat vector, in the order of the tree. */
import { fail, isNdArray, leavesOf, type NdArray } from "../graph/index.ts";

/** Joins a tree of float32 arrays into one flat vector, in the order of the tree. */
export function flatten(tree: unknown): Float32Array {
  const arrays = leavesOf<NdArray>(tree, isNdArray);
  const out = new Float32Array(arrays.reduce((n, a) => n + a.data.length, 0));
  let at = 0;
  for (const a of arrays) {
    if (!(a.data instanceof Float32Array))
      fail("type", `a parameter is ${a.dtype}`, "keep parameters in float32");
    out.set(a.data, at);
    at += a.data.length;
  }
  return out;
}
