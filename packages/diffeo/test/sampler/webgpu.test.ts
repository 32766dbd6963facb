/**
 * Samplers on WebGPU without a GPU: SwiftShader, in a process of its own, because the driver is chosen when Vulkan starts.
 * A GPU need not make NaN of log(−1), so whether a point left the domain must not hang on it.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { hasChromium, swiftShader } from "../engine/browser.ts";
import { root } from "../engine/packed.ts";
import type { Finding } from "./swiftshader.ts";

it("a GPU takes the steps of the processor, and sees the same ones leave the domain", {
  timeout: 600_000,
}, async () => {
  if (!hasChromium()) return void console.error("chromium's SwiftShader is not installed: nothing to run on");
  const script = join(root, "test", "sampler", "swiftshader.ts");
  const env = { ...process.env, VK_ICD_FILENAMES: swiftShader };
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--conditions=diffeo-source", "--import", "tsx", script],
    { cwd: root, env },
  );
  const findings = JSON.parse(stdout) as Finding[];
  expect(findings.filter(({ exits }) => exits[0] > 50).length).toBeGreaterThan(6);
  for (const { map, method, exits, difference } of findings) {
    expect(exits[1], `${map}, ${method}`).toBe(exits[0]);
    expect(difference, `${map}, ${method}`).toBeLessThan(1e-3);
  }
});
