/**
 * Typed WebAssembly expressions, and functions built from them.
 *
 * An expression consists of the bytes that leave one value on the stack. It may be used once; `let`
 * stores its value in a local that may be read repeatedly. A function is written block by block:
 * the bytes of an inner loop are collected separately, so that code that is constant in it can
 * still be written before it (`at`).
 */
import { internal } from "../../graph/error.ts";
import {
  type FunctionBody,
  floatBytes,
  type Signature,
  signed,
  unsigned,
  type ValueType,
} from "./encode.ts";

export interface Expr {
  readonly type: ValueType;
  readonly code: readonly number[];
}

export interface Local extends Expr {
  readonly index: number;
}

/** An instruction on operands; `opcode` begins with its prefix bytes. */
export const apply = (
  type: ValueType,
  opcode: number | readonly number[],
  ...operands: readonly Expr[]
): Expr => {
  const code: number[] = [];
  for (const { code: c } of operands) for (let i = 0; i < c.length; i++) code.push(c[i]);
  if (typeof opcode === "number") code.push(opcode);
  else code.push(...opcode);
  return { type, code };
};

/** A SIMD opcode. */
export const simd = (opcode: number, ...immediates: readonly number[]): number[] => [
  0xfd,
  ...unsigned(opcode),
  ...immediates,
];

export const i32 = (n: number): Expr => ({ type: "i32", code: [0x41, ...signed(n | 0)] });
export const i64 = (n: bigint | number): Expr => ({
  type: "i64",
  code: [0x42, ...signed(BigInt.asIntN(64, BigInt(n)))],
});
export const f32 = (x: number): Expr => ({ type: "f32", code: [0x43, ...floatBytes(x, "f32")] });
export const f64 = (x: number): Expr => ({ type: "f64", code: [0x44, ...floatBytes(x, "f64")] });

/** Address and immediate of a load or store, without an alignment hint. */
export const memory = (
  opcode: number | readonly number[],
  offset: number,
  lane?: number,
): number[] => [
  ...(typeof opcode === "number" ? [opcode] : opcode),
  0,
  ...unsigned(offset),
  ...(lane === undefined ? [] : [lane]),
];

const integer =
  (opcode: number, type: ValueType = "i32") =>
  (a: Expr, b: Expr): Expr =>
    apply(type, opcode, a, b);

/** Operations on 32-bit integers. */
export const int = {
  eqz: (a: Expr): Expr => apply("i32", 0x45, a),
  eq: integer(0x46),
  ne: integer(0x47),
  lt: integer(0x48),
  ltU: integer(0x49),
  gt: integer(0x4a),
  le: integer(0x4c),
  ge: integer(0x4e),
  add: integer(0x6a),
  sub: integer(0x6b),
  mul: integer(0x6c),
  and: integer(0x71),
  or: integer(0x72),
  xor: integer(0x73),
  shl: integer(0x74),
  shr: integer(0x75),
  shrU: integer(0x76),
  rotl: integer(0x77),
} as const;

/** Operations on 64-bit integers. */
export const long = {
  eqz: (a: Expr): Expr => apply("i32", 0x50, a),
  eq: integer(0x51),
  lt: integer(0x53),
  le: integer(0x57),
  add: integer(0x7c, "i64"),
  sub: integer(0x7d, "i64"),
  mul: integer(0x7e, "i64"),
  and: integer(0x83, "i64"),
  or: integer(0x84, "i64"),
  xor: integer(0x85, "i64"),
  shl: integer(0x86, "i64"),
  shr: integer(0x87, "i64"),
  shrU: integer(0x88, "i64"),
  clz: (a: Expr): Expr => apply("i64", 0x79, a),
  wrap: (a: Expr): Expr => apply("i32", 0xa7, a),
  extend: (a: Expr): Expr => apply("i64", 0xac, a),
  extendU: (a: Expr): Expr => apply("i64", 0xad, a),
} as const;

/** `a` if the condition is not 0, else `b`. Both are computed. */
export const select = (condition: Expr, a: Expr, b: Expr): Expr =>
  apply(
    a.type,
    [0x1c, 1, { i32: 0x7f, i64: 0x7e, f32: 0x7d, f64: 0x7c, v128: 0x7b }[a.type]],
    a,
    b,
    condition,
  );

/** The body of one function under construction. */
export class Code {
  readonly #parameters: readonly ValueType[];
  readonly #locals: ValueType[] = [];
  readonly #free = new Map<ValueType, number[]>();
  /** Bytes and locals of the open blocks, from that of the function inwards. */
  readonly #blocks: { code: number[]; owned: Local[] }[] = [{ code: [], owned: [] }];
  /** The block that instructions are written to: the innermost open one, except within `at`. */
  #level = 0;

