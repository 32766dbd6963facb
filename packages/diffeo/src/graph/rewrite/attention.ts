/** Attention by the runtime's own operator, or by its equation. */
import { attentionExpression, attentionNode } from "../attention.ts";
import { is, type Make } from "../tensor.ts";
import type { Lowering } from "./rule.ts";

/**
 * The operator is float32 only, and does not return P. A backward pass, which also uses O, computes
 * P anyway, so the equation costs only one more product.
 */
const byEquation: Lowering = (node, _, uses) =>
  is(node, attentionNode) && (node.dtype !== "float32" || uses(node) > 1)
    ? attentionExpression(node)
    : undefined;

export const attentions: readonly (readonly [Make, Lowering])[] = [
  [attentionNode as Make, byEquation],
];
