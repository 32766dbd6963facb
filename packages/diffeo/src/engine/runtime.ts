/** Devices by name, and the runtime of some of them, which is loaded when it is first needed. */
import { DiffeoError, fail } from "../graph/index.ts";
import type { Device, Runtime } from "./session.ts";

/**
 * ONNX Runtime for Node or for browsers. The package's `imports` field says which file `#runtime`
 * is: Node's runtime in Node, the browser's elsewhere. This fails if it is not installed.
 */
export const loadRuntime = async (): Promise<Runtime> => (await import("#runtime")).runtime;

export const hasRuntime = (): Promise<boolean> =>
  loadRuntime().then(
    (runtime) => runtime.available(),
    (error: unknown) => {
      if (error instanceof DiffeoError) return false;
      throw error;
    },
  );

const cpuDevice: Device = {
  name: "cpu",
  target: "cpu",
  types: ["float32", "float64"],
  description: "the processor: for each graph the faster of diffeo's compiler and ONNX Runtime",
};

const wasmDevice: Device = {
  name: "wasm",
  target: "cpu",
  types: ["float32", "float64"],
  description: "diffeo's own compiler to WebAssembly: fast on small graphs, needs no runtime",
};

const referenceDevice: Device = {
  name: "reference",
  target: "cpu",
  types: ["float32", "float64"],
  description: "plain TypeScript in float64: slow, independent of any runtime",
};

/** The device of the runtime that a device of this library uses. */
export const ofRuntime = (name: string): string =>
  own.some((device) => device.name === name) ? "onnxruntime" : name;

/** Devices that do not need the runtime, or only for some graphs. */
const own: readonly Device[] = [cpuDevice, wasmDevice, referenceDevice];

/**
 * Lists the devices, without those of ONNX Runtime if it is not installed. The driver of a listed
 * device may be missing.
 */
export const devices = async (): Promise<readonly Device[]> => {
  const others = (await hasRuntime()) ? (await loadRuntime()).devices : [];
  return [cpuDevice, ...others, wasmDevice, referenceDevice];
};

export async function deviceNamed(name: string): Promise<Device> {
  const known = own.find((d) => d.name === name);
  if (known) return known;
  const { devices: others } = await loadRuntime();
  return (
    others.find((d) => d.name === name) ??
    fail(
      "device",
      `unknown device "${name}"`,
      `use one of ${["cpu", ...others.map((d) => d.name), "wasm", "reference"].join(", ")}`,
    )
  );
}
