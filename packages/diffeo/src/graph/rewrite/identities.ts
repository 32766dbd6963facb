/** Identities between several primitives, which simplify derivatives. */
import { addNode, mul, unscaled } from "../arithmetic.ts";
import { expand, sumNode, unexpanded } from "../broadcast.ts";
import { concat } from "../concat.ts";
import { sameShape } from "../ndarray.ts";
import { reshape, reshapeNode } from "../shape.ts";
import { pad, padNode } from "../slice.ts";
import { is, type Make, type Tensor } from "../tensor.ts";
import type { Identity } from "./rule.ts";

/** New leading axes that a reshape does not change can be expanded afterwards. */
const expandAfterReshape: Identity = ({ inputs: [x], shape }) => {
  const before = unexpanded(x);
  const lead = before ? x.shape.length - before.shape.length : 0;
  if (!before || lead <= 0 || !sameShape(before.shape, x.shape.slice(lead))) return undefined;
  return sameShape(x.shape.slice(0, lead), shape.slice(0, lead))
    ? expand(reshape(before, shape.slice(lead)), shape)
    : undefined;
};

/** Moves a numeric factor outwards, to a sum or a matrix product. */
const scaleAfterReshape: Identity = ({ inputs: [x], shape }) => {
  const scaled = unscaled(x);
  return scaled && mul(reshape(scaled.tensor, shape), scaled.factor);
};

/** Σ c·x = c·Σx, and Σ over an expanded axis is a multiple. */
const multipleOfSum: Identity = (node) => {
  if (!is(node, sumNode)) return undefined;
  const [x] = node.inputs;
  const { axes } = node.attributes;
  const scaled = unscaled(x);
  if (scaled) return mul(sumNode([scaled.tensor], { axes }), scaled.factor);
  const before = unexpanded(x);
  if (before === undefined) return undefined;
  const lead = x.shape.length - before.shape.length;
  const aligned = reshape(before, [...Array<number>(lead).fill(1), ...before.shape]);
  const repeated = axes.filter((a) => x.shape[a] !== 1 && aligned.shape[a] === 1);
  if (repeated.length === 0) return undefined;
  const count = repeated.reduce((n, a) => n * x.shape[a], 1);
  return expand(mul(sumNode([aligned], { axes }), count), node.shape);
};

/**
 * a + b of two padded tensors, where one begins at the end of the other, is their padded
 * concatenation. The gradient of a tensor that is used in parts is such a sum, whose terms are as
 * large as the tensor.
 */
function joinedPads(a: Tensor, b: Tensor): Tensor | undefined {
  if (!is(a, padNode) || !is(b, padNode) || !sameShape(a.shape, b.shape)) return undefined;
  const [p, q] = [a.inputs[0].shape, b.inputs[0].shape];
  const [from, to] = [a.attributes.before, b.attributes.before];
  const moved = from.flatMap((_, i) => (from[i] === to[i] && p[i] === q[i] ? [] : [i]));
  if (moved.length !== 1) return undefined;
  const [axis] = moved;
  if (to[axis] + q[axis] === from[axis]) return joinedPads(b, a);
  if (from[axis] + p[axis] !== to[axis]) return undefined;
  return pad(concat([a.inputs[0], b.inputs[0]], axis), from, b.attributes.after);
}

/** The identities, in the order in which they are tried after the primitive's own. */
export const identities: readonly (readonly [Make, Identity])[] = [
  [reshapeNode as Make, (node) => expandAfterReshape(node) ?? scaleAfterReshape(node)],
  [sumNode as Make, multipleOfSum],
  [addNode, ({ inputs: [a, b] }) => joinedPads(a, b)],
];
