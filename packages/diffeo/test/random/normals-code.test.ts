/** Sub-keys and normals of many keys in a WebAssembly module have the bits of `diffeo/random`. */
import { expect, it } from "vitest";
import { Code } from "../../src/engine/wasm/code.ts";
import { callFunction, Module } from "../../src/engine/wasm/module.ts";
import { fold, key, normal, sampleKeys } from "../../src/random/index.ts";
import {
  foldFunction,
  grouped,
  groupedBytes,
  layOutNormals,
  normalsFunction,
} from "../../src/random/normals-code.ts";

/** The normals of `fold(keys, step)` by a module of its own. */
async function drawn(count: number, size: number, dtype: "float32" | "float64", step: number) {
  const module = new Module();
  const keys = 4096;
  const folded = keys + groupedBytes(count);
  const out = folded + groupedBytes(count);
  const memory = layOutNormals(out + 8 * count * size + 16, [size]);
  const run = module.reserve();
  const [fold32, normals] = [
    foldFunction(module, count),
    normalsFunction(module, memory, { count, size, dtype }),
  ];
  const code = new Code(["i32", "i32", "i32", "i32"]);
  const [from, n, to, z] = [0, 1, 2, 3].map((i) => code.parameter(i));
  code.run(callFunction(fold32), from, n, to);
  code.run(callFunction(normals), to, z);
  module.define(run, code.finish([], "run"));
  const { instance } = await WebAssembly.instantiate(module.encode(memory.end));
  const exports = instance.exports as unknown as {
    readonly memory: WebAssembly.Memory;
    readonly run: (from: number, n: number, to: number, out: number) => void;
  };
  const own = sampleKeys(key("many"), count, 3);
  const words = grouped(own);
  new Uint32Array(exports.memory.buffer, keys, words.length).set(words);
  exports.run(keys, step, folded, out);
  const View = dtype === "float32" ? Float32Array : Float64Array;
  return {
    found: new View(exports.memory.buffer, out, count * size),
    expected: normal(fold(own, step), size, { dtype }).data,
  };
}

it.each([
  [1, 1],
  [1, 7],
  [3, 3],
  [4, 2],
  [5, 5],
  [13, 96],
  [2000, 2],
  [3, 5000],
])("has the normals of %i keys with %i numbers each", async (count, size) => {
  for (const dtype of ["float32", "float64"] as const) {
    const { found, expected } = await drawn(count, size, dtype, 12_345);
    expect([...found]).toEqual([...expected]);
  }
});

it("draws nothing without keys or numbers", async () => {
  for (const [count, size] of [[0, 3], [3, 0]] as const) // biome-ignore format: pairs
    expect((await drawn(count, size, "float64", 0)).found.length).toBe(0);
});
