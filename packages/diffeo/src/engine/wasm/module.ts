/**
 * A module under construction: called functions are written at their first call, and constants have
 * an address in memory.
 */
import { internal } from "../../graph/error.ts";
import { apply, Code, type Expr, simd } from "./code.ts";
import { encodeModule, type FunctionBody, type Segment, unsigned } from "./encode.ts";
import { exp, expm1, log, log1p, sigmoid, softplus, tanh } from "./exponential.ts";
import { digamma, logGamma } from "./gamma.ts";
import { eachLane, type Lanes, lanes } from "./lanes.ts";
import { pow } from "./power.ts";
import { hasVectors, withoutVectors } from "./scalar.ts";
import { erf, erfc } from "./special.ts";
import { atan, circular, circularFar, twoOverPi } from "./trigonometry.ts";

export type Operands = readonly Expr[];
type Body = (module: Module, code: Code, l: Lanes, x: Operands) => Expr;

const one =
  (f: (code: Code, l: Lanes, x: Expr) => Expr): Body =>
  (_, code, l, [x]) =>
    f(code, l, x);

/** sin and cos, which reduce large arguments separately, one at a time. */
const turning =
  (name: string, turn: bigint): Body =>
  (module, code, l, [x]) =>
    circular(code, l, x, turn, (far) => module.call(`${name}Far`, lanes.f64.one, [far]));

const turningFar =
  (turn: bigint): Body =>
  (module, code, l, [x]) =>
    circularFar(code, l, x, turn, module.constant("2/π", twoOverPi));

/** A function without a vector form. */
const eachOne =
  (name: string, f: (code: Code, ...x: Operands) => Expr): Body =>
  (module, code, l, x) =>
    l.width === 1
      ? f(code, ...x)
      : eachLane(code, l, x, (...y) => module.call(name, lanes.f64.one, y));

/** Functions of float64 numbers by name. */
const bodies: Readonly<Record<string, Body>> = {
  exp: one(exp),
  expm1: one(expm1),
  log: one(log),
  log1p: one(log1p),
  tanh: one(tanh),
  sigmoid: one(sigmoid),
  softplus: one(softplus),
  sin: turning("sin", 0n),
  cos: turning("cos", 1n),
  sinFar: turningFar(0n),
  cosFar: turningFar(1n),
  atan: one(atan),
  erf: eachOne("erf", erf),
  erfc: eachOne("erfc", erfc),
  pow: eachOne("pow", pow),
  logGamma: eachOne("logGamma", logGamma),
  digamma: eachOne("digamma", digamma),
};

export const isFunction = (name: string): boolean => Object.hasOwn(bodies, name);

/** Constants begin here: address 0 is unused. */
const FIRST = 64;
const ALIGN = 16;
export const aligned = (n: number): number => Math.ceil(n / ALIGN) * ALIGN;

const promoteLow = (x: Expr): Expr => apply("v128", simd(0x5f), x);
const shuffle = (a: Expr, b: Expr, bytes: readonly number[]): Expr =>
  apply("v128", simd(0x0d, ...bytes), a, b);
const range = (from: number, n: number): number[] => Array.from({ length: n }, (_, i) => from + i);

/** The instruction that calls a function of the module. */
export const callFunction = (index: number): number[] => [0x10, ...unsigned(index)];

export class Module {
  readonly #functions: (FunctionBody | undefined)[] = [];
  readonly #indices = new Map<string, number>();
  readonly #segments: Segment[] = [];
  readonly #constants = new Map<unknown, number>();
  #end = FIRST;

  /** The end of the constants. */
  get end(): number {
    return this.#end;
  }

  /** The address of bytes, which are stored at the first request. */
  constant(key: unknown, bytes: () => Uint8Array): number {
    const known = this.#constants.get(key);
    if (known !== undefined) return known;
    const address = this.#end;
    const content = bytes();
    this.#segments.push({ address, bytes: content });
    this.#end = aligned(address + content.length);
    this.#constants.set(key, address);
    return address;
  }

  readonly #faults: string[] = [];

  /**
   * Registers an error that depends on the numbers of a call: its number, and the address to which
   * a function writes the number of its error.
   */
  fault(what: string): { readonly number: number; readonly address: number } {
    const address = this.constant("fault", () => new Uint8Array(4));
    const known = this.#faults.indexOf(what);
    const number = known < 0 ? this.#faults.push(what) : known + 1;
    return { number, address };
  }

  /** The possible errors by number from 1, and the address of the number. */
  get faults(): { readonly what: readonly string[]; readonly address: number } | undefined {
    if (this.#faults.length === 0) return undefined;
    return { what: this.#faults, address: this.constant("fault", () => new Uint8Array(4)) };
  }

  /** Reserves the next index for a function whose body follows. */
  reserve(): number {
    return this.#functions.push(undefined) - 1;
  }

  define(index: number, body: FunctionBody): void {
    this.#functions[index] = body;
  }

  /** The index of a function by name, which is written at the first request. */
  function(name: string, write: () => FunctionBody): number {
    const known = this.#indices.get(name);
    if (known !== undefined) return known;
    const index = this.reserve();
    this.#indices.set(name, index);
    this.define(index, write());
    return index;
  }

  /** f(x, …) of all lanes; float32 numbers are computed in float64 and rounded once. */
  call(name: string, l: Lanes, x: Operands): Expr {
    const key = `${name} ${l.float}×${l.width}`;
    let index = this.#indices.get(key);
    if (index === undefined) {
      index = this.reserve();
      this.#indices.set(key, index);
      const code = new Code(x.map(() => l.type));
      const parameters = x.map((_, i) => code.parameter(i));
      const value =
        l.float === "f64"
          ? bodies[name](this, code, l, parameters)
          : this.#narrow(name, code, l, parameters);
      this.define(index, code.finish([value]));
    }
    return apply(l.type, callFunction(index), ...x);
  }

  #narrow(name: string, code: Code, l: Lanes, x: Operands): Expr {
    if (l.width === 1) {
      const wide = x.map((v) => apply("f64", 0xbb, v));
      return apply("f32", 0xb6, this.call(name, lanes.f64.one, wide));
    }
    const half = (values: Operands): Expr =>
      code.let(apply("v128", simd(0x5e), this.call(name, lanes.f64.many, values.map(promoteLow))));
    const high = (v: Expr): Expr => code.let(shuffle(v, v, [...range(8, 8), ...range(8, 8)]));
    return shuffle(half(x), half(x.map(high)), [...range(0, 8), ...range(16, 8)]);
  }

  /**
   * The bytes of the module, on a host without SIMD in the scalar form, which has the same results.
   */
  encode(bytes: number): Uint8Array<ArrayBuffer> {
    const functions = this.#functions.map((f) => f ?? internal("a function has no body"));
    const own = hasVectors() ? functions : functions.map(withoutVectors);
    return encodeModule(own, bytes, this.#segments);
  }
}
