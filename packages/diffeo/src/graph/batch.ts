/**
 * Two ways to apply an operation to a batch that any operation has: with the batch as part of an
 * axis that the operation treats entry by entry, or one node per entry.
 */
import { repeated } from "./broadcast.ts";
import { stack } from "./concat.ts";
import { reshape } from "./shape.ts";
import { at } from "./slice.ts";
import { rebuild, type Tensor } from "./tensor.ts";

/**
 * The operation with the batch merged into the first axis, for one that treats the entries of the
 * first axis of its first `count` inputs, and of its result, one by one. The other inputs are
 * unmapped.
 */
export function merged(
  node: Tensor,
  inputs: readonly Tensor[],
  mapped: readonly boolean[],
  count: number,
): Tensor {
  const own = repeated(inputs.slice(0, count), mapped);
  const [n, entries] = own[0].shape;
  const y = rebuild(node, [
    ...own.map((t) => reshape(t, [n * t.shape[1], ...t.shape.slice(2)])),
    ...inputs.slice(count),
  ]);
  return reshape(y, [n, entries, ...y.shape.slice(1)]);
}

/** One node per entry of the batch. */
export function unrolled(
  node: Tensor,
  inputs: readonly Tensor[],
  mapped: readonly boolean[],
): Tensor {
  const [n] = inputs[mapped.indexOf(true)].shape;
  return stack(
    Array.from({ length: n }, (_, k) =>
      rebuild(
        node,
        inputs.map((t, i) => (mapped[i] ? at(t, k) : t)),
      ),
    ),
  );
}
