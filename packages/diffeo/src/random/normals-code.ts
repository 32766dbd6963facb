/**
 * Standard normals of many keys at once, as functions of a module: the bits of `fold` and of
 * `normal` from `Keys`, four keys in the lanes of a vector.
 *
 *   words of four keys   k₀ of all four, k₁ of all four, …: 64 bytes per group
 *   fold                 group ↦ group
 *   normals              uniform numbers of some rows, row by row, then Φ⁻¹ of two neighbours:
 *                        of all as if they lay around the median, then of those in the tails again,
 *                        whose places a list keeps. So no branch depends on a random number.
 */
import { apply, Code, type Expr, i32, int, type Local, memory, simd } from "../engine/wasm/code.ts";
import { bitsOf, lanes } from "../engine/wasm/lanes.ts";
import { aligned, callFunction, type Module } from "../engine/wasm/module.ts";
import type { FloatType } from "../graph/index.ts";
import { ratios } from "../graph/normal.ts";
import { logOfParts, ratio, threefryOf, type Words } from "./code.ts";
import { FOLD, type Keys } from "./key.ts";

const l = lanes.f64.many;
const bits = bitsOf(l);

const v =
  (opcode: number, ...immediates: readonly number[]) =>
  (...operands: readonly Expr[]): Expr =>
    apply("v128", simd(opcode, ...immediates), ...operands);
const splat = v(0x11);
const [shl, shrU, or, convertLow, demote] = [0xab, 0xad, 0x50, 0xff, 0x5e].map((k) => v(k));
const range = (from: number, n: number): number[] => Array.from({ length: n }, (_, i) => from + i);
/** The upper half of a vector in both halves. */
const upper = (x: Expr): Expr => v(0x0d, ...range(8, 8), ...range(8, 8))(x, x);

const loadVector = (address: Expr, offset: number): Expr =>
  apply("v128", memory(simd(0x00), offset), address);
const storeVector = (code: Code, address: Expr, offset: number, value: Expr): void =>
  code.run(memory(simd(0x0b), offset), address, value);
/** Writes 32 or 64 bits of a vector. */
const storeLane = (code: Code, width: 4 | 8, k: number, at: Expr, offset: number, x: Expr): void =>
  code.run(memory(simd(width === 4 ? 0x5a : 0x5b), offset, k), at, x);

const words: Words = {
  type: "v128",
  constant: (n) => splat(i32(n)),
  add: v(0xae),
  xor: v(0x51),
  rotl: (a, by) => or(shl(a, i32(by)), shrU(a, i32(32 - by))),
};

/** Four keys, and as many bytes as they take. */
const GROUP = 64;
const LANES = 4;
const groupsOf = (count: number): number => Math.ceil(count / LANES);

/** How many bytes so many keys take in groups. */
export const groupedBytes = (count: number): number => groupsOf(count) * GROUP;

/** Keys as a module has them. */
export function grouped({ count, words: given }: Keys): Uint32Array {
  const out = new Uint32Array(groupedBytes(count) / 4);
  for (let i = 0; i < count; i++)
    for (let k = 0; k < 4; k++)
      out[Math.floor(i / LANES) * 16 + k * LANES + (i % LANES)] = given[4 * i + k];
  return out;
}

/** The block of the four keys at an address, and a counter. */
function blockAt(code: Code, group: Expr, counter: readonly Expr[]): readonly Local[] {
  const key = [0, 1, 2, 3].map((i) => code.let(loadVector(group, 16 * i)));
  return threefryOf(
    code,
    words,
    key,
    counter.map((word) => splat(word)),
  );
}

/** The index of (from, n, to): sub-key n of each of so many keys. */
export function foldFunction(module: Module, count: number): number {
  return module.function(`fold ${count}`, () => {
    const code = new Code(["i32", "i32", "i32"]);
    const [from, n, to] = [0, 1, 2].map((i) => code.parameter(i));
    code.loop(i32(0), i32(groupedBytes(count)), GROUP, (at) => {
      const x = blockAt(code, code.let(int.add(from, at)), [n, i32(0), i32(0), i32(FOLD)]);
      const into = code.let(int.add(to, at));
      x.forEach((word, i) => {
        storeVector(code, into, 16 * i, word);
      });
    });
    return code.finish([]);
  });
}

