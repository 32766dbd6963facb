/** Copies, sums and products of vectors in the memory of a module, two numbers at a time. */
import {
  apply,
  type Code,
  type Expr,
  i32,
  int,
  type Local,
  memory,
  simd,
} from "../engine/wasm/code.ts";
import { lane, lanes } from "../engine/wasm/lanes.ts";

const { one, many } = lanes.f64;

export const load = (address: Expr, offset = 0): Expr =>
  apply("f64", memory(0x2b, offset), address);
export const store = (code: Code, address: Expr, offset: number, value: Expr): void =>
  code.run(memory(0x39, offset), address, value);
export const loadInteger = (address: Expr, offset = 0): Expr =>
  apply("i32", memory(0x28, offset), address);
export const storeInteger = (code: Code, address: Expr, offset: number, value: Expr): void =>
  code.run(memory(0x36, offset), address, value);

/** Two numbers of each vector. */
export interface Pair {
  readonly load: (vector: Expr) => Expr;
  readonly store: (vector: Expr, value: Expr) => void;
}

/** The most bytes of vectors whose loops are unrolled. */
const UNROLL = 128;

/** Visits the pairs of vectors with the given number of bytes. */
export function eachPair(code: Code, bytes: number, visit: (pair: Pair) => void): void {
  const pair = (offset: number, counter?: Expr): Pair => {
    const at = (vector: Expr): Expr => (counter ? int.add(vector, counter) : vector);
    return {
      load: (vector) => apply("v128", memory(simd(0x00), offset), at(vector)),
      store: (vector, value) => code.run(memory(simd(0x0b), offset), at(vector), value),
    };
  };
  if (bytes <= UNROLL) for (let at = 0; at < bytes; at += 16) visit(pair(at));
  else code.loop(i32(0), i32(bytes), 16, (i) => visit(pair(0, i)), true);
}

export function copy(code: Code, bytes: number, from: Expr, ...to: readonly Expr[]): void {
  eachPair(code, bytes, (pair) => {
    const value = code.let(pair.load(from));
    for (const vector of to) pair.store(vector, value);
  });
}

/** A sum that starts at 0. */
export function total(code: Code): { readonly add: (x: Expr) => void; readonly value: () => Expr } {
  const sum: Local = code.local("v128");
  code.set(sum, many.constant(0));
  return {
    add: (x) => code.set(sum, many.add(sum, x)),
    value: () => one.add(lane(sum, 0, "f64"), lane(sum, 1, "f64")),
  };
}

/** v · w */
export function dot(code: Code, bytes: number, v: Expr, w: Expr): Expr {
  const sum = total(code);
  eachPair(code, bytes, (pair) => sum.add(many.mul(pair.load(v), pair.load(w))));
  return sum.value();
}

/** v ← v + c w */
export function addMultiple(code: Code, bytes: number, v: Expr, w: Expr, c: Expr): void {
  const factor = code.let(many.splat(c));
  eachPair(code, bytes, (pair) =>
    pair.store(v, many.add(pair.load(v), many.mul(factor, pair.load(w)))),
  );
}

/** Whether all pairs satisfy a condition. */
export function every(code: Code, bytes: number, condition: (pair: Pair) => Expr): Expr {
  const all: Local = code.local("v128");
  code.set(all, many.eq(many.constant(0), many.constant(0)));
  eachPair(code, bytes, (pair) => code.set(all, many.and(all, condition(pair))));
  return apply("i32", simd(0xc3), all);
}
