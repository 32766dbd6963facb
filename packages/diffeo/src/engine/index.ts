/** diffeo/engine: compile functions on tensors and run them on a device. */
export {
  type ArrayInput,
  type ArrayInputs,
  type Arrays,
  type Compiled,
  type CompileOptions,
  compile,
  evaluate,
  type OpenSpec,
  type OpenSpecs,
} from "./compile.ts";
export { DeviceArray, release, toHost } from "./device-array.ts";
export { openModel } from "./model.ts";
export { devices } from "./runtime.ts";
export type { Device, OpeningOptions, Session, SessionOptions } from "./session.ts";
