/** Asks WebGPU for exp(0), in a process whose Vulkan is SwiftShader. */
import { compile, exp, type Tensor } from "../../src/index.ts";

const f = compile((x: Tensor) => exp(x), [[2]], { device: "webgpu" });
const outcome = await f([0, 0]).then(
  ({ data }) => [...(data as Float32Array)].join(","),
  (error: Error) => error.message,
);
await f.dispose();
console.log(outcome);
