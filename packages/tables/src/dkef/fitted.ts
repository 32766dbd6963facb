/** A fitted density as arrays. */
import { isNdArray, mapTree, type NdArray } from "diffeo/graph";
import type { Dkef } from "diffeo/model";

/** A fitted density: parameters and α. */
export interface Fitted {
  /** The step of this state. */
  readonly step: number;
  readonly parameters: Dkef<NdArray>;
  readonly theta: Float32Array;
  readonly alpha: Float64Array;
}

/** Reads the parameters from a flat vector. */
export function parameterArrays(theta: Float32Array, like: Dkef<NdArray>): Dkef<NdArray> {
  let at = 0;
  const cut = ({ shape, data }: NdArray): NdArray => {
    at += data.length;
    return { shape, dtype: "float32", data: theta.slice(at - data.length, at) };
  };
  return mapTree(like, cut, isNdArray) as unknown as Dkef<NdArray>;
}
