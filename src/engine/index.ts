/** diffeo/engine: compile functions on tensors and run them on a device. */
export {
  type ArrayInput,
  type Arrays,
  type Compiled,
  type CompileOptions,
  compile,
  evaluate,
  type OpenSpec,
} from "./compile.ts";
export { devices } from "./runtime.ts";
export type { Device, Session, SessionOptions } from "./session.ts";
