/** Elementwise operations on numbers and vectors, by the name of the primitive. */

import { internal } from "../../graph/error.ts";
import type { DType, Tensor } from "../../graph/index.ts";
import { uniformValue } from "../../graph/tensor.ts";
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
  memory,
  select,
  simd,
} from "./code.ts";
import type { ValueType } from "./encode.ts";
import { type Float, type Lanes, lanes } from "./lanes.ts";
import { isFunction, type Module } from "./module.ts";

interface Element {
  readonly type: ValueType;
  readonly bytes: number;
  readonly load: number;
  readonly store: number;
}

/** The types of numbers in memory and on the stack. */
export const elements: Readonly<Record<DType, Element>> = {
  float64: { type: "f64", bytes: 8, load: 0x2b, store: 0x39 },
  float32: { type: "f32", bytes: 4, load: 0x2a, store: 0x38 },
  int32: { type: "i32", bytes: 4, load: 0x28, store: 0x36 },
  int64: { type: "i64", bytes: 8, load: 0x29, store: 0x37 },
  bool: { type: "i32", bytes: 1, load: 0x2d, store: 0x3a },
};

export const floatOf = (dtype: DType): Float | undefined =>
  dtype === "float64" ? "f64" : dtype === "float32" ? "f32" : undefined;

export const loadOne = (dtype: DType, address: Expr, offset: number): Expr => {
  const { type, load } = elements[dtype];
  return apply(type, memory(load, offset), address);
};

export const storeOne = (code: Code, dtype: DType, address: Expr, offset: number, x: Expr): void =>
  code.run(memory(elements[dtype].store, offset), address, x);

export const loadMany = (address: Expr, offset: number): Expr =>
  apply("v128", memory(simd(0x00), offset), address);

export const literal = (dtype: DType, value: number | bigint): Expr => {
  switch (elements[dtype].type) {
    case "f64":
      return f64(Number(value));
    case "f32":
      return f32(Number(value));
    case "i64":
      return i64(BigInt(value));
    default:
      return i32(Number(value));
  }
};

/** The place where an operation is written, and the width of its values. */
export interface Site {
  readonly module: Module;
  readonly code: Code;
  /** The lanes of the type of its operands; undefined for integers and booleans. */
  readonly lanes: Lanes | undefined;
}

type Rule = (l: Lanes, x: readonly Expr[], site: Site, node: Tensor) => Expr;

const gelu =
  (inner: (l: Lanes, x: Expr, site: Site) => Expr): Rule =>
  (l, [given], site) => {
    const x = site.code.let(given);
    return l.mul(l.mul(x, l.constant(0.5)), l.add(inner(l, x, site), l.constant(1)));
  };

const gelus: Readonly<Record<string, Rule>> = {
  none: gelu((l, x, { module }) => module.call("erf", l, [l.mul(x, l.constant(Math.SQRT1_2))])),
  tanh: gelu((l, x, { module }) => {
    const cube = l.add(l.mul(l.mul(x, x), l.constant(0.044715)), l.constant(1));
    return module.call("tanh", l, [l.mul(l.mul(x, l.constant(Math.sqrt(2 / Math.PI))), cube)]);
  }),
};

/** xⁿ by products, for a small integer n ≥ 1. */
const powers: Readonly<Record<number, (l: Lanes, x: Expr, code: Code) => Expr>> = {
  1: (_, x) => x,
  2: (l, x) => l.mul(x, x),
  3: (l, x) => l.mul(l.mul(x, x), x),
  4: (l, x, code) => {
    const square = code.let(l.mul(x, x));
    return l.mul(square, square);
  },
};

