/**
 * The reference evaluator, in float64 with plain loops. It shares no code with a runtime, and is
 * the oracle of the tests.
 */
import { fail, internal } from "./error.ts";
import { showShape, sizeOf } from "./ndarray.ts";
import type { Tensor } from "./tensor.ts";
import { topological } from "./topological.ts";

/** Computes the values of `outputs` in float64, given the values of their inputs. */
export function reference(
  outputs: readonly Tensor[],
  inputs: ReadonlyMap<Tensor, Float64Array>,
): Float64Array[] {
  const values = new Map<Tensor, Float64Array>(inputs);
  for (const [t, data] of inputs)
    if (data.length !== sizeOf(t.shape))
      fail(
        "shape",
        `reference: ${data.length} numbers are given for an input of shape ${showShape(t.shape)}`,
        "give one number per entry",
      );
  for (const node of topological(outputs)) {
    if (values.has(node)) continue;
    values.set(
      node,
      node.op.evaluate(
        node,
        node.inputs.map((t) => values.get(t) ?? internal(`${t.op.name} was not evaluated`)),
      ),
    );
  }
  return outputs.map((t) => values.get(t) ?? internal("an output was not evaluated"));
}
