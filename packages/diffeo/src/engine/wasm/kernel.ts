/**
 * Writes the code of a plan. A group becomes nested loops, reduced ones inside the others; the
 * innermost one computes the expressions of all its roots (`values.ts`). One loop may run on
 * vectors, with the remainder one number at a time.
 */
import { internal } from "../../graph/error.ts";
import type { DType, Tensor } from "../../graph/index.ts";
import { uniformValue } from "../../graph/tensor.ts";
import { isScalar, unreshaped } from "./affine.ts";
import { writeBlock } from "./blocks.ts";
import { apply, type Code, type Expr, i32, int, type Local, memory, select, simd } from "./code.ts";
import { type Lanes, lane, lanes } from "./lanes.ts";
import type { Module } from "./module.ts";
import { elements, floatOf, isMap, literal, storeOne } from "./operations.ts";
import type { Buffer, Group, Plan, Root } from "./plan.ts";
import { Scope, type Value } from "./scope.ts";
import { moved, Values } from "./values.ts";

/**
 * Loops of at most `UNROLL` rounds are unrolled, nested ones up to `UNROLL_ALL` rounds in total.
 */
const UNROLL = 4;
const UNROLL_ALL = 16;

/** Writes the code of a plan. */
export class Emitter {
  readonly #plan: Plan;
  readonly #code: Code;
  readonly #scope: Scope;
  readonly #values: Values;
  #group: Group | undefined;
  /** The product of the rounds of open loops that are unrolled. */
  #rounds = 1;

  constructor(module: Module, code: Code, plan: Plan) {
    this.#plan = plan;
    this.#code = code;
    this.#scope = new Scope(module, code, plan);
    this.#values = new Values(this.#scope);
  }

