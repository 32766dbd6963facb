/**
 * Random programs over x [2, 3], y [3] and z [], built step by step: each step makes a new value
 * from earlier ones.
 */
import fc from "fast-check";
import type { Tensor } from "../../src/graph/index.ts";
import * as g from "../../src/graph/index.ts";

const onRows = (f: (t: Tensor) => Tensor) => (t: Tensor) => (t.shape.at(-1) === 3 ? f(t) : t);
const onMatrices = (f: (t: Tensor) => Tensor) => (t: Tensor) => (t.shape.length === 2 ? f(t) : t);
const unary: readonly ((t: Tensor) => Tensor)[] = [
  g.neg,
  g.sin,
  g.tanh,
  g.softplus,
  g.sigmoid,
  (t) => g.pow(g.softplus(t), 2),
  (t) => g.mul(t, -1),
  (t) => g.mul(t, 2),
  (t) => g.add(t, 0),
  (t) => g.div(t, 4),
  (t) => g.expand(t, [2, 3]),
  (t) => g.sum(t, undefined, { keepDims: true }),
  (t) => g.reshape(g.tanh(g.reshape(t, [-1])), t.shape),
  onRows((t) => g.mean(t, -1, { keepDims: true })),
  onRows((t) => g.max(t, -1, { keepDims: true })),
  onRows((t) => g.softmax(t)),
  onRows((t) => g.flip(t, [-1])),
  onRows((t) =>
    g.concat(
      [g.at(t, 2, -1), g.at(t, 0, -1), g.at(t, 1, -1)].map((part) => g.expandDims(part, -1)),
    ),
  ),
  onMatrices((t) => g.transpose(g.transpose(t))),
  onMatrices((t) => g.transpose(g.sin(g.transpose(t)))),
  onMatrices(onRows((t) => g.pad(g.slice(t, null, [0, 3, 2]), [0, 1], [0, 0]))),
  onMatrices((t) => g.matmul(g.matmul(t, g.transpose(t)), t)),
];
const binary: readonly ((a: Tensor, b: Tensor) => Tensor)[] = [
  g.add,
  g.sub,
  g.mul,
  (a, b) => g.div(a, g.add(g.softplus(b), 1)),
  (a, b) => g.add(a, g.neg(b)),
  (a, b) => g.where(g.less(a, b), a, b),
  (a, b) => g.mul(g.neg(a), g.expand(b, [2, 3])),
];

export interface Step {
  readonly op: number;
  readonly a: number;
  readonly b: number;
}

export const programs: fc.Arbitrary<Step[]> = fc.array(
  fc.record({ op: fc.nat(unary.length + binary.length - 1), a: fc.nat(50), b: fc.nat(50) }),
  { minLength: 1, maxLength: 12 },
);

function run(steps: readonly Step[], inputs: readonly Tensor[]): Tensor {
  const pool = [...inputs];
  for (const { op, a, b } of steps) {
    const [left, right] = [a, b].map((i) => pool[pool.length - 1 - (i % pool.length)]);
    pool.push(op < unary.length ? unary[op](left) : binary[op - unary.length](left, right));
  }
  return g.sum(g.tanh(pool[pool.length - 1]));
}

/** A program's value, its gradient, and that gradient's change along the inputs. */
export function derivatives(steps: readonly Step[], inputs: readonly Tensor[]): Tensor[] {
  const f = (some: readonly Tensor[]): Tensor => run(steps, some);
  const [gradient, second] = g.jvp(g.grad(f), inputs, inputs);
  return [f(inputs), ...gradient, ...second];
}
