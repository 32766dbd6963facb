/**
 * Samplers on WebGPU without a GPU: SwiftShader, in a process of its own, because the driver is chosen when Vulkan starts.
 * A GPU need not make NaN of log(−1), so whether a point left the domain must not hang on it.
 */
import { expect, it } from "vitest";
import { leftOut, onSwiftShader } from "../engine/starts.ts";
import type { Finding } from "./swiftshader.ts";

it("a GPU takes the steps of the processor, also by a score out of an ONNX file, and sees the same ones leave the domain", {
  timeout: 600_000,
}, async () => {
  const found = await onSwiftShader("sampler/swiftshader.ts");
  if ("why" in found) return leftOut("samplers on a GPU", found.why);
  const findings = JSON.parse(found.printed) as Finding[];
  expect(findings.filter(({ exits }) => exits[0] > 50).length).toBeGreaterThan(6);
  expect(findings.filter(({ map }) => map === "a file's")).toHaveLength(2);
  for (const { map, method, exits, difference } of findings) {
    expect(exits[1], `${map}, ${method}`).toBe(exits[0]);
    expect(difference, `${map}, ${method}`).toBeLessThan(1e-3);
  }
});