  constructor(parameters: readonly ValueType[] = []) {
    this.#parameters = parameters;
  }

  parameter(index: number): Local {
    return { type: this.#parameters[index], index, code: [0x20, ...unsigned(index)] };
  }

  /** The number of open blocks within the function. */
  get depth(): number {
    return this.#blocks.length - 1;
  }

  /** Runs `f`, and writes its code into block `level`, before the inner blocks that are open. */
  at<T>(level: number, f: () => T): T {
    const before = this.#level;
    this.#level = level;
    try {
      return f();
    } finally {
      this.#level = before;
    }
  }

  #emit(bytes: readonly number[]): void {
    const { code } = this.#blocks[this.#level];
    for (let i = 0; i < bytes.length; i++) code.push(bytes[i]);
  }

  /**
   * A local of the current block, which is reused after the block ends. Code before an open block
   * gets a new local, since inner blocks may have used a free one.
   */
  local(type: ValueType): Local {
    const given = this.#level === this.depth ? this.#free.get(type)?.pop() : undefined;
    const index = given ?? this.#parameters.length + this.#locals.push(type) - 1;
    const local: Local = { type, index, code: [0x20, ...unsigned(index)] };
    this.#blocks[this.#level].owned.push(local);
    return local;
  }

  set(local: Local, value: Expr): void {
    if (local.type !== value.type) internal(`a local of ${local.type} is set to ${value.type}`);
    this.#emit(value.code);
    this.#emit([0x21, ...unsigned(local.index)]);
  }

  /** A value that may be read repeatedly. */
  let(value: Expr): Expr {
    if ("index" in value || isLiteral(value)) return value;
    const local = this.local(value.type);
    this.set(local, value);
    return local;
  }

  /** Writes an expression without a result: a store. */
  run(opcode: readonly number[], ...operands: readonly Expr[]): void {
    for (const { code } of operands) this.#emit(code);
    this.#emit(opcode);
  }

  /** Runs `f` in a new block, and writes it between `open` and `close`. */
  block(open: readonly number[], f: () => void, close: readonly number[] = [0x0b]): void {
    if (this.#level !== this.depth) internal("a block is opened outside the innermost one");
    this.#blocks.push({ code: [], owned: [] });
    this.#level++;
    f();
    const { code, owned } = this.#blocks.pop() as { code: number[]; owned: Local[] };
    this.#level--;
    this.#emit(open);
    this.#emit(code);
    this.#emit(close);
    for (const { type, index } of owned) {
      const free = this.#free.get(type) ?? [];
      free.push(index);
      this.#free.set(type, free);
    }
  }

  /** for (i = from; i < to; i += step); the loop runs at least once if `surely`. */
  loop(from: Expr, to: Expr, step: number, f: (i: Local) => void, surely = false): void {
    const i = this.local("i32");
    this.set(i, from);
    const run = (): void =>
      this.block([0x03, 0x40], () => {
        f(i);
        this.set(i, int.add(i, i32(step)));
        this.run([0x0d, 0], int.lt(i, to));
      });
    if (surely) run();
    else this.when(int.lt(i, to), run);
  }

  when(condition: Expr, then: () => void, otherwise?: () => void): void {
    this.#emit(condition.code);
    if (!otherwise) {
      this.block([0x04, 0x40], then);
      return;
    }
    this.block([0x04, 0x40], then, []);
    this.block([0x05], otherwise);
  }

  /** Repeats while the condition holds; it is tested first. */
  while(condition: () => Expr, f: () => void): void {
    this.block([0x02, 0x40], () =>
      this.block([0x03, 0x40], () => {
        this.run([0x0d, 1], int.eqz(condition()));
        f();
        this.run([0x0c, 0]);
      }),
    );
  }

  /** The finished function; `result` is left on the stack. */
  finish(results: readonly Expr[], name?: string): FunctionBody {
    for (const { code } of results) this.#emit(code);
    const signature: Signature = {
      parameters: this.#parameters,
      results: results.map((r) => r.type),
    };
    return { ...signature, locals: this.#locals, code: this.#blocks[0].code, name };
  }
}

/** Whether an expression is a single constant. */
function isLiteral({ code }: Expr): boolean {
  if (code[0] === 0x43) return code.length === 5;
  if (code[0] === 0x44) return code.length === 9;
  if (code[0] !== 0x41 && code[0] !== 0x42) return false;
  return code.slice(1).every((b, i, rest) => (i === rest.length - 1 ? b < 128 : b >= 128));
}
