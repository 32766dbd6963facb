/**
 * A function on vectors as one on 64-bit integers, for hosts without SIMD:
 *
 *   a vector              two i64, the lower half first, in locals and on the stack
 *   an instruction on it  the same arithmetic, a lane at a time
 *
 * Sums still have as many accumulators as a vector has lanes, so that results have the bits of the
 * vector form. Instructions on anything else stay as they are.
 */
import { internal } from "../../graph/error.ts";
import { apply, type Expr, i32, i64, int, long, select } from "./code.ts";
import { type FunctionBody, signed, unsigned, type ValueType } from "./encode.ts";
import { lanes } from "./lanes.ts";

/** (func (result v128) i32.const 0, i8x16.splat): what a host without vectors refuses. */
const PROBE = Uint8Array.of(
  ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 5, 1, 0x60, 0, 1, 0x7b, 3, 2, 1, 0],
  ...[10, 8, 1, 6, 0, 0x41, 0, 0xfd, 0x0f, 0x0b],
);

/** Whether this host has vectors of 128 bits. */
export const hasVectors = (): boolean => WebAssembly.validate(PROBE);

/** The halves of a vector. */
type Halves = readonly [low: Expr, high: Expr];
/** What an instruction takes and gives: a vector, or a number. */
type Operand = Halves | Expr;
type Kind = ValueType;

interface Rule {
  readonly takes: readonly Kind[];
  /** Operands may be read any number of times. */
  readonly gives: (operands: readonly Operand[], immediates: readonly number[]) => Operand;
}

const isHalves = (x: Operand): x is Halves => Array.isArray(x);

const toF64 = (x: Expr): Expr => apply("f64", 0xbf, x);
const ofF64 = (x: Expr): Expr => apply("i64", 0xbd, x);
/** The 32-bit words of half a vector as integers, and back. */
const wordsOf = (x: Expr): readonly Expr[] => [long.wrap(x), long.wrap(long.shrU(x, i64(32)))];
const ofWords = ([low, high]: readonly Expr[]): Expr =>
  long.or(long.extendU(low), long.shl(long.extendU(high), i64(32)));
const toF32 = (x: Expr): Expr => apply("f32", 0xbe, x);
const ofF32 = (x: Expr): Expr => apply("i32", 0xbc, x);
const allOrNone = (condition: Expr): Expr => int.sub(i32(0), condition);

const vectors = (n: number): Kind[] => new Array<Kind>(n).fill("v128");
type Lanewise = (...x: readonly Expr[]) => Expr;

/** The same on both halves. */
const onHalves = (n: number, f: Lanewise): Rule => ({
  takes: vectors(n),
  gives: (given) => {
    const x = given as readonly Halves[];
    return [f(...x.map(([low]) => low)), f(...x.map(([, high]) => high))];
  },
});
const onF64 = (n: number, f: Lanewise): Rule => onHalves(n, (...x) => ofF64(f(...x.map(toF64))));
const onWords = (n: number, f: Lanewise): Rule =>
  onHalves(n, (...x) => {
    const words = x.map(wordsOf);
    return ofWords([0, 1].map((k) => f(...words.map((w) => w[k]))));
  });
const onF32 = (n: number, f: Lanewise): Rule => onWords(n, (...x) => ofF32(f(...x.map(toF32))));

