/**
 * Arithmetic on numbers of one float type, one at a time or in 128-bit vectors. A lane of a vector
 * has the bits of the same operations on a single number, so a function written on `Lanes` gives
 * the same results in both forms.
 */
import {
  apply,
  type Code,
  type Expr,
  f32,
  f64,
  i32,
  i64,
  int,
  long,
  select,
  simd,
} from "./code.ts";
import type { ValueType } from "./encode.ts";

export type Float = "f32" | "f64";

export interface Lanes {
  readonly float: Float;
  /** The numbers per value: 1, or 2 of f64, or 4 of f32. */
  readonly width: number;
  /** The type of a value, and of a condition. */
  readonly type: ValueType;
  readonly mask: ValueType;
  constant(x: number): Expr;
  /** All lanes equal to one number, or to one condition. */
  splat(x: Expr): Expr;
  splatMask(condition: Expr): Expr;
  add(a: Expr, b: Expr): Expr;
  sub(a: Expr, b: Expr): Expr;
  mul(a: Expr, b: Expr): Expr;
  div(a: Expr, b: Expr): Expr;
  /** NaN if one of them is NaN. */
  min(a: Expr, b: Expr): Expr;
  max(a: Expr, b: Expr): Expr;
  neg(a: Expr): Expr;
  abs(a: Expr): Expr;
  sqrt(a: Expr): Expr;
  floor(a: Expr): Expr;
  trunc(a: Expr): Expr;
  nearest(a: Expr): Expr;
  eq(a: Expr, b: Expr): Expr;
  lt(a: Expr, b: Expr): Expr;
  le(a: Expr, b: Expr): Expr;
  and(p: Expr, q: Expr): Expr;
  or(p: Expr, q: Expr): Expr;
  not(p: Expr): Expr;
  xor(p: Expr, q: Expr): Expr;
  select(condition: Expr, a: Expr, b: Expr): Expr;
  /** 1 if the condition holds, else 0. */
  number(condition: Expr): Expr;
}

const opcodes = {
  f64: {
    scalar: [
      0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0x9a, 0x99, 0x9f, 0x9c, 0x9d, 0x9e, 0x61, 0x63, 0x65,
    ],
    vector: [
      0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xed, 0xec, 0xef, 0x75, 0x7a, 0x94, 0x47, 0x49, 0x4b,
    ],
  },
  f32: {
    scalar: [
      0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x8c, 0x8b, 0x91, 0x8e, 0x8f, 0x90, 0x5b, 0x5d, 0x5f,
    ],
    vector: [
      0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xe9, 0xe1, 0xe0, 0xe3, 0x68, 0x69, 0x6a, 0x41, 0x43, 0x45,
    ],
  },
} as const;

function scalarLanes(float: Float): Lanes {
  const codes = opcodes[float].scalar;
  const one =
    (k: number) =>
    (a: Expr): Expr =>
      apply(float, codes[k], a);
  const two =
    (k: number) =>
    (a: Expr, b: Expr): Expr =>
      apply(float, codes[k], a, b);
  const test =
    (k: number) =>
    (a: Expr, b: Expr): Expr =>
      apply("i32", codes[k], a, b);
  const constant = float === "f64" ? f64 : f32;
  return {
    float,
    width: 1,
    type: float,
    mask: "i32",
    constant,
    splat: (x) => x,
    splatMask: (p) => p,
    add: two(0),
    sub: two(1),
    mul: two(2),
    div: two(3),
    min: two(4),
    max: two(5),
    neg: one(6),
    abs: one(7),
    sqrt: one(8),
    floor: one(9),
    trunc: one(10),
    nearest: one(11),
    eq: test(12),
    lt: test(13),
    le: test(14),
    and: int.and,
    or: int.or,
    xor: int.xor,
    not: int.eqz,
    select,
    number: (p) => apply(float, float === "f64" ? 0xb7 : 0xb2, p),
  };
}

