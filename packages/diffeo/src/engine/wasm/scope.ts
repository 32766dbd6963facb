/**
 * The state of writing a group: the open loops, whether they run on vectors, and the values that
 * each open block has computed. The code of an open loop is collected separately until it ends
 * (`Code.at`), so that a value is computed once, outside of the loops that it does not need.
 */
import type { DType, Tensor } from "../../graph/index.ts";
import type { Affine, Index } from "./affine.ts";
import type { Code, Expr, Local } from "./code.ts";
import { type Lanes, lanes } from "./lanes.ts";
import type { Module } from "./module.ts";
import { floatOf } from "./operations.ts";
import type { Buffer, Group, Plan } from "./plan.ts";

/** An expression, and the number of its lanes. */
export interface Value {
  readonly e: Expr;
  readonly width: number;
}

/** An open loop: its counter, or the number of the round if it is unrolled. */
export interface Open {
  readonly counter: Local | number;
  /** The level of the block of its body. */
  readonly level: number;
  /** Whether the counter stands for the neighbours in one vector. */
  readonly many: boolean;
}
/** A place in memory, with counters of unrolled loops as numbers. */
export interface Place {
  readonly base: number;
  readonly coef: readonly number[];
}
/** The state of the code of a group; `kernel.ts` opens loops, `values.ts` reads and computes. */
export class Scope {
  readonly module: Module;
  readonly code: Code;
  readonly plan: Plan;
  /** Number and stage of the step that is being written. */
  step = 0;
  stage = 0;
  /** Values by block, from that of the function inwards. */
  readonly memo: Map<string, Value>[] = [new Map()];
  /** The locals of total sums. */
  readonly registers = new Map<Tensor, Local>();
  open: (Open | undefined)[] = [];
  sizes: readonly number[] = [];
  lanes: Lanes | undefined;
  #vector = -1;

  constructor(module: Module, code: Code, plan: Plan) {
    this.module = module;
    this.code = code;
    this.plan = plan;
  }

  /** Begins a group, with no loop open. */
  begin({ loops, vector }: Group, own: Lanes | undefined): void {
    this.sizes = loops.map((l) => l.size);
    this.open = loops.map(() => undefined);
    this.#vector = vector;
    this.lanes = own && vector >= 0 && loops[vector].size >= own.width ? own : undefined;
  }

  /** The address of a buffer; marks it as used in this step. */
  use(buffer: Buffer): number {
    buffer.first = Math.min(buffer.first, this.step);
    buffer.last = Math.max(buffer.last, this.step);
    return buffer.address;
  }

  /** Whether a value can be read from memory in this step. */
  isStored(t: Tensor): boolean {
    const place = this.plan.stored.get(t);
    return place !== undefined && place.stage < this.stage;
  }

  /** Opens a block with separate values. */
  block(f: () => void, open: readonly number[] = [0x02, 0x40]): void {
    this.code.block(open, () => {
      this.memo.push(new Map());
      f();
      this.memo.pop();
    });
  }

  /** Whether the vector loop currently runs on vectors. */
  get many(): boolean {
    return this.lanes !== undefined && this.open[this.#vector]?.many === true;
  }

  /** The coefficient of the vector loop in an index. */
  alongVector({ coef }: Affine): number {
    return coef[this.#vector];
  }

  /** Arithmetic on values of a type and width; undefined for integers. */
  lanesOf(dtype: DType, width: number): Lanes | undefined {
    const float = floatOf(dtype);
    if (width > 1) return this.lanes;
    return float && lanes[float].one;
  }

  /** A value as a vector. */
  widened({ e, width }: Value, dtype: DType): Expr {
    const l = this.lanes as Lanes;
    if (width > 1) return e;
    return dtype === "bool" ? l.splatMask(e) : l.splat(e);
  }

  /** An index with the counters of unrolled loops added to the base. */
  placed({ base, coef }: Affine): Place {
    let total = base;
    const rest = coef.map((c, l) => {
      const counter = this.open[l]?.counter;
      if (c === 0 || typeof counter !== "number") return c;
      total += c * counter;
      return 0;
    });
    return { base: total, coef: rest };
  }

  /** The innermost block whose counters an index needs. */
  levelOf(index: Index): number {
    let level = 0;
    for (const { coef } of index)
      coef.forEach((c, l) => {
        if (c !== 0) level = Math.max(level, this.open[l]?.level ?? 0);
      });
    return level;
  }

  /** Whether the lanes of a vector have different indices. */
  isMany(index: Index): boolean {
    return this.many && index.some((a) => this.alongVector(a) !== 0);
  }
}
