/** Functions of rows on the host, in float64. */
import { input, reference, type Tensor } from "diffeo/graph";
import { concatArrays, partsOf } from "diffeo/host";

/** Rows that a graph on the host takes at once. */
const PART = 4096;

/** f of every row of n numbers; f gives rows of any length. */
export function mapRows(rows: Float64Array, n: number, f: (x: Tensor) => Tensor): Float64Array {
  const parts = partsOf(rows.length / n, PART).map(([from, to]) => {
    const x = input("rows", [to - from, n], "float64");
    return reference([f(x)], new Map([[x, rows.subarray(from * n, to * n)]]))[0] as Float64Array;
  });
  return concatArrays((length) => new Float64Array(length), parts);
}
