/**
 * Transpositions on a GPU. ONNX Runtime's general kernel computes an index for every number, at a
 * third of the speed of memory. For images it has another one that works by tiles, [o, i, h, w] →
 * [o, h, w, i]. A batch of matrices [i, hw] can use it: [batch, rows, columns] → [batch, columns,
 * rows] and, in two steps, so can [batch, a, b, c] → [batch, b, a, c], of which the heads of
 * attention need the first one anyway.
 */
import { type Shape, sizeOf } from "../ndarray.ts";
import { reshape, transposeNode } from "../shape.ts";
import { is, type Make, primitive, type Tensor } from "../tensor.ts";
import type { Lowering } from "./rule.ts";

/** Exchanges the last two axes of [batch, rows, columns]. Made by lowering. */
const turnNode: Make = primitive({
  name: "turn",
  simplify: ({ inputs: [x] }) => (is(x, turnNode) ? x.inputs[0] : undefined),
  infer: ([{ shape, dtype }]) => ({ shape: [shape[0], shape[2], shape[1]], dtype }),
  emit: ({ inputs: [x], shape }, [name], emitter) => {
    const [batch, columns, rows] = shape;
    const image = emitter.reshape(name, x.shape, [batch, rows, 1, columns]);
    const moved = emitter.node("Transpose", [image], { perm: [0, 2, 3, 1] });
    return emitter.reshape(moved, [batch, 1, columns, rows], shape);
  },
  evaluate: ({ shape: [batch, columns, rows] }, [data]) => {
    const out = new Float64Array(data.length);
    for (let b = 0, at = 0; b < batch; b++)
      for (let j = 0; j < columns; j++)
        for (let i = 0; i < rows; i++) out[at++] = data[(b * rows + i) * columns + j];
    return out;
  },
});

const turn = (x: Tensor, batch: number, rows: number, columns: number): Tensor =>
  turnNode([reshape(x, [batch, rows, columns])], {});

/** Merges axes that stay adjacent: the sizes in the old order, and their new order. */
function merged(
  shape: Shape,
  axes: readonly number[],
): { readonly sizes: Shape; readonly order: readonly number[] } {
  const runs: number[][] = [];
  for (const a of axes.filter((axis) => shape[axis] !== 1)) {
    const last = runs.at(-1);
    const between = last && shape.slice(last.at(-1) as number, a).slice(1);
    if (last && a > (last.at(-1) as number) && between?.every((d) => d === 1)) last.push(a);
    else runs.push([a]);
  }
  const old = runs.toSorted((p, q) => p[0] - q[0]);
  return {
    sizes: old.map((run) => sizeOf(run.map((a) => shape[a]))),
    order: runs.map((run) => old.indexOf(run)),
  };
}

/**
 * The rows of a tile, and the least number of tiles for which the runtime uses its faster kernel.
 */
const [TILE, LEAST] = [64, 128];

const pays = (batch: number, rows: number): boolean => batch * Math.ceil(rows / TILE) >= LEAST;

/**
 * [batch, a, b, c] to [batch, b, a, c], through [batch, bc, a] or [batch, a, c, b], whichever fills
 * the tiles better, if one fills half of them.
 */
function exchanged(x: Tensor, [batch, a, b, c]: Shape): Tensor | undefined {
  const [first, second] = [Math.min(a, c), Math.min(b, a * c)];
  if (!pays(batch, a) || !pays(batch, a * c) || Math.max(first, second) < TILE / 2)
    return undefined;
  return first >= second
    ? turn(turn(x, batch, a, b * c), batch * b, c, a)
    : turn(turn(x, batch * a, b, c), batch, a * c, b);
}

/**
 * Few columns are not changed, because the runtime would move the transposition to a tensor that is
 * many times as large.
 */
const inTiles: Lowering = (node, target) => {
  if (target !== "gpu" || !is(node, transposeNode)) return undefined;
  const [x] = node.inputs;
  const { sizes, order } = merged(x.shape, node.attributes.axes);
  const [batch, rows, columns] = sizes;
  const moved =
    `${order}` === "0,2,1" && pays(batch, rows) && columns >= TILE / 2
      ? turn(x, batch, rows, columns)
      : `${order}` === "0,2,1,3"
        ? exchanged(x, sizes)
        : undefined;
  return moved && reshape(moved, node.shape);
};

export const turns: readonly (readonly [Make, Lowering])[] = [[transposeNode as Make, inTiles]];
