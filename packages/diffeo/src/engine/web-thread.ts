/**
 * Sessions in a worker of the page, so that the page is not blocked. All sessions share one worker,
 * started with the first session, because every worker loads its own copy of the runtime. Arrays
 * are copied on the way to the worker and transferred on the way back.
 */
import { DiffeoError, type ErrorKind, type NdArray, type OnnxModel } from "../graph/index.ts";
import type { Create, Session, SessionOptions } from "./session.ts";

/** Options of `configureWeb`: the runtime's files and threads of a page. */
export interface WebOptions {
  /**
   * The address of onnxruntime-web's .mjs and .wasm files, ending in a slash. By default a bundler
   * puts them next to the script.
   */
  readonly wasmPaths?: string;
  /**
   * With `false` ONNX Runtime is not fetched: graphs run on diffeo's compiler, and those that need
   * the runtime fail. Default true.
   */
  readonly onnxruntime?: boolean;
  /**
   * The number of threads of the page's pool. Default: half of the cores, at most 4; 1 if the page
   * is not cross-origin isolated.
   */
  readonly threads?: number;
}

export type Request =
  | {
      readonly kind: "create";
      readonly number: number;
      readonly model: OnnxModel;
      readonly device: string;
      readonly options: SessionOptions;
      readonly page: WebOptions;
    }
  | {
      readonly kind: "run";
      readonly number: number;
      readonly feeds: Readonly<Record<string, NdArray>>;
    }
  | { readonly kind: "dispose"; readonly number: number };

interface Reply {
  readonly call: number;
  readonly results?: Record<string, NdArray>;
  readonly error?: {
    readonly message: string;
    readonly kind?: ErrorKind;
    readonly remedy?: string;
  };
}

interface Call {
  readonly resolve: (results: Record<string, NdArray>) => void;
  readonly reject: (error: unknown) => void;
}

/** The worker's error, with its kind and remedy. */
function errorOf({ message, kind, remedy }: NonNullable<Reply["error"]>): Error {
  if (kind === undefined || remedy === undefined) return new Error(message);
  const error = new DiffeoError(kind, "", remedy);
  error.message = message;
  return error;
}

/** The worker, and the pending calls. */
class WorkerCalls {
  #worker: Worker | undefined;
  #next = 0;
  readonly #waiting = new Map<number, Call>();

  /** Sends a request; the first one starts the worker. */
  send(
    request: Request,
    transfer: readonly ArrayBufferLike[] = [],
  ): Promise<Record<string, NdArray>> {
    this.#worker ??= this.#open();
    const worker = this.#worker;
    const call = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(call, { resolve, reject });
      worker.postMessage({ call, request }, transfer as ArrayBuffer[]);
    });
  }

  #open(): Worker {
    const worker = new Worker(new URL("./web-worker.js", import.meta.url), { type: "module" });
    worker.onmessage = ({ data: { call, results, error } }: MessageEvent<Reply>) => {
      const pending = this.#waiting.get(call);
      this.#waiting.delete(call);
      if (error) pending?.reject(errorOf(error));
      else pending?.resolve(results ?? {});
    };
    worker.onerror = ({ message }) => {
      const error = new DiffeoError(
        "device",
        `the page's worker did not start or stopped: ${message}`,
        "check that the page may load module workers from the address of its scripts",
      );
      for (const { reject } of this.#waiting.values()) reject(error);
      this.#waiting.clear();
      this.#worker = undefined;
    };
    return worker;
  }
}

/** Starts sessions in a worker. */
export function inWorker(page: () => WebOptions): Create {
  const calls = new WorkerCalls();
  let nextSession = 0;
  const ports = (list: OnnxModel["inputs"]): OnnxModel["inputs"] =>
    list.map(({ name, shape, dtype }) => ({ name, shape, dtype }));
  return async (model, device, { keep: _, worker: __, ...options }): Promise<Session> => {
    const number = nextSession++;
    const bytes = model.bytes.slice();
    const sent = {
      bytes,
      types: model.types,
      inputs: ports(model.inputs),
      outputs: ports(model.outputs),
    };
    const create = { kind: "create", number, model: sent, device, options, page: page() } as const;
    await calls.send(create, [bytes.buffer]);
    return {
      run: (feeds) => {
        const copies = Object.entries(feeds).map(
          ([name, a]) => [name, { ...a, data: a.data.slice() }] as const,
        );
        return calls.send(
          { kind: "run", number, feeds: Object.fromEntries(copies) },
          copies.map(([, { data }]) => data.buffer),
        );
      },
      dispose: async () => {
        await calls.send({ kind: "dispose", number });
      },
    };
  };
}
