/** What a runtime offers: devices by name, and sessions that run ONNX bytes on one of them. */
import { type FloatType, fail, type NdArray, type OnnxModel, type Target } from "../graph/index.ts";

/** How a session runs. */
export interface SessionOptions {
  /**
   * Threads inside one operation. Default: the runtime's choice. Small graphs are fastest on
   * one. Browsers have one pool for the whole page, which `configureWeb` sizes instead.
   */
  readonly threads?: number;
  /**
   * Run on a thread of its own, so that the event loop, timers and Ctrl-C stay alive: in Node, ONNX
   * Runtime blocks the thread it is called from. In a page it is a Web Worker, one for all such
   * functions.
   */
  readonly worker?: boolean;
  /**
   * Results that are fed back, by name or by the name of the object that holds them: state, say.
   * They stay on a GPU, as arrays whose numbers `toHost` reads. On the CPU they are ordinary arrays
   * whose memory is used again once they are released.
   */
  readonly keep?: readonly string[];
}

/** Options of a session, in addition to those that all work on sessions has. */
export interface OpeningOptions extends SessionOptions {
  /**
   * Runs once or a few times: the session opens in half the time, for the runtime looks for nothing
   * in the graph that it could run faster. For `compile` alone: what samples or trains runs often.
   */
  readonly once?: boolean;
}

/** Whether a result is among those to keep. */
export const keeps = (keep: readonly string[], name: string): boolean =>
  keep.some((k) => name === k || name.startsWith(`${k}.`));

export function requireThreads({ threads }: SessionOptions): void {
  if (threads !== undefined && !(Number.isInteger(threads) && threads >= 1))
    fail(
      "usage",
      `threads is ${threads}, of type ${typeof threads}`,
      "set an integer from 1, or leave it out",
    );
}

/** A compiled model on a device. */
export interface Session {
  /** Never changes or keeps the arrays it is given. */
  run(feeds: Readonly<Record<string, NdArray>>): Promise<Record<string, NdArray>>;
  dispose(): Promise<void>;
}

/** A device: how it starts sessions of ONNX files. */
export interface Device {
  readonly name: string;
  /** Which form of a graph it runs best. */
  readonly target: Target;
  /** The float types it computes in. */
  readonly types: readonly FloatType[];
  readonly description: string;
}

export type Create = (
  model: OnnxModel,
  device: string,
  options: OpeningOptions,
) => Promise<Session>;

export interface Runtime {
  /** Whether it is installed; fetches it where it is not loaded yet. */
  readonly available: () => Promise<boolean>;
  readonly devices: readonly Device[];
  readonly create: Create;
  /** The same on another thread, which starts with the first session and ends with the last. */
  readonly thread: () => Create;
}
