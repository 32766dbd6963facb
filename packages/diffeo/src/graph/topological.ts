/**
 * The nodes of a graph, inputs before their consumers. The algorithm is iterative, because graphs
 * may be deeper than the call stack.
 */
import type { Tensor } from "./tensor.ts";

/** All nodes of a graph, each after its inputs. */
export function topological(outputs: readonly Tensor[]): Tensor[] {
  const placed = new Set<Tensor>();
  for (const root of outputs) {
    if (placed.has(root)) continue;
    const path = [root];
    const looked = [0]; // the number of visited inputs of each node of the path
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
