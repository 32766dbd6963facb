/**
 * What stands apart from the primitives: rules that know several families, or what a runtime lacks
 * or does badly. The primitives do not know of them; `simplify.ts` applies them.
 */
import type { Target, Tensor } from "../tensor.ts";

/** How many consumers a tensor has. */
export type Uses = (t: Tensor) => number;

/** An equal and smaller expression. */
export type Identity = (node: Tensor) => Tensor | undefined;

/** An equal expression that a target runs faster or at all. */
export type Lowering = (node: Tensor, target: Target, uses: Uses) => Tensor | undefined;
