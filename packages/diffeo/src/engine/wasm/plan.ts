/**
 * A plan determines which values of a graph are stored in memory, and in which loops they are
 * computed.
 *
 * Most operations have no loop of their own: they are part of the expression that a loop stores or
 * sums (`kernel.ts`). A nest of loops, called a group, computes all roots of one domain that may be
 * computed together. `stages.ts` decides what is stored and when, `planner.ts` makes the groups.
 */
import type { Shape, Tensor } from "../../graph/index.ts";
import { constantValue, isInput } from "../../graph/tensor.ts";
import { type Affine, type Index, isView } from "./affine.ts";
import { isBlock } from "./blocks.ts";
import { floatOf, isMap } from "./operations.ts";

/** A range of memory. All addresses are set together. */
export interface Buffer {
  readonly bytes: number;
  address: number;
  /** Numbers of the first and last step that use it. */
  first: number;
  last: number;
  /** Whether it is an input or an output, which is accessed from outside. */
  kept: boolean;
}

/** A loop of a group. */
export interface Loop {
  readonly size: number;
  readonly reduced: boolean;
}

/** One value that a group stores, sums or compares. */
export interface Root {
  readonly node: Tensor;
  readonly kind: "store" | "sum" | "max" | "dot";
  /** The factors of a dot product, otherwise one tensor. */
  readonly bodies: readonly { readonly tensor: Tensor; readonly index: Index }[];
  /** The place of the result by the loops that are not reduced; a total sum stays in a local. */
  readonly to?: { readonly buffer: Buffer; readonly at: Affine };
}

/** A nest of loops, and the values computed in it. */
export interface Group {
  readonly stage: number;
  readonly loops: readonly Loop[];
  /** The loop that may run on vectors; −1 if none. */
  readonly vector: number;
  readonly roots: Root[];
  /** Buffers that are set to 0 first, because roots do not write all of them. */
  readonly cleared: Buffer[];
}

/** A node that is computed by a separate routine. */
export interface Block {
  readonly stage: number;
  readonly node: Tensor;
}

/** The steps that compute a graph, in order, and the places of their results. */
export interface Plan {
  readonly steps: readonly (Group | Block)[];
  /** The buffer of a value, and the stage from which it may be read. */
  readonly stored: ReadonlyMap<Tensor, { readonly buffer: Buffer; readonly stage: number }>;
  /** Total sums: single numbers that are stored in locals. */
  readonly registers: ReadonlySet<Tensor>;
  readonly buffers: readonly Buffer[];
}

/** Whether a node is a sum or a maximum over axes. */
export const isReduction = (t: Tensor): boolean => t.op.name === "sum" || t.op.name === "max";
/** Whether a node is a product of matrices. */
export const isProduct = (t: Tensor): boolean => t.op.name === "matmul";
/** Whether a node concatenates its inputs. */
export const isJoin = (t: Tensor): boolean => t.op.name === "concat" || t.op.name === "pad";

/** Whether a value is an input or a constant. */
export const isLeaf = (t: Tensor): boolean => isInput(t) || constantValue(t) !== undefined;

/** Whether this engine computes a node. */
export const isSupported = (t: Tensor): boolean =>
  isLeaf(t) ||
  isMap(t) ||
  isView(t) ||
  isReduction(t) ||
  (isProduct(t) && floatOf(t.dtype) !== undefined) ||
  isJoin(t) ||
  isBlock(t);

/** The name of a shape's loops: equal for shapes with the same loops. */
export const domainOf = (shape: Shape): string => shape.filter((d) => d !== 1).join("×");
