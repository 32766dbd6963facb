import type { CompileOptions } from "diffeo/engine";

/** Where graphs of a table run. */
export interface EngineOptions {
  /** Default "cpu". Work in float64, such as that of a flow, runs there on any device. */
  readonly device?: string;
  /** Threads of one operation. Default: as many as there are cores. */
  readonly threads?: number;
}

/** As `compile` takes it. */
export type Engine = EngineOptions & Pick<CompileOptions, "type">;

/** A network is in float32, also on a device whose own type is another. */
export const engineOf = ({ device, threads }: EngineOptions): Engine => ({
  type: "float32",
  device,
  threads,
});