/** Numbers worked on at a time, which a first-level cache holds. */
const CHUNK = 1024;

/** Memory that `normalsFunction` works in. */
export interface NormalsMemory {
  readonly uniforms: number;
  /** Uniform numbers of the tails, and their places in bytes of the uniform ones. */
  readonly tails: number;
  readonly places: number;
  readonly end: number;
}

const chunkGroups = (size: number): number =>
  Math.max(1, Math.floor(CHUNK / Math.max(1, size) / LANES));

/** Memory for draws of so many numbers a key. */
export function layOutNormals(start: number, sizes: readonly number[]): NormalsMemory {
  const most = Math.max(0, ...sizes.map((size) => chunkGroups(size) * LANES * size)) + 4;
  const uniforms = aligned(start);
  const tails = aligned(uniforms + 8 * most);
  const places = aligned(tails + 8 * most);
  return { uniforms, tails, places, end: aligned(places + 4 * most) };
}

/** u of words that are random: `unit.ts`, of the lower two lanes. */
function unitOf(code: Code, high: Expr, low: Expr): Expr {
  const m = l.add(l.mul(convertLow(high), l.constant(0x100000)), convertLow(low));
  return code.let(l.mul(l.add(m, l.constant(0.5)), l.constant(2 ** -52)));
}

/** The index of (keys, groups): uniform numbers of groups of keys, a row of `size` for each. */
function uniformsFunction(module: Module, { uniforms }: NormalsMemory, size: number): number {
  return module.function(`uniforms ${size}`, () => {
    const code = new Code(["i32", "i32"]);
    const [keys, groups] = [code.parameter(0), code.parameter(1)];
    const row = 8 * size;
    const numbers = (group: Expr, block: Expr, to: Expr, halves: number): void => {
      const x = blockAt(code, group, [block, i32(0), i32(0), i32(0)]);
      for (let half = 0; half < halves; half++) {
        const high = x[2 * half];
        const low = code.let(shrU(x[2 * half + 1], i32(12)));
        const pairs = [unitOf(code, high, low), unitOf(code, upper(high), upper(low))];
        for (let k = 0; k < LANES; k++)
          storeLane(code, 8, k % 2, to, uniforms + k * row + 8 * half, pairs[k >> 1]);
      }
    };
    code.loop(i32(0), groups, 1, (g) => {
      const group = code.let(int.add(keys, int.mul(g, i32(GROUP))));
      const start = code.let(int.mul(g, i32(LANES * row)));
      const whole = Math.floor(size / 2);
      if (whole > 0)
        code.loop(i32(0), i32(whole), 1, (block) => {
          numbers(group, block, code.let(int.add(start, int.shl(block, i32(4)))), 2);
        });
      if (size % 2 === 1) numbers(group, i32(whole), code.let(int.add(start, i32(16 * whole))), 1);
    });
    return code.finish([]);
  });
}

/** −ln τ of two numbers in (0, ½]: `logValue` of graph/normal.ts, whose m is in (√½, √2]. */
function minusLog(code: Code, tau: Expr): Expr {
  const shift = 0x4338000000000000n;
  const whole = code.let(bits.shr(bits.sub(bits.of(tau), bits.constant(0x3fe6a09e667f3bcen)), 52));
  const m = code.let(bits.toFloat(bits.sub(bits.of(tau), bits.shl(whole, 52))));
  const k = l.sub(
    bits.toFloat(bits.add(whole, bits.constant(shift))),
    l.constant(6755399441055744),
  );
  return l.neg(logOfParts(code, l, m, k));
}

