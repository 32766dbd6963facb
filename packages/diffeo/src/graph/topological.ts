/** The nodes under some outputs, inputs before their consumers. Iterative: graphs are deeper than the call stack. */
import type { Tensor } from "./tensor.ts";

export function topological(outputs: readonly Tensor[]): Tensor[] {
  const order: Tensor[] = [];
  const state = new Map<Tensor, number>(); // how many inputs have been looked at; −1 once placed
  for (const root of outputs) {
    const stack = [root];
    while (stack.length > 0) {
      const node = stack[stack.length - 1];
      const next = state.get(node) ?? 0;
      if (next === -1) stack.pop();
      else if (next < node.inputs.length) {
        state.set(node, next + 1);
        const child = node.inputs[next];
        if (state.get(child) !== -1) stack.push(child);
      } else {
        state.set(node, -1);
        order.push(node);
        stack.pop();
      }
    }
  }
  return order;
}