/** Operations on floats. */
const floats: Readonly<Record<string, Rule>> = {
  neg: (l, [x]) => l.neg(x),
  abs: (l, [x]) => l.abs(x),
  sqrt: (l, [x]) => l.sqrt(x),
  floor: (l, [x]) => l.floor(x),
  relu: (l, [x]) => l.max(x, l.constant(0)),
  squaredRelu: (l, [x], { code }) => {
    const y = code.let(l.max(x, l.constant(0)));
    return l.mul(y, y);
  },
  sign: (l, [given], { code }) => {
    const x = code.let(given);
    const down = l.select(l.lt(x, l.constant(0)), l.constant(-1), x);
    return l.select(l.lt(l.constant(0), x), l.constant(1), down);
  },
  gate: (l, x, { module }) => module.call("sigmoid", l, x),
  silu: (l, [given], { module, code }) => {
    const x = code.let(given);
    return l.mul(x, module.call("sigmoid", l, [x]));
  },
  gelu: (l, x, site, node) => gelus[node.attributes.approximate as string](l, x, site, node),
  add: (l, [a, b]) => l.add(a, b),
  sub: (l, [a, b]) => l.sub(a, b),
  mul: (l, [a, b]) => l.mul(a, b),
  div: (l, [a, b]) => l.div(a, b),
  maximum: (l, [a, b]) => l.max(a, b),
  minimum: (l, [a, b]) => l.min(a, b),
  less: (l, [a, b]) => l.lt(a, b),
  lessEqual: (l, [a, b]) => l.le(a, b),
  equal: (l, [a, b]) => l.eq(a, b),
  polygamma: (l, x, { module }) => module.call("digamma", l, x),
  pow: (l, [given, b], { module, code }, node) => {
    const n = uniformValue(node.inputs[1]);
    const by = n === undefined ? undefined : powers[Math.abs(n)];
    if (n === undefined || !by) return module.call("pow", l, [given, b]);
    const value = by(l, code.let(given), code);
    return n > 0 ? value : l.div(l.constant(1), value);
  },
};

/** Operations on integers of 32 or 64 bits. */
type Whole = (wide: boolean, a: Expr, b: Expr, code: Code, module: Module) => Expr;

const pick = (wide: boolean) => (wide ? long : int);
const zero = (wide: boolean): Expr => (wide ? i64(0) : i32(0));

const wholes: Readonly<Record<string, Whole>> = {
  neg: (wide, a) => pick(wide).sub(zero(wide), a),
  abs: (wide, given, _, code) => {
    const a = code.let(given);
    return select(pick(wide).lt(a, zero(wide)), pick(wide).sub(zero(wide), a), a);
  },
  sign: (wide, given, _, code) => {
    const a = code.let(given);
    const n = int.sub(pick(wide).lt(zero(wide), a), pick(wide).lt(a, zero(wide)));
    return wide ? long.extend(n) : n;
  },
  add: (wide, a, b) => pick(wide).add(a, b),
  sub: (wide, a, b) => pick(wide).sub(a, b),
  mul: (wide, a, b) => pick(wide).mul(a, b),
  // Rounds towards 0. A division by 0, or of the least number by −1, would trap.
  div: (wide, givenA, givenB, code, module) => {
    const [a, b] = [code.let(givenA), code.let(givenB)];
    const one = wide ? i64(1) : i32(1);
    const none = code.let(pick(wide).eq(b, zero(wide)));
    const { number, address } = module.fault("an integer is divided by 0");
    const before = apply("i32", memory(0x28, address), i32(0));
    code.run(memory(0x36, address), i32(0), select(none, i32(number), before));
    const minus = code.let(pick(wide).eq(b, wide ? i64(-1) : i32(-1)));
    const safe = select(int.or(none, minus), one, b);
    const quotient = apply(wide ? "i64" : "i32", wide ? 0x7f : 0x6d, a, safe);
    return select(minus, pick(wide).sub(zero(wide), a), quotient);
  },
  maximum: (wide, givenA, givenB, code) => {
    const [a, b] = [code.let(givenA), code.let(givenB)];
    return select(pick(wide).lt(a, b), b, a);
  },
  minimum: (wide, givenA, givenB, code) => {
    const [a, b] = [code.let(givenA), code.let(givenB)];
    return select(pick(wide).lt(a, b), a, b);
  },
  less: (wide, a, b) => pick(wide).lt(a, b),
  lessEqual: (wide, a, b) => pick(wide).le(a, b),
  equal: (wide, a, b) => pick(wide).eq(a, b),
};