function vectorLanes(float: Float): Lanes {
  const codes = opcodes[float].vector;
  const op =
    (k: number) =>
    (...operands: readonly Expr[]): Expr =>
      apply("v128", simd(codes[k]), ...operands);
  const splat = (x: Expr): Expr => apply("v128", simd(float === "f64" ? 0x14 : 0x13), x);
  const constant = (x: number): Expr => {
    const { code } = float === "f64" ? f64(x) : f32(x);
    const bytes = code.slice(1);
    const all = float === "f64" ? [...bytes, ...bytes] : [...bytes, ...bytes, ...bytes, ...bytes];
    return { type: "v128", code: simd(0x0c, ...all) };
  };
  const bits =
    (k: number) =>
    (...operands: readonly Expr[]): Expr =>
      apply("v128", simd(k), ...operands);
  const and = bits(0x4e);
  const ones = float === "f64" ? 0x12 : 0x11;
  return {
    float,
    width: float === "f64" ? 2 : 4,
    type: "v128",
    mask: "v128",
    constant,
    splat,
    splatMask: (p) => {
      const all = int.sub(i32(0), p);
      return apply("v128", simd(ones), float === "f64" ? long.extend(all) : all);
    },
    add: op(0),
    sub: op(1),
    mul: op(2),
    div: op(3),
    min: op(4),
    max: op(5),
    neg: op(6),
    abs: op(7),
    sqrt: op(8),
    floor: op(9),
    trunc: op(10),
    nearest: op(11),
    eq: op(12),
    lt: op(13),
    le: op(14),
    and,
    or: bits(0x50),
    xor: bits(0x51),
    not: bits(0x4d),
    select: (p, a, b) => apply("v128", simd(0x52), a, b, p),
    number: (p) => and(p, constant(1)),
  };
}

export const lanes: Readonly<Record<Float, { readonly one: Lanes; readonly many: Lanes }>> = {
  f64: { one: scalarLanes("f64"), many: vectorLanes("f64") },
  f32: { one: scalarLanes("f32"), many: vectorLanes("f32") },
};

/** Operations on the bits of one or two f64 values. */
export interface Bits {
  of(x: Expr): Expr;
  toFloat(b: Expr): Expr;
  constant(n: bigint): Expr;
  add(a: Expr, b: Expr): Expr;
  sub(a: Expr, b: Expr): Expr;
  and(a: Expr, b: Expr): Expr;
  or(a: Expr, b: Expr): Expr;
  shl(a: Expr, n: number): Expr;
  /** With the sign. */
  shr(a: Expr, n: number): Expr;
}

const scalarBits: Bits = {
  of: (x) => apply("i64", 0xbd, x),
  toFloat: (b) => apply("f64", 0xbf, b),
  constant: i64,
  add: long.add,
  sub: long.sub,
  and: long.and,
  or: long.or,
  shl: (a, n) => long.shl(a, i64(n)),
  shr: (a, n) => long.shr(a, i64(n)),
};

const v =
  (k: number) =>
  (...operands: readonly Expr[]): Expr =>
    apply("v128", simd(k), ...operands);

const vectorBits: Bits = {
  of: (x) => x,
  toFloat: (b) => b,
  constant: (n) => {
    const [, ...bytes] = long64(n);
    return { type: "v128", code: simd(0x0c, ...bytes, ...bytes) };
  },
  add: v(0xce),
  sub: v(0xd1),
  and: v(0x4e),
  or: v(0x50),
  shl: (a, n) => v(0xcb)(a, i32(n)),
  shr: (a, n) => v(0xcc)(a, i32(n)),
};

/** A marker and the eight bytes of an integer. */
function long64(n: bigint): number[] {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, BigInt.asUintN(64, n), true);
  return [0, ...new Uint8Array(view.buffer)];
}

export const bitsOf = (l: Lanes): Bits => (l.width === 1 ? scalarBits : vectorBits);

/** Lane k of a vector. */
export const lane = (x: Expr, k: number, float: Float): Expr =>
  apply(float, simd(float === "f64" ? 0x21 : 0x1f, k), x);

export const withLane = (x: Expr, k: number, value: Expr, float: Float): Expr =>
  apply("v128", simd(float === "f64" ? 0x22 : 0x20, k), x, value);

/** Applies a function of one number to every lane, if it has no vector form. */
export function eachLane(
  code: Code,
  l: Lanes,
  operands: readonly Expr[],
  f: (...x: readonly Expr[]) => Expr,
): Expr {
  if (l.width === 1) return f(...operands);
  const held = operands.map((x) => code.let(x));
  let out = code.let(l.splat(f(...held.map((x) => lane(x, 0, l.float)))));
  for (let k = 1; k < l.width; k++)
    out = code.let(withLane(out, k, f(...held.map((x) => lane(x, k, l.float))), l.float));
  return out;
}
