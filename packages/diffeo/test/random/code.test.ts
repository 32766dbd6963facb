/**
 * Random numbers in a WebAssembly module have the bits of `diffeo/random`, also in the tails of
 * Φ⁻¹.
 */
import { expect, it } from "vitest";
import { Code, type Expr, i32 } from "../../src/engine/wasm/code.ts";
import { Module } from "../../src/engine/wasm/module.ts";
import { normalQuantileValue } from "../../src/graph/normal.ts";
import { normalOf, unitAt, writeFold, writeThreefry } from "../../src/random/code.ts";
import { bits, fold, key, normal, uniform } from "../../src/random/index.ts";

const [KEY, OUT] = [1024, 1040];

interface Exports {
  readonly memory: WebAssembly.Memory;
  readonly quantile: (u: number) => number;
  readonly block: (counter: number) => void;
  readonly first: () => number;
  readonly second: () => number;
  readonly foldName: () => void;
  readonly foldNumber: (n: number) => void;
}

const module = new Module();

/** Exports a function that returns what `write` does. */
function define(
  name: string,
  parameters: readonly ("i32" | "f64")[],
  write: (code: Code) => Expr | undefined,
): void {
  const code = new Code(parameters);
  const index = module.reserve();
  const value = write(code);
  module.define(index, code.finish(value ? [value] : [], name));
}
define("quantile", ["f64"], (code) => normalOf(module, code.parameter(0)));
define("first", [], () => unitAt(i32(OUT), 0));
define("second", [], () => unitAt(i32(OUT), 1));
define("block", ["i32"], (code) => {
  writeThreefry(module, code, i32(KEY), [code.parameter(0), i32(0), i32(0), i32(0)], i32(OUT));
  return undefined;
});
define("foldName", [], (code) => {
  writeFold(module, code, i32(KEY), "a longer name", i32(OUT));
  return undefined;
});
define("foldNumber", ["i32"], (code) => {
  writeFold(module, code, i32(KEY), code.parameter(0), i32(OUT));
  return undefined;
});
const { instance } = await WebAssembly.instantiate(module.encode(2048));
const { memory, ...f } = instance.exports as unknown as Exports;
const words = (at: number): Uint32Array => new Uint32Array(memory.buffer, at, 4);
const own = key("a test");
words(KEY).set(own.words);

it("has the blocks, uniform and normal numbers of a key", () => {
  const [raw, u, z] = [
    bits(own, 400).data,
    uniform(own, 200, { dtype: "float64" }).data,
    normal(own, 200, { dtype: "float64" }).data,
  ];
  for (let i = 0; i < 100; i++) {
    f.block(i);
    expect([...words(OUT)]).toEqual([...raw.subarray(4 * i, 4 * i + 4)]);
    expect([f.first(), f.second()]).toEqual([u[2 * i], u[2 * i + 1]]);
    expect([f.quantile(f.first()), f.quantile(f.second())]).toEqual([z[2 * i], z[2 * i + 1]]);
  }
});

it("has the bits of Φ⁻¹ on the whole interval", () => {
  for (let e = 1; e <= 53; e++)
    for (const m of [1, 1.25, 1.5, 1.9])
      for (const u of [m * 2 ** -e, 1 - m * 2 ** -e])
        if (u > 0 && u < 1) expect(f.quantile(u)).toBe(normalQuantileValue(u));
  for (let i = 1; i < 1000; i++) expect(f.quantile(i / 1000)).toBe(normalQuantileValue(i / 1000));
});

it("has the sub-keys of numbers and names", () => {
  f.foldName();
  expect([...words(OUT)]).toEqual([...fold(own, "a longer name").words]);
  for (const n of [0, 1, 77, 2 ** 30]) {
    f.foldNumber(n);
    expect([...words(OUT)]).toEqual([...fold(own, n).words]);
  }
});
