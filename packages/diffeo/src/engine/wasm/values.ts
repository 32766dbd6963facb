/**
 * The values in the loops of a group: read from memory, or computed once, in the outermost open
 * block that has all their counters.
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
  isView,
  unreshaped,
  viewIndex,
} from "./affine.ts";
import { apply, type Expr, i32, int, type Local, memory, simd } from "./code.ts";
import type { Lanes } from "./lanes.ts";
import { elements, isMap, literal, loadMany, loadOne, operation } from "./operations.ts";
import type { Buffer } from "./plan.ts";
import type { Open, Place, Scope, Value } from "./scope.ts";

/** An address in two parts: one that changes within the loops, and an offset. */
export interface Address {
  readonly address: Expr;
  readonly offset: number;
  /** Whether a counter is subtracted; then the offset has no part of the index. */
  readonly backwards: boolean;
}
/**
 * An address some bytes further on. The offset of an instruction may not be negative, so if the
 * address runs backwards the bytes are added to it instead.
 */
export const moved = (
  { address, offset, backwards }: Address,
  by: number,
): Omit<Address, "backwards"> =>
  backwards ? { address: int.add(address, i32(by)), offset } : { address, offset: offset + by };
/**
 * The type in which an operation computes: that of the branches of `where`, otherwise of its
 * operands.
 */
function operandType(t: Tensor): DType {
  if (t.op.name === "where") return t.dtype;
  if (t.op.name === "cast") return t.inputs[0].dtype === "bool" ? t.dtype : t.inputs[0].dtype;
  return t.inputs[0].dtype;
}

/** The values of the blocks of a scope. */
export class Values {
  readonly #scope: Scope;
  readonly #ids = new Map<Tensor, number>();

  constructor(scope: Scope) {
    this.#scope = scope;
  }

  /** The value of a tensor at an index, computed once in its block. */
  at(t: Tensor, index: Index): Value {
    const uniform = uniformValue(t);
    if (uniform !== undefined)
      return { e: literal(t.dtype, constantValue(t)?.data[0] as number), width: 1 };
    if (t.op.name === "reshape" && this.#scope.isStored(unreshaped(t)))
      return this.#reshaped(t, index);
    if (isView(t) && !this.#scope.isStored(t)) {
      const under =
        viewIndex(t, index, this.#scope.sizes) ?? internal(`${t.op.name} reads at no index`);
      return this.at(t.inputs[0], under);
    }
    return this.#once(t, index, (level, many) => this.#compute(t, index, level, many));
  }

  /** Reads a stored value in another shape, by one index for all axes. */
  #reshaped(t: Tensor, index: Index): Value {
    const flat = flatten(index, stridesOf(t.shape), this.#scope.sizes.length);
    const base = unreshaped(t);
    return this.#once(base, [flat], (level, many) => this.#load(base, flat, level, many));
  }

  /** A value from its block, where it is computed at the first request. */
  #once(t: Tensor, index: Index, make: (level: number, many: boolean) => Value): Value {
    const many = this.#scope.isMany(index);
    const places = index.map((a) => this.#scope.placed(a));
    // The base contains the counters of unrolled loops, but not the step of the lanes.
    const moves = many ? index.map((a) => this.#scope.alongVector(a)).join() : "";
    const key = `${this.#id(t)} ${places.map((p) => `${p.base},${p.coef}`).join(";")} ${moves}`;
    const level = this.#scope.levelOf(index);
    const known = this.#scope.memo[level].get(key);
    if (known) return known;
    const value = make(level, many);
    this.#scope.memo[level].set(key, value);
    return value;
  }

  #compute(t: Tensor, index: Index, level: number, many: boolean): Value {
    const register = this.#scope.registers.get(t);
    if (register) return { e: register, width: 1 };
    if (this.#scope.isStored(t)) {
      const flat = flatten(index, stridesOf(t.shape), this.#scope.sizes.length);
      return this.#load(t, flat, level, many);
    }
    if (!isMap(t)) internal(`${t.op.name} is not there when it is needed`);
    const values = t.inputs.map((x) =>
      this.at(x, broadcastIndex(index, x.shape, this.#scope.sizes.length)),
    );
    const width = Math.max(...values.map((v) => v.width));
    return this.#scope.code.at(level, () => {
      const operands = values.map((v, i) =>
        width > 1 ? this.#scope.widened(v, t.inputs[i].dtype) : v.e,
      );
      const l = this.#scope.lanesOf(operandType(t), width);
      const site = { module: this.#scope.module, code: this.#scope.code, lanes: l };
      return { e: this.#scope.code.let(operation(site, t, operands)), width };
    });
  }

  #id(t: Tensor): number {
    const known = this.#ids.get(t);
    if (known !== undefined) return known;
    this.#ids.set(t, this.#ids.size);
    return this.#ids.size - 1;
  }

  #load(t: Tensor, flat: Affine, level: number, many: boolean): Value {
    const code = this.#scope.code;
    const { bytes } = elements[t.dtype];
    const buffer = (this.#scope.plan.stored.get(t) as { buffer: Buffer }).buffer;
    const at = this.addressOf(this.#scope.placed(flat), bytes, this.#scope.use(buffer));
    const { address, offset } = at;
    return code.at(level, () => {
      if (!many) return { e: code.let(loadOne(t.dtype, address, offset)), width: 1 };
      const l = this.#scope.lanes as Lanes;
      const step = this.#scope.alongVector(flat);
      if (step === 1) return { e: code.let(loadMany(address, offset)), width: l.width };
      // Neighbours that are not adjacent are loaded one by one.
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

  /** The address of a place; parts of it are computed in their blocks. */
  addressOf({ base, coef }: Place, bytes: number, start: number): Address {
    const code = this.#scope.code;
    const backwards = coef.some((c) => c < 0);
    const open = coef
      .map((c, l) => ({ c, l, loop: this.#scope.open[l] as Open }))
      .filter(({ c }) => c !== 0)
      .sort((a, b) => a.loop.level - b.loop.level);
    const offset = start + (backwards ? 0 : base * bytes);
    if (open.length === 0) return { address: i32(0), offset, backwards };
    let address: Expr | undefined = backwards ? i32(base * bytes) : undefined;
    let key = `@${backwards ? base * bytes : 0}`;
    for (const { c, l, loop } of open) {
      key += `+${c * bytes}·${l}`;
      const memo = this.#scope.memo[loop.level];
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
