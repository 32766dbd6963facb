/**
 * One WebGPU device for all work of a process. The runtime gives its device up with its last session, and with it every
 * shader it has translated, which on a Vulkan in software is where the time goes: a session that stays keeps them.
 */
import { compile, exp, type Tensor } from "../../src/index.ts";

export async function onOneDevice<T>(work: () => Promise<T>): Promise<T> {
  const stays = compile((x: Tensor) => exp(x), [[1]], { device: "webgpu" });
  await stays([0]);
  return work().finally(() => stays.dispose());
}
