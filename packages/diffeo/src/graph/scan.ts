/**
 * Running combinations along an axis, s_t = e_0 ∘ e_1 ∘ … ∘ e_t for any associative ∘, in ⌈log₂ n⌉ rounds instead of n − 1 (W. Hillis
 * and G. Steele, 1986): after a round with stride k, s_t holds the last 2k elements up to t.
 *
 *   s_t ← s_{t−k} ∘ s_t   for t ≥ k,   k = 1, 2, 4, …
 *
 * A recurrence x_t = a_t x_{t−1} + b_t is one: (a, b) ∘ (a′, b′) = (a a′, a′ b + b′). Written step by step, as n small nodes after each
 * other, it would cost a runtime more to begin them than to compute them.
 */
import { normaliseAxis } from "./ndarray.ts";
import { concat, slice } from "./pieces.ts";
import type { Tensor } from "./tensor.ts";
import { leavesOf, mapTree, withLeaves } from "./tree.ts";

/**
 * @param combine ∘ of two stretches, each a tree like `elements`, elementwise along the axis; the first comes before the second
 * @param elements a tensor, or a tree of tensors that are as long along the axis
 */
export function scan<T>(combine: (before: T, after: T) => T, elements: T, axis: number): T {
  const [first] = leavesOf(elements);
  const length = first.shape[normaliseAxis(axis, first.shape.length, "scan")];
  const part = (tree: T, from: number, to: number): T =>
    mapTree<Tensor, Tensor>(tree, (leaf) => {
      const at = normaliseAxis(axis, leaf.shape.length, "scan");
      return slice(leaf, ...leaf.shape.slice(0, at).map(() => null), [from, to]);
    }) as T;
  let now = elements;
  for (let stride = 1; stride < length; stride *= 2) {
    const moved = combine(part(now, 0, length - stride), part(now, stride, length));
    const [kept, joined] = [leavesOf(part(now, 0, stride)), leavesOf(moved)];
    now = withLeaves(
      now,
      kept.map((leaf, i) => concat([leaf, joined[i]], axis)),
    ) as T;
  }
  return now;
}
