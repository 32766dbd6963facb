/**
 * Sessions in a worker of the page, so that the page itself never waits: one worker for all of
 * them, started with the first, because each has its own copy of the runtime. Arrays go there as
 * copies and come back without one.
 */
import { DiffeoError, type ErrorKind, type NdArray, type OnnxModel } from "../graph/index.ts";
import type { Create, Session, SessionOptions } from "./session.ts";

/** Where a page finds the runtime's files, and how many threads it uses. */
export interface WebOptions {
  /**
   * Where onnxruntime-web's .mjs and .wasm files are served, ending in a slash. By default a
   * bundler puts them beside the script.
   */
  readonly wasmPaths?: string;
  /**
   * Threads of the page's one pool: by default half of the cores, at most 4. One where the page is
   * not cross-origin isolated.
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

/** An error of the worker, as it was there. */
function revived({ message, kind, remedy }: NonNullable<Reply["error"]>): Error {
  if (kind === undefined || remedy === undefined) return new Error(message);
  const error = new DiffeoError(kind, "", remedy);
  error.message = message;
  return error;
}

/** Starts sessions in a worker. */
export function inWorker(page: () => WebOptions): Create {
  let worker: Worker | undefined;
  let nextSession = 0;
  let nextCall = 0;
  const calls = new Map<number, Call>();

  const open = (): Worker => {
    const made = new Worker(new URL("./web-worker.js", import.meta.url), { type: "module" });
    made.onmessage = ({ data: { call, results, error } }: MessageEvent<Reply>) => {
      const pending = calls.get(call);
      calls.delete(call);
      if (error) pending?.reject(revived(error));
      else pending?.resolve(results ?? {});
    };
    made.onerror = ({ message }) => {
      const error = new DiffeoError(
        "device",
        `the page's worker did not start or ended: ${message}`,
        "see that the page may load module workers from where its scripts are",
      );
      for (const { reject } of calls.values()) reject(error);
      calls.clear();
      worker = undefined;
    };
    return made;
  };

  const ask = (
    request: Request,
    transfer: readonly ArrayBufferLike[] = [],
  ): Promise<Record<string, NdArray>> => {
    worker ??= open();
    const call = nextCall++;
    const to = worker;
    return new Promise((resolve, reject) => {
      calls.set(call, { resolve, reject });
      to.postMessage({ call, request }, transfer as ArrayBuffer[]);
    });
  };

  return async (model, device, { keep: _, worker: __, ...options }): Promise<Session> => {
    const number = nextSession++;
    const ports = (list: OnnxModel["inputs"]): OnnxModel["inputs"] =>
      list.map(({ name, shape, dtype }) => ({ name, shape, dtype }));
    const bytes = model.bytes.slice();
    const sent = {
      bytes,
      types: model.types,
      inputs: ports(model.inputs),
      outputs: ports(model.outputs),
    };
    await ask({ kind: "create", number, model: sent, device, options, page: page() }, [
      bytes.buffer,
    ]);
    return {
      run: (feeds) => {
        const copies = Object.entries(feeds).map(
          ([name, a]) => [name, { ...a, data: a.data.slice() }] as const,
        );
        return ask(
          { kind: "run", number, feeds: Object.fromEntries(copies) },
          copies.map(([, { data }]) => data.buffer),
        );
      },
      dispose: async () => {
        await ask({ kind: "dispose", number });
      },
    };
  };
}