/** Instructions on floats, which `Lanes` has one at a time: opcodes of f64×2 and of f32×4. */
function floatRules(): [number, Rule][] {
  const [wide, narrow] = [lanes.f64.one, lanes.f32.one];
  const rows = [
    ["add", 2, 0xf0, 0xe4],
    ["sub", 2, 0xf1, 0xe5],
    ["mul", 2, 0xf2, 0xe6],
    ["div", 2, 0xf3, 0xe7],
    ["min", 2, 0xf4, 0xe8],
    ["max", 2, 0xf5, 0xe9],
    ["neg", 1, 0xed, 0xe1],
    ["abs", 1, 0xec, 0xe0],
    ["sqrt", 1, 0xef, 0xe3],
    ["floor", 1, 0x75, 0x68],
    ["trunc", 1, 0x7a, 0x69],
    ["nearest", 1, 0x94, 0x6a],
  ] as const;
  const tests = [
    ["eq", 0x47, 0x41],
    ["lt", 0x49, 0x43],
    ["le", 0x4b, 0x45],
  ] as const;
  return [
    ...rows.flatMap(([name, n, f64x2, f32x4]): [number, Rule][] => [
      [f64x2, onF64(n, wide[name] as Lanewise)],
      [f32x4, onF32(n, narrow[name] as Lanewise)],
    ]),
    ...tests.flatMap(([name, f64x2, f32x4]): [number, Rule][] => [
      [f64x2, onHalves(2, (a, b) => long.extend(allOrNone(wide[name](toF64(a), toF64(b)))))],
      [f32x4, onWords(2, (a, b) => allOrNone(narrow[name](toF32(a), toF32(b))))],
    ]),
  ];
}

/** A vector whose lanes are all one number. */
const splat = (type: Kind, half: (x: Expr) => Expr): Rule => ({
  takes: [type],
  gives: ([x]) => [half(x as Expr), half(x as Expr)],
});
const twice = (x: Expr): Expr => ofWords([x, x]);

/** Half k of two, and the word of it that lane `k` of four is. */
const half = (x: Operand, k: number): Expr => (x as Halves)[k];
const word = (x: Operand, k: number): Expr => wordsOf(half(x, k >> 1))[k & 1];
/** A vector with another lane of four. */
function withWord(x: Operand, k: number, value: Expr): Halves {
  const halves = [half(x, 0), half(x, 1)] as [Expr, Expr];
  const words = [...wordsOf(halves[k >> 1])];
  words[k & 1] = value;
  halves[k >> 1] = ofWords(words);
  return halves;
}
const withHalf = (x: Operand, k: number, value: Expr): Halves =>
  k === 0 ? [value, half(x, 1)] : [half(x, 0), value];

const shift = (f: (a: Expr, n: Expr) => Expr): Rule => ({
  takes: ["v128", "i32"],
  gives: ([x, n]) => [
    f(half(x, 0), long.extendU(n as Expr)),
    f(half(x, 1), long.extendU(n as Expr)),
  ],
});
const shiftWords = (f: (a: Expr, n: Expr) => Expr): Rule => ({
  takes: ["v128", "i32"],
  gives: ([x, n]) =>
    [0, 1].map((k) =>
      ofWords(wordsOf(half(x, k)).map((w) => f(w, n as Expr))),
    ) as unknown as Halves,
});
const test = (f: (x: Halves) => Expr): Rule => ({
  takes: ["v128"],
  gives: ([x]) => f(x as Halves),
});
const isNot0 = (x: Expr): Expr => int.eqz(long.eqz(x));

