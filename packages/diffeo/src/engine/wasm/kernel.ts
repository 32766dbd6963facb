/**
 * The code of a plan. A group becomes loops, those that are reduced inside the others; in the
 * innermost one the expressions of all its roots are computed. A value that needs fewer counters is
 * computed outside of the loops it does not need, once: the code of an open loop is kept apart
 * until it ends (`Code.at`). One loop may run on vectors, with the rest one number at a time.
 */
import { internal } from "../../graph/error.ts";
import type { DType, Tensor } from "../../graph/index.ts";
import { stridesOf } from "../../graph/ndarray.ts";
import { constantValue, uniformValue } from "../../graph/tensor.ts";
import {
  type Affine,
  broadcastIndex,
  flatten,
  type Index,
  isScalar,
  isView,
  unreshaped,
  viewIndex,
} from "./affine.ts";
import { writeBlock } from "./blocks.ts";
import { apply, type Code, type Expr, i32, int, type Local, memory, select, simd } from "./code.ts";
import { type Lanes, lane, lanes } from "./lanes.ts";
import type { Module } from "./module.ts";
import {
  elements,
  floatOf,
  isMap,
  literal,
  loadMany,
  loadOne,
  operation,
  storeOne,
} from "./operations.ts";
import type { Buffer, Group, Plan, Root } from "./plan.ts";

interface Value {
  readonly e: Expr;
  /** Numbers in it. */
  readonly width: number;
}

/** A loop that is open: its counter, or its number where it is written out. */
interface Open {
  readonly counter: Local | number;
  /** The block its body is. */
  readonly level: number;
  /** Whether the counter stands for as many neighbours as a vector has lanes. */
  readonly many: boolean;
}

/** A loop of at most so many rounds is written out, and loops in it as long as this many remain. */
const UNROLL = 4;
const UNROLL_ALL = 16;

/** An index after loops that are written out are numbers. */
interface Place {
  readonly base: number;
  readonly coef: readonly number[];
}

/** An address as what changes and what does not. */
interface Address {
  readonly address: Expr;
  readonly offset: number;
  /** Whether all of it is in what changes, for that falls. */
  readonly backwards: boolean;
}

export class Emitter {
  readonly #module: Module;
  readonly #code: Code;
  readonly #plan: Plan;
  readonly #ids = new Map<Tensor, number>();
  /** Values by block, from the function's own inwards. */
  #memo: Map<string, Value>[] = [new Map()];
  readonly #registers = new Map<Tensor, Local>();
  #step = 0;
  #stage = 0;
  #group: Group | undefined;
  #open: (Open | undefined)[] = [];
  #sizes: readonly number[] = [];
  #lanes: Lanes | undefined;
  #rounds = 1;

  constructor(module: Module, code: Code, plan: Plan) {
    this.#module = module;
    this.#code = code;
    this.#plan = plan;
  }

