/**
 * Vector instructions as arithmetic on the halves of a vector, two 64-bit integers, lane by lane
 * (`scalar.ts`). Sums keep as many accumulators as a vector has lanes, so results have the bits of
 * the vector form.
 */
import { internal } from "../../graph/error.ts";
import { apply, type Expr, i32, i64, int, long } from "./code.ts";
import type { ValueType } from "./encode.ts";
import { lanes } from "./lanes.ts";

/** The halves of a vector. */
export type Halves = readonly [low: Expr, high: Expr];
/** An operand or result of an instruction: a vector or a number. */
export type Operand = Halves | Expr;
/** The type of an operand. */
export type Kind = ValueType;

interface Rule {
  readonly takes: readonly Kind[];
  /** Operands may be read repeatedly. */
  readonly gives: (operands: readonly Operand[], immediates: readonly number[]) => Operand;
}

/** Whether an operand is a vector. */
export const isHalves = (x: Operand): x is Halves => Array.isArray(x);

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

/** Applies the same to both halves. */
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

/** Float instructions by the scalar form of `Lanes`: opcodes of f64×2 and of f32×4. */
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

/** A vector with all lanes equal to one number. */
const splat = (type: Kind, half: (x: Expr) => Expr): Rule => ({
  takes: [type],
  gives: ([x]) => [half(x as Expr), half(x as Expr)],
});
/** Half a vector with both 32-bit lanes equal to one number. */
export const twice = (x: Expr): Expr => ofWords([x, x]);

/** Half k of a vector. */
export const half = (x: Operand, k: number): Expr => (x as Halves)[k];
/** Lane k of the four of 32 bits. */
export const word = (x: Operand, k: number): Expr => wordsOf(half(x, k >> 1))[k & 1];
/** A vector with one of its four lanes replaced. */
export function withWord(x: Operand, k: number, value: Expr): Halves {
  const halves = [half(x, 0), half(x, 1)] as [Expr, Expr];
  const words = [...wordsOf(halves[k >> 1])];
  words[k & 1] = value;
  halves[k >> 1] = ofWords(words);
  return halves;
}
/** A vector with one half replaced. */
export const withHalf = (x: Operand, k: number, value: Expr): Halves =>
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

/** Rules by the opcode after 0xfd, except for instructions that read or write memory. */
export const rules: ReadonlyMap<number, Rule> = new Map<number, Rule>([
  ...floatRules(),
  [
    0x0d,
    {
      takes: ["v128", "v128"],
      // Only shuffles of eight neighbouring bytes, since modules use no others.
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
  // Bits of a where the mask is 1, of b elsewhere.
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

/** Whether an instruction names a lane in a byte after its opcode. */
export const hasLane = (opcode: number): boolean => opcode >= 0x15 && opcode <= 0x22;
