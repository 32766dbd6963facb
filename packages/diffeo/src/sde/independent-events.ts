/**
 * Checks that a function of events does not mix them: some events are changed, and the values of
 * the others must stay the same (`host/independent-rows.ts`). The function is computed by the
 * evaluator, before any graph is compiled.
 */
import {
  add,
  constant,
  DiffeoError,
  type DType,
  fill,
  input,
  reference,
  type Shape,
  sizeOf,
  type Tensor,
  topological,
} from "../graph/index.ts";
import { moveOtherRows, requireIndependentRows } from "../host/index.ts";

/** The most numbers that a check computes. */
const MOST = 2_000_000;

/** Events for the check, with their times: three, or a batch. */
export const fewEvents = (
  event: Shape,
  dtype: DType,
  batch: Shape = [3],
): readonly [x: Tensor, t: Tensor] => [
  input("x", [...batch, ...event], dtype),
  add(constant(0.5, dtype), fill(batch, 0, dtype)),
];

/**
 * Throws if a function of `fewEvents` mixes them. Other inputs get arbitrary numbers. Functions
 * that call code outside the graph and large functions are not checked.
 * @param name the function's name in errors
 */
export function requireOwnEvents(
  value: Tensor,
  x: Tensor,
  event: Shape,
  name: string,
  most = MOST,
): void {
  const nodes = topological([value]);
  const work = nodes.reduce((total, node) => total + sizeOf(node.shape), 0);
  if (work > most || nodes.some(({ op }) => op.outside)) return;
  const given = nodes
    .filter((node) => node.op === x.op)
    .map((node) => [node, numbers(node.shape)] as const);
  const said = (points: Float64Array) => ({
    [name]: reference([value], new Map([...given, [x, points]]))[0],
  });
  const rows = numbers(x.shape);
  const [some, others] = moveOtherRows(rows, sizeOf(event));
  requireIndependentRows(
    said(rows),
    [said(some), said(others)],
    rows.length / sizeOf(event),
    "event",
  );
}

/**
 * Checks a function once per shape of an event, with three events, or with a batch if f accepts
 * only its size.
 * @param seen the functions checked so far, by name and shape; graphs that use the same functions
 * share it
 */
export function checkIndependence(
  f: (x: Tensor, t: Tensor) => Tensor,
  eventRank: number,
  name: string,
  seen = new Set<string>(),
): (like: Tensor) => void {
  return ({ shape, dtype }) => {
    const rank = shape.length - eventRank;
    const event = shape.slice(rank);
    const what = `${name} ${event}`;
    if (seen.has(what)) return;
    seen.add(what);
    const on = (batch?: Shape) => {
      const [x, t] = fewEvents(event, dtype, batch);
      return [f(x, t), x] as const;
    };
    const [value, x] = otherwise(on, () => on(shape.slice(0, rank)));
    requireOwnEvents(value, x, event, `the ${name}`);
  };
}

/** The result of f, or that of g if f throws an error of shape. */
function otherwise<T>(f: () => T, g: () => T): T {
  try {
    return f();
  } catch (error) {
    if (error instanceof DiffeoError && error.kind === "shape") return g();
    throw error;
  }
}

/** Irregular numbers between −1 and 1. */
const numbers = (shape: Shape): Float64Array =>
  Float64Array.from({ length: sizeOf(shape) }, (_, i) => Math.sin(1 + 2.3 * i));