  /** Writes the steps of the plan, in order. */
  write(): void {
    this.#plan.steps.forEach((step, i) => {
      this.#scope.step = i;
      this.#scope.stage = step.stage;
      if ("node" in step) {
        const address = (t: Tensor): number => this.#scope.use(this.#bufferOf(t));
        this.#code.block([0x02, 0x40], () =>
          writeBlock(this.#code, this.#scope.module, step.node, address),
        );
      } else this.#writeGroup(step);
    });
  }

  #bufferOf(t: Tensor): Buffer {
    return this.#plan.stored.get(unreshaped(t))?.buffer ?? internal(`${t.op.name} is not stored`);
  }

  #writeGroup(group: Group): void {
    this.#group = group;
    this.#rounds = 1;
    const { loops } = group;
    this.#scope.begin(group, this.#vectorLanes(group));
    for (const buffer of group.cleared)
      this.#code.run([0xfc, 0x0b, 0], i32(this.#scope.use(buffer)), i32(0), i32(buffer.bytes));
    const order = [...loops.keys()].sort(
      (a, b) => Number(loops[a].reduced) - Number(loops[b].reduced) || a - b,
    );
    const kept = loops.filter((l) => !l.reduced).length;
    this.#scope.block(() => this.#nest(order, 0, kept));
  }

  /** The lanes of a group, if all of it can run on vectors. */
  #vectorLanes(group: Group): Lanes | undefined {
    const [{ node }] = group.roots;
    const dtype =
      group.roots[0].kind === "store" ? node.dtype : group.roots[0].bodies[0].tensor.dtype;
    const float = floatOf(dtype);
    if (!float) return undefined;
    const seen = new Set<Tensor>();
    const fits = (t: Tensor): boolean => {
      if (seen.has(t) || isScalar(t) || uniformValue(t) !== undefined) return true;
      seen.add(t);
      if (this.#scope.isStored(t)) return t.dtype === dtype;
      if (t.dtype !== dtype && t.dtype !== "bool") return false;
      if (
        isMap(t) &&
        ["equal", "less", "lessEqual"].includes(t.op.name) &&
        t.inputs[0].dtype !== dtype
      )
        return false;
      return t.inputs.every(fits);
    };
    return group.roots.every((r) =>
      r.bodies.every(({ tensor }) => tensor.dtype === dtype && fits(tensor)),
    )
      ? lanes[float].many
      : undefined;
  }

  #nest(order: readonly number[], depth: number, kept: number): void {
    if (depth === kept && kept < order.length) {
      this.#reduce(order, kept);
      return;
    }
    if (depth === order.length) {
      const { roots } = this.#group as Group;
      // A sum without loops is the number itself.
      for (const root of roots) this.#finish(root, this.#body(root));
      return;
    }
    this.#each(order[depth], () => this.#nest(order, depth + 1, kept));
  }

  /** Runs `f` with loop l open: on vectors as far as possible, then one by one. */
  #each(l: number, f: () => void): void {
    const { loops, vector } = this.#group as Group;
    const { size } = loops[l];
    const width = this.#scope.lanes && l === vector ? this.#scope.lanes.width : 1;
    const main = size - (size % width);
    this.#rows(l, 0, main, width, f);
    if (main < size) this.#rows(l, main, size, 1, f);
  }

  #rows(l: number, from: number, to: number, step: number, f: () => void): void {
    const rounds = (to - from) / step;
    if (rounds <= 0) return;
    const run = (counter: Local | number, level: number): void => {
      this.#scope.open[l] = { counter, level, many: step > 1 };
      f();
      this.#scope.open[l] = undefined;
    };
    if (rounds <= UNROLL && rounds * this.#rounds <= UNROLL_ALL) {
      this.#rounds *= rounds;
      for (let i = from; i < to; i += step) run(i, this.#code.depth);
      this.#rounds /= rounds;
      return;
    }
    const i = this.#code.local("i32");
    this.#code.set(i, i32(from));
    this.#scope.block(() => {
      run(i, this.#code.depth);
      this.#code.set(i, int.add(i, i32(step)));
      this.#code.run([0x0d, 0], int.lt(i, i32(to)));
    }, [0x03, 0x40]);
  }

  /** The reduced loops, with their accumulators: a vector, a number, or both. */
  #reduce(order: readonly number[], kept: number): void {
    const { roots, loops, vector } = this.#group as Group;
    const code = this.#code;
    const outer = this.#scope.many;
    const inner = this.#scope.lanes !== undefined && vector >= 0 && loops[vector].reduced;
    const sums = roots.map((root) => {
      if (root.kind === "store") return undefined;
      const { dtype } = root.bodies[0].tensor;
      const start = literal(dtype, root.kind === "max" ? lowest(dtype) : 0);
      const make = (wide: boolean): Local => {
        const local = code.local(wide ? "v128" : elements[dtype].type);
        code.set(local, wide ? (this.#scope.lanes as Lanes).splat(start) : start);
        return local;
      };
      return {
        one: outer ? undefined : make(false),
        many: outer || inner ? make(true) : undefined,
      };
    });
    const visit = (depth: number): void => {
      if (depth < order.length) {
        this.#each(order[depth], () => visit(depth + 1));
        return;
      }
      roots.forEach((root, i) => {
        const value = this.#body(root);
        const sum = sums[i];
        if (!sum) this.#finish(root, value);
        else {
          const into = (this.#scope.many ? sum.many : sum.one) as Local;
          const wide = this.#scope.many
            ? this.#scope.widened(value, root.bodies[0].tensor.dtype)
            : value.e;
          code.set(into, this.#combine(root, into, wide, this.#scope.many));
        }
      });
    };
    visit(kept);
    roots.forEach((root, i) => {
      const sum = sums[i];
      if (!sum) return;
      if (!sum.one)
        this.#finish(root, { e: sum.many as Local, width: (this.#scope.lanes as Lanes).width });
      else {
        if (sum.many) this.#across(root, sum.one, sum.many);
        this.#finish(root, { e: sum.one, width: 1 });
      }
    });
  }

  /** Adds the lanes of a vector to a number. */
  #across(root: Root, one: Local, many: Local): void {
    const { float, width } = this.#scope.lanes as Lanes;
    const parts = Array.from({ length: width }, (_, k) => lane(many, k, float));
    const pair = (a: Expr, b: Expr): Expr => this.#code.let(this.#combine(root, a, b, false));
    const [first, second] =
      width === 2 ? parts : [pair(parts[0], parts[1]), pair(parts[2], parts[3])];
    this.#code.set(one, this.#combine(root, pair(first, second), one, false));
  }

  #combine({ kind, bodies }: Root, total: Expr, value: Expr, wide: boolean): Expr {
    const { dtype } = bodies[0].tensor;
    const float = floatOf(dtype);
    if (float) {
      const l = lanes[float][wide ? "many" : "one"];
      return kind === "max" ? l.max(total, value) : l.add(total, value);
    }
    const long = dtype === "int64";
    if (kind === "max") {
      const held = this.#code.let(value);
      return select(apply("i32", long ? 0x55 : 0x4a, held, total), held, total);
    }
    return apply(long ? "i64" : "i32", long ? 0x7c : 0x6a, total, value);
  }

  /** Stores or adds the value of a root, with all loops open. */
  #body({ bodies, kind }: Root): Value {
    const [first, second] = bodies.map(({ tensor, index }) => this.#values.at(tensor, index));
    if (kind !== "dot") return first;
    const { dtype } = bodies[0].tensor;
    const width = Math.max(first.width, second.width);
    const l = this.#scope.lanesOf(dtype, width) as Lanes;
    const wide = (v: Value): Expr => (width > 1 ? this.#scope.widened(v, dtype) : v.e);
    return { e: this.#code.let(l.mul(wide(first), wide(second))), width };
  }

  /** Stores the result of a root; a total sum is stored in a local. */
  #finish(root: Root, value: Value): void {
    const code = this.#code;
    const { node, to } = root;
    if (this.#plan.registers.has(node)) {
      const local = code.at(0, () => code.local(elements[node.dtype].type));
      code.set(local, value.e);
      this.#scope.registers.set(node, local);
    }
    if (!to) return;
    const { dtype } = node;
    const { bytes, store } = elements[dtype];
    const place = this.#scope.placed(to.at);
    const at = this.#values.addressOf(place, bytes, this.#scope.use(to.buffer));
    const { address, offset } = at;
    const step = this.#scope.many ? this.#scope.alongVector(to.at) : 0;
    if (!this.#scope.many) storeOne(code, dtype, address, offset, value.e);
    else if (step === 1)
      code.run(memory(simd(0x0b), offset), address, this.#scope.widened(value, dtype));
    else {
      const l = this.#scope.lanes as Lanes;
      const wide = code.let(this.#scope.widened(value, dtype));
      for (let k = 0; k < l.width; k++) {
        const next = moved(at, k * step * bytes);
        code.run(memory(store, next.offset), next.address, lane(wide, k, l.float));
      }
    }
  }
}

const lowest = (dtype: DType): number | bigint =>
  floatOf(dtype) ? Number.NEGATIVE_INFINITY : dtype === "int64" ? -(2n ** 63n) : -(2 ** 31);
