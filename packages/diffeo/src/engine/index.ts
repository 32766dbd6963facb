/** diffeo/engine: compiles functions of tensors and runs them on a device. */
export type { ArrayInput, OpenSpec } from "./arguments.ts";
export {
  type ArrayInputs,
  type Arrays,
  type Compiled,
  type CompileOptions,
  compile,
  evaluate,
  type OpenSpecs,
} from "./compile.ts";
export { DeviceArray, release, toHost } from "./device-array.ts";
export { type OpenModel, openModel } from "./model.ts";
export { devices } from "./runtime.ts";
export type { Device, OpeningOptions, SessionOptions } from "./session.ts";
