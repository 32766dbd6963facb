/**
 * Where the code of a group is being written: the loops that are open, whether they run on vectors,
 * and the values that each open block has computed. The code of an open loop is kept apart until it
 * ends (`Code.at`), so that a value is computed outside of the loops it does not need, once.
 */
import type { DType, Tensor } from "../../graph/index.ts";
import type { Affine, Index } from "./affine.ts";
import type { Code, Expr, Local } from "./code.ts";
import { type Lanes, lanes } from "./lanes.ts";
import type { Module } from "./module.ts";
import { floatOf } from "./operations.ts";
import type { Buffer, Group, Plan } from "./plan.ts";

/** An expression, and how many numbers are in it. */
export interface Value {
  readonly e: Expr;
  readonly width: number;
}

/** A loop that is open: its counter, or its number where it is written out. */
export interface Open {
  readonly counter: Local | number;
  /** The block its body is. */
  readonly level: number;
  /** Whether the counter stands for as many neighbours as a vector has lanes. */
  readonly many: boolean;
}
/** A place in memory, where the counters of loops that are written out are numbers. */
export interface Place {
  readonly base: number;
  readonly coef: readonly number[];
}
/** The state of the code of a group; `kernel.ts` opens loops, `values.ts` reads and computes. */
export class Scope {
  readonly module: Module;
  readonly code: Code;
  readonly plan: Plan;
  /** Number and stage of the step whose code is being written. */
  step = 0;
  stage = 0;
  /** Values by block, from the function's own inwards. */
  readonly memo: Map<string, Value>[] = [new Map()];
  /** Sums of all, in the locals that keep them. */
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

  /** The address of a buffer, which is in use in this step. */
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

  /** A block with values of its own. */
  block(f: () => void, open: readonly number[] = [0x02, 0x40]): void {
    this.code.block(open, () => {
      this.memo.push(new Map());
      f();
      this.memo.pop();
    });
  }

  /** Whether the vector's loop is open on vectors. */
  get many(): boolean {
    return this.lanes !== undefined && this.open[this.#vector]?.many === true;
  }

  /** The coefficient of the vector's loop in an index. */
  alongVector({ coef }: Affine): number {
    return coef[this.#vector];
  }

  /** Arithmetic on values of a type and width; none on integers. */
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

  /** An index in which counters that are numbers are part of the base. */
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

  /** Whether the lanes of a vector stand at different places of an index. */
  isMany(index: Index): boolean {
    return this.many && index.some((a) => this.alongVector(a) !== 0);
  }
}