  write(): void {
    this.#plan.steps.forEach((step, i) => {
      this.#step = i;
      this.#stage = step.stage;
      if ("node" in step) {
        const address = (t: Tensor): number => this.#use(this.#bufferOf(t));
        this.#code.block([0x02, 0x40], () =>
          writeBlock(this.#code, this.#module, step.node, address),
        );
      } else this.#writeGroup(step);
    });
  }

  #bufferOf(t: Tensor): Buffer {
    return this.#plan.stored.get(unreshaped(t))?.buffer ?? internal(`${t.op.name} is not stored`);
  }

  /** The address of a buffer, which is in use in this step. */
  #use(buffer: Buffer): number {
    buffer.first = Math.min(buffer.first, this.#step);
    buffer.last = Math.max(buffer.last, this.#step);
    return buffer.address;
  }

  #writeGroup(group: Group): void {
    this.#group = group;
    this.#sizes = group.loops.map((l) => l.size);
    this.#open = group.loops.map(() => undefined);
    this.#rounds = 1;
    const { vector, loops } = group;
    const own = this.#vectorLanes(group);
    this.#lanes = own && vector >= 0 && loops[vector].size >= own.width ? own : undefined;
    for (const buffer of group.cleared)
      this.#code.run([0xfc, 0x0b, 0], i32(this.#use(buffer)), i32(0), i32(buffer.bytes));
    const order = [...loops.keys()].sort(
      (a, b) => Number(loops[a].reduced) - Number(loops[b].reduced) || a - b,
    );
    const kept = loops.filter((l) => !l.reduced).length;
    this.#block(() => this.#nest(order, 0, kept));
  }

  /** A block with values of its own. */
  #block(f: () => void, open: readonly number[] = [0x02, 0x40]): void {
    this.#code.block(open, () => {
      this.#memo.push(new Map());
      f();
      this.#memo.pop();
    });
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
      if (this.#isStored(t)) return t.dtype === dtype;
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

  #isStored(t: Tensor): boolean {
    const place = this.#plan.stored.get(t);
    return place !== undefined && place.stage < this.#stage;
  }

  #nest(order: readonly number[], depth: number, kept: number): void {
    if (depth === kept && kept < order.length) {
      this.#reduce(order, kept);
      return;
    }
    if (depth === order.length) {
      const { roots } = this.#group as Group;
      // A sum over no loop at all is the number itself.
      for (const root of roots) this.#finish(root, this.#body(root));
      return;
    }
    this.#each(order[depth], () => this.#nest(order, depth + 1, kept));
  }

  /** Runs `f` with loop l open: on vectors as far as they go, then one by one. */
  #each(l: number, f: () => void): void {
    const { loops, vector } = this.#group as Group;
    const { size } = loops[l];
    const width = this.#lanes && l === vector ? this.#lanes.width : 1;
    const main = size - (size % width);
    this.#rows(l, 0, main, width, f);
    if (main < size) this.#rows(l, main, size, 1, f);
  }

  #rows(l: number, from: number, to: number, step: number, f: () => void): void {
    const rounds = (to - from) / step;
    if (rounds <= 0) return;
    const run = (counter: Local | number, level: number): void => {
      this.#open[l] = { counter, level, many: step > 1 };
      f();
      this.#open[l] = undefined;
    };
    if (rounds <= UNROLL && rounds * this.#rounds <= UNROLL_ALL) {
      this.#rounds *= rounds;
      for (let i = from; i < to; i += step) run(i, this.#code.depth);
      this.#rounds /= rounds;
      return;
    }
    const i = this.#code.local("i32");
    this.#code.set(i, i32(from));
    this.#block(() => {
      run(i, this.#code.depth);
      this.#code.set(i, int.add(i, i32(step)));
      this.#code.run([0x0d, 0], int.lt(i, i32(to)));
    }, [0x03, 0x40]);
  }

  /** Whether the vector's loop is open on vectors. */
  get #many(): boolean {
    const { vector } = this.#group as Group;
    return this.#lanes !== undefined && this.#open[vector]?.many === true;
  }

  /** The loops that are reduced, with what they add up: in a vector, in a number, or in both. */
  #reduce(order: readonly number[], kept: number): void {
    const { roots, loops, vector } = this.#group as Group;
    const code = this.#code;
    const outer = this.#many;
    const inner = this.#lanes !== undefined && vector >= 0 && loops[vector].reduced;
    const sums = roots.map((root) => {
      if (root.kind === "store") return undefined;
      const { dtype } = root.bodies[0].tensor;
      const start = literal(dtype, root.kind === "max" ? lowest(dtype) : 0);
      const make = (wide: boolean): Local => {
        const local = code.local(wide ? "v128" : elements[dtype].type);
        code.set(local, wide ? (this.#lanes as Lanes).splat(start) : start);
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
          const into = (this.#many ? sum.many : sum.one) as Local;
          const wide = this.#many ? this.#widened(value, root.bodies[0].tensor.dtype) : value.e;
          code.set(into, this.#combine(root, into, wide, this.#many));
        }
      });
    };
    visit(kept);
    roots.forEach((root, i) => {
      const sum = sums[i];
      if (!sum) return;
      if (!sum.one)
        this.#finish(root, { e: sum.many as Local, width: (this.#lanes as Lanes).width });
      else {
        if (sum.many) this.#across(root, sum.one, sum.many);
        this.#finish(root, { e: sum.one, width: 1 });
      }
    });
  }

  /** Adds the lanes of a vector to a number. */
  #across(root: Root, one: Local, many: Local): void {
    const { float, width } = this.#lanes as Lanes;
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

  /** What a root stores or adds, where all loops are open. */
  #body({ bodies, kind }: Root): Value {
    const [first, second] = bodies.map(({ tensor, index }) => this.#value(tensor, index));
    if (kind !== "dot") return first;
    const { dtype } = bodies[0].tensor;
    const width = Math.max(first.width, second.width);
    const l = this.#lanesOf(dtype, width) as Lanes;
    const wide = (v: Value): Expr => (width > 1 ? this.#widened(v, dtype) : v.e);
    return { e: this.#code.let(l.mul(wide(first), wide(second))), width };
  }

  #lanesOf(dtype: DType, width: number): Lanes | undefined {
    const float = floatOf(dtype);
    if (width > 1) return this.#lanes;
    return float && lanes[float].one;
  }

  #widened({ e, width }: Value, dtype: DType): Expr {
    const l = this.#lanes as Lanes;
    if (width > 1) return e;
    return dtype === "bool" ? l.splatMask(e) : l.splat(e);
  }

  /** Stores the result of a root, and keeps a sum of all in a local. */
  #finish(root: Root, value: Value): void {
    const code = this.#code;
    const { node, to } = root;
    if (this.#plan.registers.has(node)) {
      const local = code.at(0, () => code.local(elements[node.dtype].type));
      code.set(local, value.e);
      this.#registers.set(node, local);
    }
    if (!to) return;
    const { dtype } = node;
    const { bytes, store } = elements[dtype];
    const place = this.#placed(to.at);
    const at = this.#addressOf(place, bytes, this.#use(to.buffer));
    const { address, offset } = at;
    const step = this.#many ? to.at.coef[(this.#group as Group).vector] : 0;
    if (!this.#many) storeOne(code, dtype, address, offset, value.e);
    else if (step === 1) code.run(memory(simd(0x0b), offset), address, this.#widened(value, dtype));
    else {
      const l = this.#lanes as Lanes;
      const wide = code.let(this.#widened(value, dtype));
      for (let k = 0; k < l.width; k++) {
        const next = moved(at, k * step * bytes);
        code.run(memory(store, next.offset), next.address, lane(wide, k, l.float));
      }
    }
  }

  /** The counters that are numbers go into the base. */
  #placed({ base, coef }: Affine): Place {
    let total = base;
    const rest = coef.map((c, l) => {
      const counter = this.#open[l]?.counter;
      if (c === 0 || typeof counter !== "number") return c;
      total += c * counter;
      return 0;
    });
    return { base: total, coef: rest };
  }

  /** The innermost block whose counters an index needs. */
  #levelOf(index: Index): number {
    let level = 0;
    for (const { coef } of index)
      coef.forEach((c, l) => {
        if (c !== 0) level = Math.max(level, this.#open[l]?.level ?? 0);
      });
    return level;
  }

  #isMany(index: Index): boolean {
    const { vector } = this.#group as Group;
    return this.#many && index.some(({ coef }) => coef[vector] !== 0);
  }

  /** The value of a tensor at an index, computed once in the block that it needs. */
  #value(t: Tensor, index: Index): Value {
    const uniform = uniformValue(t);
    if (uniform !== undefined)
      return { e: literal(t.dtype, constantValue(t)?.data[0] as number), width: 1 };
    if (t.op.name === "reshape" && this.#isStored(unreshaped(t))) return this.#reshaped(t, index);
    if (isView(t) && !this.#isStored(t)) {
      const under = viewIndex(t, index, this.#sizes) ?? internal(`${t.op.name} reads at no index`);
      return this.#value(t.inputs[0], under);
    }
    return this.#once(t, index, (level, many) => this.#compute(t, index, level, many));
  }

  /** What is stored, read in another shape: at one index for all axes. */
  #reshaped(t: Tensor, index: Index): Value {
    const flat = flatten(index, stridesOf(t.shape), this.#sizes.length);
    const base = unreshaped(t);
    return this.#once(base, [flat], (level, many) => this.#load(base, flat, level, many));
  }

  /** A value from the block that it needs, where it is computed if it was not yet. */
  #once(t: Tensor, index: Index, make: (level: number, many: boolean) => Value): Value {
    const many = this.#isMany(index);
    const places = index.map((a) => this.#placed(a));
    // A counter that is written out is in the base, and how lanes move is not.
    const { vector } = this.#group as Group;
    const moves = many ? index.map((a) => a.coef[vector]).join() : "";
    const key = `${this.#id(t)} ${places.map((p) => `${p.base},${p.coef}`).join(";")} ${moves}`;
    const level = this.#levelOf(index);
    const known = this.#memo[level].get(key);
    if (known) return known;
    const value = make(level, many);
    this.#memo[level].set(key, value);
    return value;
  }

  #compute(t: Tensor, index: Index, level: number, many: boolean): Value {
    const register = this.#registers.get(t);
    if (register) return { e: register, width: 1 };
    if (this.#isStored(t)) {
      const flat = flatten(index, stridesOf(t.shape), this.#sizes.length);
      return this.#load(t, flat, level, many);
    }
    if (!isMap(t)) internal(`${t.op.name} is not there when it is needed`);
    const values = t.inputs.map((x) =>
      this.#value(x, broadcastIndex(index, x.shape, this.#sizes.length)),
    );
    const width = Math.max(...values.map((v) => v.width));
    return this.#code.at(level, () => {
      const operands = values.map((v, i) =>
        width > 1 ? this.#widened(v, t.inputs[i].dtype) : v.e,
      );
      const l = this.#lanesOf(operandType(t), width);
      const site = { module: this.#module, code: this.#code, lanes: l };
      return { e: this.#code.let(operation(site, t, operands)), width };
    });
  }

  #id(t: Tensor): number {
    const known = this.#ids.get(t);
    if (known !== undefined) return known;
    this.#ids.set(t, this.#ids.size);
    return this.#ids.size - 1;
  }

  #load(t: Tensor, flat: Affine, level: number, many: boolean): Value {
    const code = this.#code;
    const { bytes } = elements[t.dtype];
    const buffer = (this.#plan.stored.get(t) as { buffer: Buffer }).buffer;
    const at = this.#addressOf(this.#placed(flat), bytes, this.#use(buffer));
    const { address, offset } = at;
    return code.at(level, () => {
      if (!many) return { e: code.let(loadOne(t.dtype, address, offset)), width: 1 };
      const l = this.#lanes as Lanes;
      const step = flat.coef[(this.#group as Group).vector];
      if (step === 1) return { e: code.let(loadMany(address, offset)), width: l.width };
      // Neighbours that lie apart, one by one.
      const splat = simd(l.float === "f64" ? 0x0a : 0x09);
      let out = code.let(apply("v128", memory(splat, offset), address));
      for (let k = 1; k < l.width; k++) {
        const next = moved(at, k * step * bytes);
        const opcode = memory(simd(l.float === "f64" ? 0x57 : 0x56), next.offset, k);
        out = code.let(apply("v128", opcode, next.address, out));
      }
      return { e: out, width: l.width };
    });
  }

  /** The address at a place; parts of it are computed in the blocks they need. */
  #addressOf({ base, coef }: Place, bytes: number, start: number): Address {
    const code = this.#code;
    const backwards = coef.some((c) => c < 0);
    const open = coef
      .map((c, l) => ({ c, l, loop: this.#open[l] as Open }))
      .filter(({ c }) => c !== 0)
      .sort((a, b) => a.loop.level - b.loop.level);
    const offset = start + (backwards ? 0 : base * bytes);
    if (open.length === 0) return { address: i32(0), offset, backwards };
    let address: Expr | undefined = backwards ? i32(base * bytes) : undefined;
    let key = `@${backwards ? base * bytes : 0}`;
    for (const { c, l, loop } of open) {
      key += `+${c * bytes}·${l}`;
      const memo = this.#memo[loop.level];
      const known = memo.get(key);
      if (known) {
        address = known.e;
        continue;
      }
      const before = address;
      address = code.at(loop.level, () => {
        const term = int.mul(loop.counter as Local, i32(c * bytes));
        return code.let(before ? int.add(before, term) : term);
      });
      memo.set(key, { e: address, width: 1 });
    }
    return { address: address as Expr, offset, backwards };
  }
}

/** Beside an address: what is added anyway must not be negative, but the address may fall. */
const moved = ({ address, offset, backwards }: Address, by: number): Omit<Address, "backwards"> =>
  backwards ? { address: int.add(address, i32(by)), offset } : { address, offset: offset + by };

/** The type that an operation computes in: of the branches of a choice, else of its operands. */
function operandType(t: Tensor): DType {
  if (t.op.name === "where") return t.dtype;
  if (t.op.name === "cast") return t.inputs[0].dtype === "bool" ? t.dtype : t.inputs[0].dtype;
  return t.inputs[0].dtype;
}

const lowest = (dtype: DType): number | bigint =>
  floatOf(dtype) ? Number.NEGATIVE_INFINITY : dtype === "int64" ? -(2n ** 63n) : -(2 ** 31);
