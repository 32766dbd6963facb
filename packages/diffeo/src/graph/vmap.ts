/**
 * Vectorisation: turns a function of single values into a function of batches,
 *
 *   vmap(f)(x₁ … x_n) = (f(x₁) … f(x_n))
 *
 * in one graph, by the batch rule of each primitive. Nodes that do not depend on the batch are
 * computed once.
 */
import { unrolled } from "./batch.ts";
import { expand } from "./broadcast.ts";
import { fail } from "./error.ts";
import { showShape } from "./ndarray.ts";
import { input, type Tensor } from "./tensor.ts";
import { topological } from "./topological.ts";
import { leavesOf, tensorsOf, withLeaves } from "./tree.ts";

/**
 * Which arguments are batches: 0 for batches along the first axis, null for arguments that all
 * entries share.
 */
export type BatchAxes = readonly (0 | null)[];

/**
 * Vectorises a function of single values: arguments and results are trees of tensors with an
 * additional first axis, which has the same size for all.
 *
 * @param f a function from trees of tensors to a tree of tensors
 * @param axes which arguments are batches. Default all
 * @example
 * const one = at(x, 0);
 * const distance = (a: Tensor, b: Tensor) => squaredNorm(sub(a, b));   // [n], [n] → []
 * vmap(distance)(x, y);              // [k, n], [k, n] → [k]
 * vmap(distance, [0, null])(x, one); // [k, n], [n] → [k]
 */
export function vmap<A extends readonly unknown[], Y>(
  f: (...args: A) => Y,
  axes?: BatchAxes,
): (...args: A) => Y {
  return (...args) => {
    const batches = args.map((_, i) => (axes ? axes[i] : 0) === 0);
    const size = batchSize(args, batches);
    const given = new Map<Tensor, Tensor>();
    const single = args.map((arg, i) => {
      if (!batches[i]) return arg;
      const entries = leavesOf(arg).map((t) => {
        const entry = input("entry of a batch", t.shape.slice(1), t.dtype);
        given.set(entry, t);
        return entry;
      });
      return withLeaves(arg, entries);
    }) as unknown as A;
    const y = f(...single);
    const outputs = tensorsOf(
      y,
      "vmap: the function returned",
      "return a tensor, or a list or object of tensors",
    ).map(({ tensor }) => tensor);
    return withLeaves(y, batchOf(outputs, given, size)) as Y;
  };
}

/** The size of the first axis of all tensors of the mapped arguments. */
function batchSize(args: readonly unknown[], batches: readonly boolean[]): number {
  const leaves = args.flatMap((arg, i) =>
    batches[i]
      ? tensorsOf(
          arg,
          `vmap: argument ${i + 1} is`,
          "give tensors, or null in `axes` for arguments that are not batches",
        )
      : [],
  );
  if (leaves.length === 0)
    fail("usage", "vmap: no argument is a batch", "give at least one, with axis 0");
  const [{ tensor: first }] = leaves;
  for (const { tensor } of leaves)
    if (tensor.shape.length === 0 || tensor.shape[0] !== first.shape[0])
      fail(
        "shape",
        `vmap: the batches have shapes ${showShape(first.shape)} and ${showShape(tensor.shape)}`,
        "make their first axes equal, or use null in `axes` for arguments that are not batches",
      );
  return first.shape[0];
}

/** `outputs` with the nodes of `given` replaced by batches. */
function batchOf(
  outputs: readonly Tensor[],
  given: ReadonlyMap<Tensor, Tensor>,
  size: number,
): Tensor[] {
  const batched = new Map<Tensor, Tensor>(given);
  for (const node of topological(outputs)) {
    if (batched.has(node)) continue;
    const mapped = node.inputs.map((t) => batched.has(t));
    if (!mapped.includes(true)) continue;
    const inputs = node.inputs.map((t) => batched.get(t) ?? t);
    batched.set(node, (node.op.batch ?? unrolled)(node, inputs, mapped));
  }
  return outputs.map((t) => batched.get(t) ?? expand(t, [size, ...t.shape]));
}
