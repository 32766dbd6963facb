/**
 * Node without onnxruntime-node, whose install step may fail if only a package registry can be
 * reached.
 */
import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { withoutNative } from "./no-native.ts";

it("computes in WebAssembly, and says that the native runtime is missing", () => {
  const program = `
    import { compile, devices, grad, exp, sum } from "diffeo";
    const f = compile(grad((x) => sum(exp(x))), [[2]], { type: "float64", device: "onnxruntime" });
    const { data } = await f([0, 1]);
    await f.dispose();
    console.log(JSON.stringify({ data: [...data], devices: await devices() }));`;
  const found = JSON.parse(
    execFileSync(process.execPath, withoutNative(program), {
      cwd: import.meta.dirname,
      encoding: "utf8",
    }),
  );
  expect(found.data[0]).toBe(1);
  expect(found.data[1]).toBeCloseTo(Math.E, 14);
  expect(found.devices.map(({ name }: { name: string }) => name)).toEqual([
    "cpu",
    "onnxruntime",
    "wasm",
    "reference",
  ]);
  expect(found.devices[1].description).toMatch(
    /WebAssembly: onnxruntime-node, which is faster, is not installed/,
  );
});