/** The index of (n, out): Φ⁻¹ of n uniform numbers, an odd n counted one up. */
function quantilesFunction(module: Module, own: NormalsMemory, dtype: FloatType): number {
  const bytes = dtype === "float32" ? 4 : 8;
  return module.function(`quantiles ${dtype}`, () => {
    const code = new Code(["i32", "i32"]);
    const [n, out] = [code.parameter(0), code.parameter(1)];
    const tails = code.local("i32");
    code.set(tails, i32(0));
    const to = code.local("i32");
    code.set(to, out);
    code.loop(i32(0), int.shl(n, i32(3)), 16, (at) => {
      const u = code.let(loadVector(at, own.uniforms));
      const q = code.let(l.sub(u, l.constant(0.5)));
      const x = code.let(l.sub(l.constant(0.180625), l.mul(q, q)));
      const z = code.let(l.mul(q, ratio(l, x, ratios.centre)));
      if (bytes === 8) storeVector(code, to, 0, z);
      else storeLane(code, 8, 0, to, 0, demote(z));
      const outside = code.let(apply("i32", simd(0xc4), l.lt(l.constant(0.425), l.abs(q))));
      for (const k of [0, 1]) {
        storeLane(code, 8, k, code.let(int.shl(tails, i32(3))), own.tails, u);
        const place = k === 0 ? to : int.add(to, i32(bytes));
        code.run(memory(0x36, own.places), int.shl(tails, i32(2)), place);
        code.set(
          tails,
          int.add(tails, k === 0 ? int.and(outside, i32(1)) : int.shrU(outside, i32(1))),
        );
      }
      code.set(to, int.add(to, i32(2 * bytes)));
    });
    code.when(int.lt(i32(0), tails), () => {
      // The last of an odd number is computed twice.
      const last = code.let(int.sub(tails, i32(1)));
      const wide = int.shl(last, i32(3));
      const u = apply("f64", memory(0x2b, own.tails), wide);
      code.run(memory(0x39, own.tails + 8), int.shl(last, i32(3)), u);
      const place = apply("i32", memory(0x28, own.places), int.shl(last, i32(2)));
      code.run(memory(0x36, own.places + 4), int.shl(last, i32(2)), place);
      code.loop(i32(0), tails, 2, (t) => tailPair(code, own, t, bytes), true);
    });
    return code.finish([]);
  });
}

function tailPair(code: Code, own: NormalsMemory, t: Expr, bytes: 4 | 8): void {
  const u = code.let(loadVector(int.shl(t, i32(3)), own.tails));
  const below = code.let(l.lt(u, l.constant(0.5)));
  const tau = code.let(l.select(below, u, l.sub(l.constant(1), u)));
  const r = code.let(l.sqrt(minusLog(code, tau)));
  const z = code.local("v128");
  code.set(z, ratio(l, code.let(l.sub(r, l.constant(1.6))), ratios.tail));
  const isFar = code.let(l.lt(l.constant(5), r));
  code.when(apply("i32", simd(0x53), isFar), () => {
    const far = code.let(ratio(l, code.let(l.sub(r, l.constant(5))), ratios.far));
    code.set(z, l.select(isFar, far, z));
  });
  const signed = code.let(l.select(below, l.neg(z), z));
  const written = bytes === 8 ? signed : code.let(demote(signed));
  for (const k of [0, 1]) {
    const place = apply("i32", memory(0x28, own.places + 4 * k), int.shl(t, i32(2)));
    storeLane(code, bytes, k, place, 0, written);
  }
}

/**
 * The index of (keys, out): standard normals, a row of `size` for each of `count` keys. An odd
 * number of them needs room for one more, which becomes anything.
 */
export function normalsFunction(
  module: Module,
  own: NormalsMemory,
  {
    count,
    size,
    dtype,
  }: { readonly count: number; readonly size: number; readonly dtype: FloatType },
): number {
  return module.function(`normals ${count} ${size} ${dtype}`, () => {
    const code = new Code(["i32", "i32"]);
    const [keys, out] = [code.parameter(0), code.parameter(1)];
    if (count * size === 0) return code.finish([]);
    const bytes = dtype === "float32" ? 4 : 8;
    const step = chunkGroups(size);
    const uniforms = uniformsFunction(module, own, size);
    const quantiles = quantilesFunction(module, own, dtype);
    const chunk = (group: Expr, groups: number, rows: number): void => {
      const from = code.let(group);
      code.run(callFunction(uniforms), int.add(keys, int.mul(from, i32(GROUP))), i32(groups));
      const to = int.add(out, int.mul(from, i32(LANES * size * bytes)));
      code.run(callFunction(quantiles), i32(rows * size), to);
    };
    const whole = Math.floor(count / LANES / step) * step;
    if (whole > 0) code.loop(i32(0), i32(whole), step, (g) => chunk(g, step, step * LANES));
    const rest = count - whole * LANES;
    if (rest > 0) chunk(i32(whole), groupsOf(rest), rest);
    return code.finish([]);
  });
}
