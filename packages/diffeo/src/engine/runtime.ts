/** Which runtime this is, loaded when first needed: ONNX Runtime for Node or for browsers. */
import { fail } from "../graph/index.ts";
import type { Device, Runtime } from "./session.ts";

// The package's `imports` field says which file `#runtime` is: Node's runtime in Node, the
// browser's elsewhere.
export const loadRuntime = async (): Promise<Runtime> => (await import("#runtime")).runtime;

const referenceDevice: Device = {
  name: "reference",
  target: "cpu",
  types: ["float32", "float64"],
  description: "plain TypeScript in float64: slow, independent of any runtime",
};

const wasmDevice: Device = {
  name: "wasm",
  target: "cpu",
  types: ["float32", "float64"],
  description: "diffeo's own compiler to WebAssembly: fast on small graphs, needs no runtime",
};

/** Devices that need no runtime. */
const own: readonly Device[] = [wasmDevice, referenceDevice];

/** Devices this runtime knows by name. That one is listed does not mean its driver is installed. */
export const devices = async (): Promise<readonly Device[]> => [
  ...(await loadRuntime()).devices,
  ...own,
];

export async function deviceNamed(name: string): Promise<Device> {
  const known = own.find((d) => d.name === name);
  if (known) return known;
  const all = await devices();
  return (
    all.find((d) => d.name === name) ??
    fail(
      "device",
      `there is no device "${name}"`,
      `use one of ${all.map((d) => d.name).join(", ")}`,
    )
  );
}
