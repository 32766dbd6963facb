/**
 * The random numbers of this folder as functions of a WebAssembly module, with the same bits:
 * integers are exact everywhere, and Φ⁻¹ uses operations that IEEE 754 rounds correctly, in the
 * order of `graph/normal.ts`.
 *
 * A key is four words in memory, and so is a block of random bits.
 */
import {
  apply,
  Code,
  type Expr,
  f64,
  i32,
  int,
  type Local,
  memory,
  select,
} from "../engine/wasm/code.ts";
import { horner } from "../engine/wasm/exponential.ts";
import { type Lanes, lanes } from "../engine/wasm/lanes.ts";
import { callFunction, type Module } from "../engine/wasm/module.ts";
import { ratios } from "../graph/normal.ts";
import { FOLD, stringBlocks } from "./key.ts";
import { ROTATIONS } from "./threefry.ts";

const l = lanes.f64.one;

const loadWord = (address: Expr, k: number): Expr => apply("i32", memory(0x28, 4 * k), address);
const storeWord = (code: Code, address: Expr, k: number, value: Expr): void =>
  code.run(memory(0x36, 4 * k), address, value);

/** Operations on a word, or on as many as a vector holds. */
export interface Words {
  readonly type: "i32" | "v128";
  readonly constant: (n: number) => Expr;
  readonly add: (a: Expr, b: Expr) => Expr;
  readonly xor: (a: Expr, b: Expr) => Expr;
  readonly rotl: (a: Local, by: number) => Expr;
}

const words: Words = {
  type: "i32",
  constant: i32,
  add: int.add,
  xor: int.xor,
  rotl: (a, by) => int.rotl(a, i32(by)),
};

/** The block of a key and a counter, each four values. */
export function threefryOf(
  code: Code,
  { type, constant, add, xor, rotl }: Words,
  key: readonly Expr[],
  counter: readonly Expr[],
): readonly Local[] {
  const k = [...key, code.let(key.reduce((a, b) => xor(a, b), constant(0x1bd11bda)))];
  const x = key.map((word, i) => {
    const local = code.local(type);
    code.set(local, add(counter[i], word));
    return local;
  });
  const mix = (a: Local, b: Local, by: number): void => {
    code.set(a, add(a, b));
    code.set(b, xor(rotl(b, by), a));
  };
  for (let round = 0; round < 20; round++) {
    const [r, s] = ROTATIONS[round % 8];
    mix(x[0], x[round % 2 === 0 ? 1 : 3], r);
    mix(x[2], x[round % 2 === 0 ? 3 : 1], s);
    if (round % 4 < 3) continue;
    const at = (round + 1) / 4;
    x.forEach((local, i) => {
      const word = add(local, k[(at + i) % 5]);
      code.set(local, i === 3 ? add(word, constant(at)) : word);
    });
  }
  return x;
}

/** (key, c₀, c₁, c₂, c₃, to): a block of Threefry-4×32-20; `to` may be the key. */
function threefryFunction(module: Module): number {
  return module.function("threefry", () => {
    const code = new Code(["i32", "i32", "i32", "i32", "i32", "i32"]);
    const key = code.parameter(0);
    const k = [0, 1, 2, 3].map((i) => code.let(loadWord(key, i)));
    const counter = [1, 2, 3, 4].map((i) => code.parameter(i));
    const x = threefryOf(code, words, k, counter);
    x.forEach((local, i) => {
      storeWord(code, code.parameter(5), i, local);
    });
    return code.finish([]);
  });
}

/** Writes a block of the key at an address. */
export function writeThreefry(
  module: Module,
  code: Code,
  key: Expr,
  counter: readonly [Expr, Expr, Expr, Expr],
  to: Expr,
): void {
  code.run(callFunction(threefryFunction(module)), key, ...counter, to);
}

/** Writes the sub-key for a natural number below 2³¹, or for a string. */
export function writeFold(
  module: Module,
  code: Code,
  key: Expr,
  data: Expr | string,
  to: Expr,
): void {
  if (typeof data !== "string") {
    writeThreefry(module, code, key, [data, i32(0), i32(0), i32(FOLD)], to);
    return;
  }
  stringBlocks(data).forEach(([a, b, c, d], i) => {
    writeThreefry(module, code, i === 0 ? key : to, [i32(a), i32(b), i32(c), i32(d)], to);
  });
}

