/**
 * WebGPU without a GPU: onnxruntime-node's provider on SwiftShader, the software Vulkan of Debian's
 * chromium. In a process of its own, because the driver is chosen when Vulkan starts.
 */
import { describe, expect, it } from "vitest";
import { compile, exp, type Tensor } from "../../src/index.ts";
import { leftOut, onSwiftShader } from "../engine/starts.ts";
import type { Report } from "./swiftshader.ts";

const found = await onSwiftShader("webgpu/swiftshader.ts");

if ("printed" in found)
  describe("WebGPU on SwiftShader", () => {
    const report = JSON.parse(found.printed) as Report;

    it("agrees with the reference to 1e-4 on every operation", () => {
      expect(report.findings.length).toBeGreaterThan(100);
      expect(report.findings.filter((f) => !(f.error <= 1e-4))).toEqual([]);
    });

    it("leaves nothing to the processor but inverses and positions as int64", () => {
      expect(report.onProcessor).toEqual([
        "oneHot of argmax",
        "argmax",
        "argTop",
        "argsort",
        "inverse",
        "solve",
        "gradient of cholesky",
        "gradient of logAbsDet",
      ]);
    });

    it("runs what is asked at once one after another, on every thread, to the same numbers", () => {
      const [f, g] = report.together.alone;
      expect(report.together.atOnce).toEqual([f, g, f, f, g, f]);
    });

    it("keeps state on the device from step to step, and other devices refuse it", () => {
      expect(report.kept.value).toEqual([101, 102, 103]);
      expect(report.kept.refusal).toMatch(/in the memory of webgpu .* Read it with toHost/);
    });

    it("takes the steps of the processor, also by a score out of an ONNX file, and sees the same ones leave the domain", () => {
      const { samplers } = report;
      expect(samplers.filter(({ exits }) => exits[0] > 50).length).toBeGreaterThan(6);
      expect(samplers.filter(({ map }) => map === "a file's")).toHaveLength(2);
      for (const { map, solver, exits, difference } of samplers) {
        expect(exits[1], `${map}, ${solver}`).toBe(exits[0]);
        expect(difference, `${map}, ${solver}`).toBeLessThan(1e-3);
      }
    });
  });
else
  describe("WebGPU without SwiftShader", () => {
    it("works, or says how to get it", async () => {
      leftOut(
        "every operation and samplers on WebGPU, which is only asked whether it starts",
        found.why,
      );
      const f = compile((x: Tensor) => exp(x), [[2]], { device: "webgpu" });
      const outcome = await f([0, 0]).then(
        ({ data }) => [...(data as Float32Array)],
        (error: Error) => error.message,
      );
      if (typeof outcome === "string")
        expect(outcome).toMatch(/did not start.*Install a Vulkan loader/s);
      else expect(outcome).toEqual([1, 1]);
      await f.dispose();
    });
  });