/** Opcodes after 0xfd, without those that read or write memory. */
const rules: ReadonlyMap<number, Rule> = new Map<number, Rule>([
  ...floatRules(),
  [
    0x0d,
    {
      takes: ["v128", "v128"],
      // Eight neighbouring bytes at a time: that is all that modules move.
      gives: ([a, b], bytes) => {
        const halves = [half(a, 0), half(a, 1), half(b, 0), half(b, 1)];
        const from = [bytes[0], bytes[8]];
        const whole =
          bytes.every((v, i) => v === from[i >> 3] + (i & 7)) &&
          (from[0] % 8) + (from[1] % 8) === 0;
        if (!whole) internal("a shuffle moves other things than halves");
        return [halves[from[0] / 8], halves[from[1] / 8]];
      },
    },
  ],
  [0x11, splat("i32", twice)],
  [0x12, splat("i64", (x) => x)],
  [0x13, splat("f32", (x) => twice(ofF32(x)))],
  [0x14, splat("f64", ofF64)],
  [0x1f, { takes: ["v128"], gives: ([x], [k]) => toF32(word(x, k)) }],
  [0x20, { takes: ["v128", "f32"], gives: ([x, y], [k]) => withWord(x, k, ofF32(y as Expr)) }],
  [0x21, { takes: ["v128"], gives: ([x], [k]) => toF64(half(x, k)) }],
  [0x22, { takes: ["v128", "f64"], gives: ([x, y], [k]) => withHalf(x, k, ofF64(y as Expr)) }],
  [0x4d, onHalves(1, (a) => long.xor(a, i64(-1)))],
  [0x4e, onHalves(2, long.and)],
  [0x50, onHalves(2, long.or)],
  [0x51, onHalves(2, long.xor)],
  // a where the mask has ones, b elsewhere.
  [0x52, onHalves(3, (a, b, p) => long.or(long.and(a, p), long.and(b, long.xor(p, i64(-1)))))],
  [0x53, test(([low, high]) => isNot0(long.or(low, high)))],
  [
    0x5e,
    {
      takes: ["v128"],
      gives: ([x]) => [
        ofWords([0, 1].map((k) => ofF32(apply("f32", 0xb6, toF64(half(x, k)))))),
        i64(0),
      ],
    },
  ],
  [
    0x5f,
    {
      takes: ["v128"],
      gives: ([x]) =>
        [0, 1].map((k) => ofF64(apply("f64", 0xbb, toF32(word(x, k))))) as unknown as Halves,
    },
  ],
  [
    0xa3,
    test(([low, high]) =>
      [...wordsOf(low), ...wordsOf(high)].map((w) => int.ne(w, i32(0))).reduce(int.and),
    ),
  ],
  [0xc3, test(([low, high]) => int.and(isNot0(low), isNot0(high)))],
  [
    0xc4,
    test(([low, high]) => {
      const sign = (x: Expr): Expr => long.wrap(long.shrU(x, i64(63)));
      return int.or(sign(low), int.shl(sign(high), i32(1)));
    }),
  ],
  [0xab, shiftWords(int.shl)],
  [0xad, shiftWords(int.shrU)],
  [0xae, onWords(2, int.add)],
  [0xcb, shift(long.shl)],
  [0xcc, shift(long.shr)],
  [0xce, onHalves(2, long.add)],
  [0xd1, onHalves(2, long.sub)],
  [
    0xff,
    {
      takes: ["v128"],
      gives: ([x]) => [0, 1].map((k) => ofF64(apply("f64", 0xb8, word(x, k)))) as unknown as Halves,
    },
  ],
]);

const hasLane = (opcode: number): boolean => opcode >= 0x15 && opcode <= 0x22;

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

/** Locals that an instruction's operands are held in. */
const SCRATCH: readonly ValueType[] = [
  ...(["i64", "i64", "i64", "i64", "i64", "i64"] as const),
  ...(["i32", "i64", "f32", "f64"] as const),
];

class Rewriter {
  readonly #body: FunctionBody;
  readonly #code: number[] = [];
  readonly #types: readonly ValueType[];
  /** Where each local is among the new ones; a vector takes two. */
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

  /** The local that holds a number, or half h of operand k. */
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

  /** Of vectors: half by half. */
  #select(reader: Reader): void {
    const [count, type] = reader.bytes(2);
    if (type !== V128) {
      this.#emit(0x1c, count, type);
      return;
    }
    const [a, b, p] = this.#take(["v128", "v128", "i32"]);
    this.#give([0, 1].map((k) => select(p as Expr, half(a, k), half(b, k))) as unknown as Halves);
  }

  /** The operands that are on the stack, in locals. */
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

  /** Loads and stores: of all, of one number for all lanes, of one lane. */
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

/** The function with the same results and no vector. */
export const withoutVectors = (body: FunctionBody): FunctionBody => new Rewriter(body).rewrite();
