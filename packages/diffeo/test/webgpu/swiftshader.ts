/**
 * What `webgpu.test.ts` runs in a process whose Vulkan is SwiftShader. Prints what it found as
 * JSON.
 */
import * as ort from "onnxruntime-node";
import * as diffeo from "../../src/index.ts";
import { cases } from "../engine/cases.ts";
import { type Finding, onDevice, survey } from "../engine/survey.ts";
import { type SamplerFinding, surveySamplers } from "./samplers.ts";

const { add, compile, exp, grad, matmul, mul, release, sum, tanh, toHost, trace, writeOnnx } =
  diffeo;
type T = diffeo.Tensor;

/**
 * Cases with a node that ONNX Runtime gives to the processor, which one session of all others
 * proves complete.
 */
async function onProcessor(): Promise<string[]> {
  const refuses = async (list: ReturnType<typeof cases>): Promise<boolean> => {
    const outputs = list.flatMap(({ f, shapes }, i) => {
      const names = shapes.map((_, k) => `case${i}.x${k}`);
      const traced = trace(f as (...x: never[]) => T, shapes, "float32", names);
      return [{ name: `case${i}.y`, tensor: traced.outputs[0].tensor }];
    });
    const options = {
      executionProviders: ["webgpu"],
      logSeverityLevel: 4,
      extra: { session: { disable_cpu_ep_fallback: "1" } },
    } as const;
    try {
      await (await ort.InferenceSession.create(writeOnnx(outputs, "gpu").bytes, options)).release();
      return false;
    } catch (error) {
      if (/fallback to CPU EP has been explicitly disabled/.test((error as Error).message))
        return true;
      throw error;
    }
  };
  // By halves: whole stretches of the table need one session.
  const search = async (list: ReturnType<typeof cases>): Promise<string[]> => {
    if (!(await refuses(list))) return [];
    if (list.length === 1) return [list[0].name];
    const middle = list.length >> 1;
    return [...(await search(list.slice(0, middle))), ...(await search(list.slice(middle)))];
  };
  return search(cases(diffeo));
}

/** Runs of two functions and of one function twice, all asked for at once, and each alone. */
async function together(): Promise<{ atOnce: number[][]; alone: number[][] }> {
  const x = Array.from({ length: 64 }, (_, i) =>
    Array.from({ length: 64 }, (_, j) => Math.sin(i * 64 + j)),
  );
  const f = compile((t: T) => sum(tanh(matmul(t, t)), 1), [[64, 64]], { device: "webgpu" });
  const g = compile(
    grad((t: T) => sum(exp(mul(matmul(t, t), 1e-2)))),
    [[64, 64]],
    { device: "webgpu" },
  );
  const onThread = compile((t: T) => sum(tanh(matmul(t, t)), 1), [[64, 64]], {
    device: "webgpu",
    worker: true,
  });
  const numbers = (a: diffeo.NdArray): number[] => [...(a.data as Float32Array)];
  const atOnce = (await Promise.all([f(x), g(x), f(x), onThread(x), g(x), onThread(x)])).map(
    numbers,
  );
  const alone = [numbers(await f(x)), numbers(await g(x))];
  await Promise.all([f.dispose(), g.dispose(), onThread.dispose()]);
  return { atOnce, alone };
}

/**
 * A state that stays on the GPU over a hundred steps, and what a function on the processor says to
 * it.
 */
async function kept(): Promise<{ value: number[]; refusal: string }> {
  const step = compile((state: { w: T }) => ({ state: { w: add(state.w, 1) } }), [{ w: [3] }], {
    device: "webgpu",
    keep: ["state"],
  });
  let state: { readonly w: diffeo.NdArray } = { w: diffeo.ndarray([1, 2, 3]) };
  for (let i = 0; i < 100; i++) {
    const next = (await step(state)).state;
    release(state.w);
    state = next;
  }
  const onCpu = compile((w: T) => add(w, 1), [[3]]);
  const refusal = await onCpu(state.w).then(
    () => "none",
    (error: Error) => error.message,
  );
  const value = [...((await toHost(state.w)).data as Float32Array)];
  release(state.w);
  await Promise.all([step.dispose(), onCpu.dispose()]);
  return { value, refusal };
}

export interface Report {
  readonly findings: readonly Finding[];
  readonly onProcessor: readonly string[];
  readonly together: { readonly atOnce: readonly number[][]; readonly alone: readonly number[][] };
  readonly kept: { readonly value: readonly number[]; readonly refusal: string };
  readonly samplers: readonly SamplerFinding[];
}

// One device for all: the runtime gives its device up with its last session, and with it every
// shader it has translated, which on a Vulkan in software is where the time goes. A session that
// stays keeps them.
const stays = compile((x: T) => exp(x), [[1]], { device: "webgpu" });
await stays([0]);
const report: Report = {
  findings: await survey(diffeo, onDevice(diffeo, { device: "webgpu" }), ["float32"]),
  onProcessor: await onProcessor(),
  together: await together(),
  kept: await kept(),
  samplers: await surveySamplers(),
};
await stays.dispose();
console.log(JSON.stringify(report));
