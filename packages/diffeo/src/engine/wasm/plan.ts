/**
 * A plan: which values of a graph are stored in memory, and in which loops they are computed.
 *
 * Most operations are not computed anywhere by themselves: they are part of the expression that a
 * loop stores or adds up (`kernel.ts`). A nest of loops, called a group, computes all roots of one
 * domain that may be computed together. `stages.ts` decides what is stored and when,
 * `planner.ts` makes the groups.
 */
import type { Shape, Tensor } from "../../graph/index.ts";
import { constantValue, isInput } from "../../graph/tensor.ts";
import { type Affine, type Index, isView } from "./affine.ts";
import { isBlock } from "./blocks.ts";
import { floatOf, isMap } from "./operations.ts";

/** A stretch of memory; its address is known once all are. */
export interface Buffer {
  readonly bytes: number;
  address: number;
  /** Numbers of the first and last step that use it. */
  first: number;
  last: number;
  /** Inputs are written, and outputs read, from outside. */
  kept: boolean;
}

/** A loop of a group. */
export interface Loop {
  readonly size: number;
  readonly reduced: boolean;
}

/** One value that a group stores, adds up or compares. */
export interface Root {
  readonly node: Tensor;
  readonly kind: "store" | "sum" | "max" | "dot";
  /** The factors of a dot; else one tensor. */
  readonly bodies: readonly { readonly tensor: Tensor; readonly index: Index }[];
  /** Where the result goes, by the loops that are not reduced; a sum of all stays in a local. */
  readonly to?: { readonly buffer: Buffer; readonly at: Affine };
}

/** A nest of loops, and what is computed in it. */
export interface Group {
  readonly stage: number;
  readonly loops: readonly Loop[];
  /** The loop that may run on vectors; −1 is none. */
  readonly vector: number;
  readonly roots: Root[];
  /** Buffers that are 0 where no root writes. */
  readonly cleared: Buffer[];
}

/** A node that is computed by a routine of its own. */
export interface Block {
  readonly stage: number;
  readonly node: Tensor;
}

/** The steps that compute a graph, in order, and where their results are. */
export interface Plan {
  readonly steps: readonly (Group | Block)[];
  /** Where a value is stored, and from which stage on it may be read there. */
  readonly stored: ReadonlyMap<Tensor, { readonly buffer: Buffer; readonly stage: number }>;
  /** Sums of all: values of one number that are kept in locals. */
  readonly registers: ReadonlySet<Tensor>;
  readonly buffers: readonly Buffer[];
}

/** Whether a node sums or takes the largest of an axis. */
export const isReduction = (t: Tensor): boolean => t.op.name === "sum" || t.op.name === "max";
/** Whether a node is a product of matrices. */
export const isProduct = (t: Tensor): boolean => t.op.name === "matmul";
/** Whether a node writes its inputs side by side. */
export const isJoin = (t: Tensor): boolean => t.op.name === "concat" || t.op.name === "pad";

/** Whether a value is given: an input or a constant. */
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

/** Shapes with the same loops have the same name. */
export const domainOf = (shape: Shape): string => shape.filter((d) => d !== 1).join("×");
