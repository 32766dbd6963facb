/**
 * Whether a function of events mixes them: `host/independent-rows.ts` moves some and has a look at the others.
 * Here the function is computed by the evaluator, while the graphs that need it are traced and
 * before any is compiled.
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

/** The most numbers that are computed to look. */
const MOST = 2_000_000;

/** Events to look at and their times: three, or a batch. */
export const fewEvents = (
  event: Shape,
  dtype: DType,
  batch: Shape = [3],
): readonly [x: Tensor, t: Tensor] => [
  input("x", [...batch, ...event], dtype),
  add(constant(0.5, dtype), fill(batch, 0, dtype)),
];

/**
 * Refuses a function of `fewEvents` that mixes them. Its other inputs are given numbers that mean
 * nothing; what calls a function outside, or is large, is left as it is.
 * @param name what errors call it
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
 * Looks at a function once for each shape of an event: on three of them, or on a batch as it is
 * where f is made for so many.
 * @param seen what was looked at, by name and shape: shared where the same functions are in several
 * graphs
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

/** What f gives, or where that does not fit in shape, what g does. */
function otherwise<T>(f: () => T, g: () => T): T {
  try {
    return f();
  } catch (error) {
    if (error instanceof DiffeoError && error.kind === "shape") return g();
    throw error;
  }
}

/** Numbers between −1 and 1 without a pattern. */
const numbers = (shape: Shape): Float64Array =>
  Float64Array.from({ length: sizeOf(shape) }, (_, i) => Math.sin(1 + 2.3 * i));