/** Converts one number to another type; floats become integers by truncation and saturation. */
function converted(from: DType, to: DType, x: Expr): Expr {
  const [source, target] = [elements[from].type, elements[to].type];
  if (to === "bool") {
    if (from === "bool") return x;
    if (source === "f64") return apply("i32", 0x62, x, f64(0));
    if (source === "f32") return apply("i32", 0x5c, x, f32(0));
    return int.eqz(source === "i64" ? long.eqz(x) : int.eqz(x));
  }
  if (source === target) return x;
  const codes: Readonly<Record<string, number | readonly number[]>> = {
    "f64 f32": 0xb6,
    "f32 f64": 0xbb,
    "f64 i32": [0xfc, 0x02],
    "f32 i32": [0xfc, 0x00],
    "f64 i64": [0xfc, 0x06],
    "f32 i64": [0xfc, 0x04],
    "i32 f64": 0xb7,
    "i32 f32": 0xb2,
    "i64 f64": 0xb9,
    "i64 f32": 0xb4,
    "i32 i64": 0xac,
    "i64 i32": 0xa7,
  };
  return apply(target, codes[`${source} ${target}`], x);
}

const others = ["and", "or", "not", "where", "cast", "stopGradient", "variable"];

/** Whether a primitive is an operation of this file on its type. */
export function isMap({ op: { name }, inputs, dtype, attributes }: Tensor): boolean {
  if (others.includes(name)) return true;
  // Order 0 is digamma; the others are lowered.
  if (name === "polygamma") return attributes.order === 0;
  const operand = inputs[0]?.dtype ?? dtype;
  if (floatOf(operand))
    return Object.hasOwn(floats, name) || (inputs.length === 1 && isFunction(name));
  return Object.hasOwn(wholes, name);
}

/** The result of a map, on operands of one width: a float, an integer, or a condition. */
export function operation(site: Site, node: Tensor, x: readonly Expr[]): Expr {
  const { name } = node.op;
  const { lanes: l, code, module } = site;
  switch (name) {
    case "stopGradient":
    case "variable":
      return x[0];
    case "and":
    case "or":
      return l ? l[name](x[0], x[1]) : int[name](x[0], x[1]);
    case "not":
      return l ? l.not(x[0]) : int.eqz(x[0]);
    case "where":
      return l ? l.select(x[0], x[1], x[2]) : select(x[0], x[1], x[2]);
    case "cast": {
      const [{ dtype: from }] = node.inputs;
      if (!l || l.width === 1) return converted(from, node.dtype, x[0]);
      if (from === node.dtype) return x[0];
      return from === "bool" ? l.number(x[0]) : l.not(l.eq(x[0], l.constant(0)));
    }
    default:
  }
  const operand = node.inputs[0].dtype;
  if (floatOf(operand)) {
    const rule = floats[name];
    const own = l ?? lanes[floatOf(operand) as Float].one;
    return rule ? rule(own, x, { ...site, lanes: own }, node) : module.call(name, own, x);
  }
  const whole = wholes[name] ?? internal(`${name} of ${operand} has no code`);
  return whole(operand === "int64", x[0], x[1], code, module);
}

/** The rough cost of an operation, in additions. */
export const costOf = ({ op: { name } }: Tensor): number => {
  if (name === "div" || name === "sqrt") return 4;
  if (name === "pow" || name === "polygamma" || name.startsWith("erf")) return 40;
  if (["silu", "gelu", "gate"].includes(name) || isFunction(name)) return 20;
  return others.includes(name) && name !== "where" && name !== "cast" ? 0.5 : 1;
};
