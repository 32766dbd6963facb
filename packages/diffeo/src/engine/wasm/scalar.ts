/**
 * Rewrites a function on vectors as one on 64-bit integers, for hosts without SIMD:
 *
 *   a vector              two i64, the lower half first, in locals and on the stack
 *   an instruction on it  the same arithmetic, one lane at a time (`vector-rules.ts`)
 *
 * Other instructions are unchanged.
 */
import { internal } from "../../graph/error.ts";
import { type Expr, long, select } from "./code.ts";
import { type FunctionBody, signed, unsigned, type ValueType } from "./encode.ts";
import {
  type Halves,
  half,
  hasLane,
  isHalves,
  type Kind,
  type Operand,
  rules,
  twice,
  withHalf,
  withWord,
  word,
} from "./vector-rules.ts";

/** (func (result v128) i32.const 0, i8x16.splat): a host without SIMD refuses it. */
const PROBE = Uint8Array.of(
  ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 5, 1, 0x60, 0, 1, 0x7b, 3, 2, 1, 0],
  ...[10, 8, 1, 6, 0, 0x41, 0, 0xfd, 0x0f, 0x0b],
);

/** Whether this host has 128-bit SIMD. */
export const hasVectors = (): boolean => WebAssembly.validate(PROBE);

/** Reads the numbers in a function's bytes. */
class Reader {
  readonly #code: readonly number[];
  at = 0;
  constructor(code: readonly number[]) {
    this.#code = code;
  }
  get done(): boolean {
    return this.at >= this.#code.length;
  }
  byte(): number {
    return this.#code[this.at++];
  }
  bytes(n: number): number[] {
    this.at += n;
    return this.#code.slice(this.at - n, this.at);
  }
  unsigned(): number {
    let [value, scale] = [0, 1];
    for (;;) {
      const b = this.byte();
      value += (b & 127) * scale;
      scale *= 128;
      if (b < 128) return value;
    }
  }
  /** The bytes of a number that is only copied. */
  leb(): number[] {
    const from = this.at;
    while (this.byte() >= 128);
    return this.#code.slice(from, this.at);
  }
}

const V128 = 0x7b;
const get = (index: number): number[] => [0x20, ...unsigned(index)];
const set = (index: number): number[] => [0x21, ...unsigned(index)];

/** The types of locals for the operands of an instruction. */
const SCRATCH: readonly ValueType[] = [
  ...(["i64", "i64", "i64", "i64", "i64", "i64"] as const),
  ...(["i32", "i64", "f32", "f64"] as const),
];

class Rewriter {
  readonly #body: FunctionBody;
  readonly #code: number[] = [];
  readonly #types: readonly ValueType[];
  /** The new index of each local; a vector takes two. */
  readonly #places: readonly number[];
  readonly #scratch: number;

