/**
 * Rewrite rules that are not part of a primitive: those of several primitives, and those for what a
 * runtime lacks or runs slowly. `simplify.ts` applies them.
 */
import type { Target, Tensor } from "../tensor.ts";

/** The number of consumers of a tensor. */
export type Uses = (t: Tensor) => number;

/** An equal and smaller expression. */
export type Identity = (node: Tensor) => Tensor | undefined;

/** An equal expression that a target supports or runs faster. */
export type Lowering = (node: Tensor, target: Target, uses: Uses) => Tensor | undefined;
