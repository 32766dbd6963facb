/** What a runtime offers: devices by name, and sessions that run ONNX bytes on one of them. */
import type { NdArray, OnnxModel, Target } from "../graph/index.ts";

export interface SessionOptions {
  /** Threads inside one operation; the runtime's own choice if absent. Small graphs are fastest on one. */
  readonly threads?: number;
  /** Run on a thread of its own, so that the event loop, timers and Ctrl-C stay alive. */
  readonly worker?: boolean;
}

/** A compiled model on a device. */
export interface Session {
  run(feeds: Readonly<Record<string, NdArray>>): Promise<Record<string, NdArray>>;
  dispose(): Promise<void>;
}

export interface Device {
  readonly name: string;
  /** Which form of a graph it runs best. */
  readonly target: Target;
  readonly description: string;
}

export interface Runtime {
  readonly devices: readonly Device[];
  create(model: OnnxModel, device: string, options: SessionOptions): Promise<Session>;
}
