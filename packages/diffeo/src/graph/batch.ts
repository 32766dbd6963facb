/**
 * Two ways to batch any operation: merge the batch into an axis that the operation treats entry by
 * entry, or make one node per entry.
 */
import { repeated } from "./broadcast.ts";
import { stack } from "./concat.ts";
import { reshape } from "./shape.ts";
import { at } from "./slice.ts";
import { rebuild, type Tensor } from "./tensor.ts";

/**
 * Merges the batch into the first axis, for an operation that treats the entries of the first axis
 * of its first `count` inputs and of its result separately. The other inputs are unmapped.
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