  constructor(body: FunctionBody) {
    this.#body = body;
    this.#types = [...body.parameters, ...body.locals];
    let next = 0;
    this.#places = this.#types.map((type) => {
      next += type === "v128" ? 2 : 1;
      return next - (type === "v128" ? 2 : 1);
    });
    this.#scratch = next;
  }

  rewrite(): FunctionBody {
    const reader = new Reader(this.#body.code);
    while (!reader.done) this.#instruction(reader);
    const halves = (types: readonly ValueType[]): ValueType[] =>
      types.flatMap((t): ValueType[] => (t === "v128" ? ["i64", "i64"] : [t]));
    const { parameters, results, locals, name } = this.#body;
    return {
      parameters: halves(parameters),
      results: halves(results),
      locals: [...halves(locals), ...SCRATCH],
      code: this.#code,
      name,
    };
  }

  #emit(...bytes: readonly number[]): void {
    for (const b of bytes) this.#code.push(b);
  }

  /** The local of a number, or of half h of operand k. */
  #held(type: Kind, k = 0, h = 0): number {
    if (type === "v128") return this.#scratch + 2 * k + h;
    return this.#scratch + 6 + ["i32", "i64", "f32", "f64"].indexOf(type);
  }

  #instruction(reader: Reader): void {
    const opcode = reader.byte();
    if (opcode === 0xfd) this.#vector(reader);
    else if (opcode >= 0x20 && opcode <= 0x22) this.#local(opcode, reader.unsigned());
    else if (opcode === 0x1c) this.#select(reader);
    else this.#emit(opcode, ...this.#immediates(opcode, reader));
  }

  #immediates(opcode: number, reader: Reader): number[] {
    if (opcode >= 0x28 && opcode <= 0x3e) return [...reader.leb(), ...reader.leb()];
    if (opcode === 0x44) return reader.bytes(8);
    if (opcode === 0x43) return reader.bytes(4);
    if ([0x0c, 0x0d, 0x10, 0x41, 0x42].includes(opcode)) return reader.leb();
    if (opcode >= 0x02 && opcode <= 0x04) return reader.bytes(1);
    if (opcode !== 0xfc) return [];
    const second = reader.unsigned();
    return [...unsigned(second), ...reader.bytes(second === 0x0a ? 2 : second === 0x0b ? 1 : 0)];
  }

  #local(opcode: number, index: number): void {
    const at = this.#places[index];
    if (this.#types[index] !== "v128") this.#emit(opcode, ...unsigned(at));
    else if (opcode === 0x20) this.#emit(...get(at), ...get(at + 1));
    else {
      this.#emit(...set(at + 1), ...set(at));
      if (opcode === 0x22) this.#emit(...get(at), ...get(at + 1));
    }
  }

  /** Writes an operation on vectors, half by half. */
  #select(reader: Reader): void {
    const [count, type] = reader.bytes(2);
    if (type !== V128) {
      this.#emit(0x1c, count, type);
      return;
    }
    const [a, b, p] = this.#take(["v128", "v128", "i32"]);
    this.#give([0, 1].map((k) => select(p as Expr, half(a, k), half(b, k))) as unknown as Halves);
  }

  /** Moves the operands from the stack to locals. */
  #take(kinds: readonly Kind[]): Operand[] {
    let vector = 0;
    const operands = kinds.map((type): Operand => {
      if (type !== "v128") return { type, code: get(this.#held(type)) };
      const k = vector++;
      const [low, high] = [0, 1].map(
        (h): Expr => ({ type: "i64", code: get(this.#held(type, k, h)) }),
      );
      return [low, high];
    });
    for (const x of operands.toReversed())
      for (const { code } of (isHalves(x) ? x.toReversed() : [x]) as readonly Expr[])
        this.#emit(0x21, ...code.slice(1));
    return operands;
  }

  #give(value: Operand): void {
    for (const { code } of isHalves(value) ? value : [value]) this.#emit(...code);
  }

  #vector(reader: Reader): void {
    const opcode = reader.unsigned();
    if (opcode <= 0x0b || (opcode >= 0x54 && opcode <= 0x5d)) {
      this.#memory(opcode, reader);
      return;
    }
    if (opcode === 0x0c) {
      for (const bytes of [reader.bytes(8), reader.bytes(8)])
        this.#emit(0x42, ...signed(littleEndian(bytes)));
      return;
    }
    const rule = rules.get(opcode) ?? internal(`vector instruction ${opcode} has no scalar form`);
    const immediates = reader.bytes(opcode === 0x0d ? 16 : hasLane(opcode) ? 1 : 0);
    this.#give(rule.gives(this.#take(rule.takes), immediates));
  }

  /** Loads and stores of a vector, of one number for all lanes, and of one lane. */
  #memory(opcode: number, reader: Reader): void {
    const align = reader.unsigned();
    const offset = reader.unsigned();
    const access = (code: number, at: Expr, more = 0, value?: Expr): Expr => ({
      type: "i64",
      code: [...at.code, ...(value?.code ?? []), code, align, ...unsigned(offset + more)],
    });
    const [LOAD, LOAD32, STORE, STORE32] = [0x29, 0x35, 0x37, 0x3e];
    if (opcode === 0x00 || opcode === 0x09 || opcode === 0x0a) {
      const [at] = this.#take(["i32"]) as Expr[];
      if (opcode === 0x00) this.#give([access(LOAD, at), access(LOAD, at, 8)]);
      else {
        const one = access(opcode === 0x0a ? LOAD : LOAD32, at);
        this.#give(
          opcode === 0x0a
            ? [one, one]
            : ([0, 1].map(() => twice(long.wrap(one))) as unknown as Halves),
        );
      }
      return;
    }
    const [at, x] = this.#take(["i32", "v128"]) as [Expr, Halves];
    if (opcode === 0x0b) {
      this.#give(access(STORE, at, 0, half(x, 0)));
      this.#give(access(STORE, at, 8, half(x, 1)));
      return;
    }
    const k = reader.byte();
    const word32 = (): Expr => long.extendU(word(x, k));
    if (opcode === 0x57) this.#give(withHalf(x, k, access(LOAD, at)));
    else if (opcode === 0x56) this.#give(withWord(x, k, long.wrap(access(LOAD32, at))));
    else if (opcode === 0x5b) this.#give(access(STORE, at, 0, half(x, k)));
    else if (opcode === 0x5a) this.#give(access(STORE32, at, 0, word32()));
    else internal(`vector instruction ${opcode} has no scalar form`);
  }
}

const littleEndian = (bytes: readonly number[]): bigint =>
  BigInt.asIntN(
    64,
    bytes.reduceRight((n, b) => (n << 8n) | BigInt(b), 0n),
  );

/** The function with the same results, without vectors. */
export const withoutVectors = (body: FunctionBody): FunctionBody => new Rewriter(body).rewrite();
