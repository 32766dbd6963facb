/**
 * Axes in a new order, on a GPU. ONNX Runtime's kernel for it computes an index for every number,
 * at a third of the speed of memory; for images it has another that works by tiles, [o, i, h, w] →
 * [o, h, w, i]. As one of many matrices [i, hw] each,
 *   [batch, rows, columns] → [batch, columns, rows]
 * is that. So is, in two, [batch, a, b, c] → [batch, b, a, c], of which attention's heads need the
 * first anyway.
 */
import { type Shape, sizeOf } from "../ndarray.ts";
import { reshape, transposeNode } from "../shape.ts";
import { is, type Make, primitive, type Tensor } from "../tensor.ts";
import type { Lowering } from "./rule.ts";

/** [batch, rows, columns] with the last two changed. Made by lowering. Twice, it is nothing. */
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

/** Axes that stay side by side are one: sizes in the old order, and the new order of them. */
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
 * Rows a tile has, and how many tiles there must be at least for the runtime to take its faster
 * kernel.
 */
const [TILE, LEAST] = [64, 128];

const pays = (batch: number, rows: number): boolean => batch * Math.ceil(rows / TILE) >= LEAST;

/**
 * [batch, a, b, c] to [batch, b, a, c], through [batch, bc, a] or [batch, a, c, b]: by whichever
 * fills the tiles better, if one fills half of them.
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
 * Few columns stay as they are: the runtime would move their turn to where it turns a tensor many
 * times as large.
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