/** The uniform number of words 2k and 2k + 1 of the block at an address: `unit.ts`. */
export function unitAt(block: Expr, k: 0 | 1): Expr {
  const high = apply("f64", 0xb8, loadWord(block, 2 * k));
  const low = apply("f64", 0xb8, int.shrU(loadWord(block, 2 * k + 1), i32(12)));
  const m = l.add(l.add(l.mul(high, f64(0x100000)), low), f64(0.5));
  return l.mul(m, f64(2 ** -52));
}

/** k ln 2 + ln m for √½ < m ≤ √2: the end of `logValue` of graph/normal.ts. */
export function logOfParts(code: Code, l: Lanes, m: Expr, k: Expr): Expr {
  const number = l.constant;
  const f = code.let(l.sub(m, number(1)));
  const s = code.let(l.div(f, l.add(number(2), f)));
  const w = code.let(l.mul(s, s));
  const half = code.let(l.mul(l.mul(number(0.5), f), f));
  const pair = (a: number, b: number, r: Expr | undefined): Expr => {
    const inner = l.mul(w, number(2 / b));
    return l.add(number(2 / a), r ? l.mul(w, l.add(number(2 / b), l.mul(w, r))) : inner);
  };
  let r = code.let(pair(19, 21, undefined));
  r = code.let(pair(15, 17, r));
  r = code.let(pair(11, 13, r));
  r = code.let(pair(7, 9, r));
  r = code.let(l.mul(w, pair(3, 5, r)));
  const e = code.let(k);
  const small = l.add(l.mul(s, l.add(half, r)), l.mul(e, number(1.9082149292705877e-10)));
  const rest = l.sub(l.sub(half, small), f);
  return l.sub(l.mul(e, number(0.6931471803691238)), rest);
}

/** ln x for 0 < x ≤ 1: `logValue` of graph/normal.ts. */
function logFunction(module: Module): number {
  return module.function("logOfUnit", () => {
    const code = new Code(["f64"]);
    const m = code.parameter(0);
    const e = code.local("i32");
    code.set(e, i32(0));
    const two31 = f64(2 ** 31);
    code.while(
      () => l.lt(m, f64(2 ** -31)),
      () => {
        code.set(m, l.mul(m, two31));
        code.set(e, int.sub(e, i32(31)));
      },
    );
    const zeros = code.let(apply("i32", 0x67, apply("i32", [0xfc, 0x03], l.mul(m, two31))));
    code.set(m, l.mul(m, apply("f64", 0xb8, int.shl(i32(1), zeros))));
    code.set(e, int.sub(e, zeros));
    code.when(l.lt(f64(Math.SQRT2), m), () => {
      code.set(m, l.mul(m, f64(0.5)));
      code.set(e, int.add(e, i32(1)));
    });
    return code.finish([logOfParts(code, l, m, apply("f64", 0xb7, e))]);
  });
}

/** A ratio of two polynomials, by Horner's scheme as in graph/normal.ts. */
export function ratio(
  own: Lanes,
  x: Expr,
  [top, bottom]: readonly [readonly number[], readonly number[]],
): Expr {
  return own.div(horner(own, top, x), horner(own, bottom, x));
}

/** Φ⁻¹(u) of a uniform number. */
export function normalOf(module: Module, u: Expr): Expr {
  const index = module.function("normalQuantile", () => {
    const code = new Code(["f64"]);
    const p = code.parameter(0);
    const q = code.let(l.sub(p, f64(0.5)));
    const z = code.local("f64");
    code.when(
      l.le(l.abs(q), f64(0.425)),
      () => {
        const x = code.let(l.sub(f64(0.180625), l.mul(q, q)));
        code.set(z, l.mul(q, ratio(l, x, ratios.centre)));
      },
      () => {
        const tau = select(l.lt(p, f64(0.5)), p, l.sub(f64(1), p));
        const log = apply("f64", callFunction(logFunction(module)), tau);
        const r = code.let(l.sqrt(l.neg(log)));
        code.when(
          l.le(r, f64(5)),
          () => code.set(z, ratio(l, code.let(l.sub(r, f64(1.6))), ratios.tail)),
          () => code.set(z, ratio(l, code.let(l.sub(r, f64(5))), ratios.far)),
        );
        code.set(z, select(l.lt(q, f64(0)), l.neg(z), z));
      },
    );
    return code.finish([z]);
  });
  return apply("f64", callFunction(index), u);
}
