/**
 * Whether a function of events mixes them: `host/apart.ts` moves some and has a look at the others. Here the function is computed
 * by the evaluator, while the graphs that need it are traced and before any is compiled.
 */
import {
  add,
  constant,
  DiffeoError,
  fill,
  input,
  reference,
  type Shape,
  sizeOf,
  type Tensor,
  topological,
} from "../graph/index.ts";
import { othersMoved, requireApart } from "../host/index.ts";
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
    const said = (points: Float64Array) => ({
      [`the ${name}`]: reference([value], new Map([...given, [x, points]]))[0],
    });
    const rows = numbers(x.shape);
    const [some, others] = othersMoved(rows, sizeOf(event));
    requireApart(said(rows), [said(some), said(others)], rows.length / sizeOf(event), "event");
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
