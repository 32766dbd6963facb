/** Evaluation in float64 on the CPU, as plain numbers. */
import { evaluate } from "../../src/engine/index.ts";
import {
  type NdArray,
  type Nested,
  ndarray,
  type Tensor,
  toFloat64,
} from "../../src/graph/index.ts";

const array = (value: Nested): NdArray => ndarray(value, "float64");

/** The values of f at the given arrays, flat. */
export async function run(
  f: (...args: Tensor[]) => Tensor,
  ...args: readonly Nested[]
): Promise<number[]> {
  const { data } = await evaluate<Tensor[], Tensor>(f, ...args.map(array));
  return [...toFloat64(data)];
}

/** Largest |aᵢ − bᵢ|, or ∞ where they cannot be compared. */
export function distance(a: readonly number[], b: readonly number[]): number {
  if (a.length !== b.length) return Number.POSITIVE_INFINITY;
  return a.reduce((worst, v, i) => {
    const gap = Math.abs(v - b[i]);
    return Number.isNaN(gap) ? Number.POSITIVE_INFINITY : Math.max(worst, gap);
  }, 0);
}
