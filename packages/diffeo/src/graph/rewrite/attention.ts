/** Attention by the runtime's own operator, or by its equation. */
import { attentionExpression, attentionNode } from "../attention.ts";
import { is, type Make } from "../tensor.ts";
import type { Lowering } from "./rule.ts";

/**
 * The operator is float32 alone. And it keeps P to itself: where a backward pass, which uses O as
 * well, computes P anyway, the equation has it for one product more.
 */
const byEquation: Lowering = (node, _, uses) =>
  is(node, attentionNode) && (node.dtype !== "float32" || uses(node) > 1)
    ? attentionExpression(node)
    : undefined;

export const attentions: readonly (readonly [Make, Lowering])[] = [
  [attentionNode as Make, byEquation],
];
