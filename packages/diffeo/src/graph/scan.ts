/**
 * Running combinations along an axis, s_t = e_0 ∘ e_1 ∘ … ∘ e_t for any associative ∘, in ⌈log₂ n⌉
 * rounds instead of n − 1 (W. Hillis and G. Steele, 1986): after a round with stride k, s_t
 * combines the last 2k elements up to t.
 *
 *   s_t ← s_{t−k} ∘ s_t   for t ≥ k,   k = 1, 2, 4, …
 *
 * `combineAll` computes only the last of them, by pairs.
 *
 * A recurrence x_t = a_t x_{t−1} + b_t is one: (a, b) ∘ (a′, b′) = (a a′, a′ b + b′). As n small
 * nodes, one per step, the overhead of starting them would exceed the computation.
 */
import { add, mul } from "./arithmetic.ts";
import { concat } from "./concat.ts";
import { normaliseAxis } from "./ndarray.ts";
import { at, slice } from "./slice.ts";
import { asTensor, type Operand, type Tensor } from "./tensor.ts";
import { leavesOf, mapTree, withLeaves } from "./tree.ts";

/**
 * The cumulative combinations along an axis, s_i = a₁ ∘ … ∘ a_i for an associative ∘, in log₂ n
 * steps.
 *
 * @param combine ∘ of two stretches, each a tree like `elements`, elementwise along the axis; the
 * first comes before the second
 * @param elements a tensor, or a tree of tensors with the same size along the axis
 */
export function scan<T>(combine: (before: T, after: T) => T, elements: T, axis: number): T {
  const length = lengthOf(elements, axis);
  let now = elements;
  for (let stride = 1; stride < length; stride *= 2) {
    const moved = combine(part(now, axis, [0, length - stride]), part(now, axis, [stride, length]));
    now = joined(part(now, axis, [0, stride]), moved, axis);
  }
  return now;
}

/**
 * The combination of all elements along an axis, a₁ ∘ … ∘ a_n, without the axis. Neighbours are
 * combined in rounds, with n − 1 combinations in total.
 */
export function combineAll<T>(combine: (before: T, after: T) => T, elements: T, axis: number): T {
  let now = elements;
  for (let length = lengthOf(now, axis); length > 1; length = lengthOf(now, axis)) {
    const even = length - (length % 2);
    const pairs = combine(part(now, axis, [0, even, 2]), part(now, axis, [1, even, 2]));
    now = even === length ? pairs : joined(pairs, part(now, axis, [even, length]), axis);
  }
  return mapTree<Tensor, Tensor>(now, (leaf) => at(leaf, 0, axis)) as T;
}

/**
 * The recurrence x_t = factor_t · x_{t−1} + term_t along the last axis, from x_{−1} = 0. To start
 * from a given x₀, make it the first term.
 *
 * @param factor numbers that broadcast to the terms
 * @example
 * linearRecurrence(0.5, [8, 1, 1]); // [8, 5, 3.5]
 */
export function linearRecurrence(factor: Operand, term: Operand): Tensor {
  const value = asTensor(term, "float64");
  const start = { factor: add(mul(value, 0), factor), value };
  return scan(
    (before, after) => ({
      factor: mul(before.factor, after.factor),
      value: add(mul(before.value, after.factor), after.value),
    }),
    start,
    -1,
  ).value;
}

const lengthOf = <T>(elements: T, axis: number): number => {
  const [{ shape }] = leavesOf(elements);
  return shape[normaliseAxis(axis, shape.length, "scan")];
};

/** A stretch of every leaf. */
const part = <T>(tree: T, axis: number, range: readonly [number, number, number?]): T =>
  mapTree<Tensor, Tensor>(tree, (leaf) => {
    const before = normaliseAxis(axis, leaf.shape.length, "scan");
    return slice(
      leaf,
      ...leaf.shape.slice(0, before).map(() => null),
      range as readonly [number, number, number],
    );
  }) as T;

/** Two stretches one after the other. */
const joined = <T>(first: T, second: T, axis: number): T => {
  const after = leavesOf(second);
  return withLeaves(
    first,
    leavesOf(first).map((leaf, i) => concat([leaf, after[i]], axis)),
  ) as T;
};
