/**
 * Whether a function of events mixes them: what it says of the first must stay where the others move, and so of the second, to the
 * bit. No shape tells a sum over all axes, the batch included, that is added to one number an event.
 */
import {
  add,
  constant,
  DiffeoError,
  fail,
  fill,
  input,
  reference,
  type Shape,
  sizeOf,
  type Tensor,
  topological,
} from "../graph/index.ts";
import type { Field } from "./control.ts";

/** The most numbers that are computed to look. */
const MOST = 2_000_000;

/**
 * Refuses a function that mixes events. It is computed on three of them, or on as many as it was made for, without a runtime and once
 * for each shape of an event; what calls a function outside, or is large, is left as it is.
 */
export function apart(f: Field, eventRank: number, name: string): (like: Tensor) => void {
  const seen = new Set<string>();
  return (like) => {
    const event = like.shape.slice(like.shape.length - eventRank);
    if (seen.has(`${event}`)) return;
    seen.add(`${event}`);
    const { x, value } = onFew(f, like, event);
    const nodes = topological([value]);
    const work = nodes.reduce((total, node) => total + sizeOf(node.shape), 0);
    if (work > MOST || nodes.some(({ op }) => op.outside)) return;
    const given = nodes.filter((node) => node.op === x.op).map((node) => [node, numbers(node.shape)] as const);
    const at = (points: Float64Array): Float64Array => reference([value], new Map([...given, [x, points]]))[0];
    const rows = numbers(x.shape);
    const before = at(rows);
    for (const kept of [0, 1].slice(0, before.length)) {
      const after = at(rows.map((v, i) => (Math.floor(i / sizeOf(event)) === kept ? v : v + 0.3 * Math.cos(i))));
      if (!Object.is(before[kept], after[kept]))
        fail(
          "shape",
          `the ${name} mixes events: of one it goes from ${before[kept]} to ${after[kept]} where only others move`,
          "reduce over an event's own axes, the last: sum(y, -1); sum(y) and mean(y) run over the whole batch",
        );
    }
  };
}

/** f of three events, or of a batch as it is where f is made for so many. */
function onFew(f: Field, like: Tensor, event: Shape): { readonly x: Tensor; readonly value: Tensor } {
  const on = (batch: Shape) => {
    const x = input("x", [...batch, ...event], like.dtype);
    return { x, value: f(x, add(constant(0.5, like.dtype), fill(batch, 0, like.dtype))) };
  };
  try {
    return on([3]);
  } catch (error) {
    if (error instanceof DiffeoError && error.kind === "shape")
      return on(like.shape.slice(0, like.shape.length - event.length));
    throw error;
  }
}

/** Numbers between −1 and 1 without a pattern. */
const numbers = (shape: Shape): Float64Array =>
  Float64Array.from({ length: sizeOf(shape) }, (_, i) => Math.sin(1 + 2.3 * i));
