/**
 * The nodes under some outputs, inputs before their consumers. Iterative: graphs are deeper than
 * the call stack.
 */
import type { Tensor } from "./tensor.ts";

/** All nodes of a graph, each after its inputs. Deep graphs do not overflow the stack. */
export function topological(outputs: readonly Tensor[]): Tensor[] {
  const placed = new Set<Tensor>();
  for (const root of outputs) {
    if (placed.has(root)) continue;
    const path = [root];
    const looked = [0]; // at how many inputs of each node of the path
    while (path.length > 0) {
      const top = path.length - 1;
      const node = path[top];
      if (looked[top] < node.inputs.length) {
        const child = node.inputs[looked[top]++];
        if (placed.has(child)) continue;
        path.push(child);
        looked.push(0);
      } else {
        placed.add(node);
        path.pop();
        looked.pop();
      }
    }
  }
  return [...placed];
}
