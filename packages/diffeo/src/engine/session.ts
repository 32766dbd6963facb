/** The interface of runtimes: devices by name, and sessions that run ONNX bytes on one of them. */
import { type FloatType, fail, type NdArray, type OnnxModel, type Target } from "../graph/index.ts";

/** Options of sessions: threads, workers and kept results. */
export interface SessionOptions {
  /**
   * Threads per operation. Default: the runtime's choice. Small graphs are fastest with one.
   * Browsers have one pool per page, whose size is set by `configureWeb`.
   */
  readonly threads?: number;
  /**
   * Whether to run on a separate thread, so that the event loop, timers and Ctrl-C work: in Node,
   * ONNX Runtime blocks the calling thread. In a page it is a Web Worker, which all such functions
   * share. Default false.
   */
  readonly worker?: boolean;
  /**
   * Results that are passed back to the function, by name or by the name of the object that
   * contains them, such as `state`. They stay on a GPU, and `toHost` reads them. On the CPU they
   * are ordinary arrays, whose memory is reused after they are released.
   */
  readonly keep?: readonly string[];
}

/** Options of `compile` and `openModel`, in addition to those of all functions with sessions. */
export interface OpeningOptions extends SessionOptions {
  /**
   * For graphs that run once or a few times: the runtime does not optimise the graph, so the
   * session opens in half the time. Default false.
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
      `\`threads\` is ${threads}, of type ${typeof threads}`,
      "set an integer of at least 1, or leave it out",
    );
}

/** A compiled model on a device. */
export interface Session {
  /** Runs the model. It neither changes nor keeps its arguments. */
  run(feeds: Readonly<Record<string, NdArray>>): Promise<Record<string, NdArray>>;
  dispose(): Promise<void>;
}

/** A device that runs compiled functions. */
export interface Device {
  readonly name: string;
  /** The form of graphs that it runs best. */
  readonly target: Target;
  /** The supported float types. */
  readonly types: readonly FloatType[];
  readonly description: string;
}

export type Create = (
  model: OnnxModel,
  device: string,
  options: OpeningOptions,
) => Promise<Session>;

export interface Runtime {
  /** Whether the runtime is installed; loads it if necessary. */
  readonly available: () => Promise<boolean>;
  readonly devices: readonly Device[];
  readonly create: Create;
  /**
   * Creates sessions on another thread, which starts with the first session and ends with the last.
   */
  readonly thread: () => Create;
}
