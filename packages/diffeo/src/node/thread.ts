/**
 * Sessions on a worker thread. Arrays are sent as copies, so that the caller keeps its own, and
 * results are transferred without a copy.
 *
 * Node cannot end a thread inside native code: ONNX Runtime's binding aborts the whole process when
 * it returns to a thread that is being terminated. So threads are never terminated. Two shared
 * words state whether the thread is inside the runtime, and whether it may start another run.
 * Disposal and the exit of the process wait for the current run.
 */
import { Worker } from "node:worker_threads";
import type { InferenceSession } from "onnxruntime-common";
import type { Session } from "../engine/session.ts";
import { DiffeoError, type NdArray, type OnnxModel } from "../graph/index.ts";

/** The positions of the shared words; `worker.js` has the same. */
const BUSY = 0;
const CLOSING = 1;

type Request =
  | {
      readonly kind: "create";
      readonly bytes: Uint8Array;
      readonly options: InferenceSession.SessionOptions;
    }
  | { readonly kind: "run"; readonly feeds: Readonly<Record<string, NdArray>> }
  | { readonly kind: "dispose" };

interface Reply {
  readonly call: number;
  readonly error?: Error;
  readonly results?: Record<string, NdArray>;
}

interface Call {
  readonly session: number;
  readonly resolve: (results: Record<string, NdArray>) => void;
  readonly reject: (error: unknown) => void;
}

/** The threads for which the exit of this process must wait. */
const live = new Set<Int32Array>();

function waitForAll(): void {
  for (const state of live) Atomics.store(state, CLOSING, 1);
  for (const state of live) Atomics.wait(state, BUSY, 1);
}

class Thread {
  readonly #state = new Int32Array(new SharedArrayBuffer(8));
  readonly #calls = new Map<number, Call>();
  readonly #worker: Worker;
  readonly #ended: Promise<void>;
  #nextCall = 0;
  /** The reason why the thread has ended. */
  #death: Error | undefined;

  constructor(native: boolean) {
    // Plain JavaScript, and without the flags of this process: the worker needs no TypeScript
    // loader.
    this.#worker = new Worker(new URL("./worker.js", import.meta.url), {
      workerData: { state: this.#state, native },
      execArgv: [],
    });
    this.#worker.unref();
    this.#worker.on("message", (reply: Reply) => this.#settle(reply));
    this.#worker.on("error", (error) => this.#die(error.message, error));
    if (live.size === 0) process.on("exit", waitForAll);
    live.add(this.#state);
    this.#ended = new Promise((resolve) => {
      this.#worker.on("exit", (code) => {
        live.delete(this.#state);
        if (live.size === 0) process.off("exit", waitForAll);
        this.#die(`code ${code}`);
        resolve();
      });
    });
  }

  /** Sends a request to the thread; the process stays alive until the answer. */
  call(
    session: number,
    request: Request,
    transfer: readonly ArrayBufferLike[] = [],
  ): Promise<Record<string, NdArray>> {
    if (this.#death) return Promise.reject(this.#death);
    const call = this.#nextCall++;
    return new Promise((resolve, reject) => {
      this.#calls.set(call, { session, resolve, reject });
      this.#worker.ref();
      this.#worker.postMessage({ call, session, ...request }, transfer as ArrayBuffer[]);
    });
  }

  /** Rejects the pending calls of a session. */
  abandon(session: number): void {
    const error = new DiffeoError(
      "disposed",
      "this function was disposed while it was running",
      "await its result first",
    );
    for (const [call, pending] of this.#calls)
      if (pending.session === session) {
        this.#calls.delete(call);
        pending.reject(error);
      }
  }

  /** Resolves when the thread has ended, after its current run. */
  end(): Promise<void> {
    Atomics.store(this.#state, CLOSING, 1);
    this.#worker.ref();
    this.#worker.postMessage({ kind: "end" });
    return this.#ended;
  }

  #settle({ call, error, results = {} }: Reply): void {
    const pending = this.#calls.get(call);
    this.#calls.delete(call);
    if (this.#calls.size === 0 && Atomics.load(this.#state, CLOSING) === 0) this.#worker.unref();
    if (error) pending?.reject(error);
    else pending?.resolve(results);
  }

  get dead(): boolean {
    return this.#death !== undefined;
  }

  /** Rejects all pending and future calls. */
  #die(why: string, cause?: unknown): void {
    this.#death ??= new DiffeoError(
      "device",
      `the worker thread ended: ${why}`,
      "compile the function again",
      {
        cause,
      },
    );
    for (const { reject } of this.#calls.values()) reject(this.#death);
    this.#calls.clear();
  }
}

/** Copies of arrays, and their buffers for transfer. Only the viewed part of a buffer is copied. */
function detached(
  feeds: Readonly<Record<string, NdArray>>,
): [Record<string, NdArray>, ArrayBufferLike[]] {
  const copies = Object.entries(feeds).map(
    ([name, a]) => [name, { ...a, data: a.data.slice() }] as const,
  );
  return [Object.fromEntries(copies), copies.map(([, { data }]) => data.buffer)];
}

/**
 * Starts sessions on a separate thread, which starts with the first session and ends with the last.
 *
 * @param native whether the thread loads the native runtime, like the caller's thread
 */
export function openThreadSessions(
  native: boolean,
): (model: OnnxModel, options: InferenceSession.SessionOptions) => Promise<Session> {
  let current: Thread | undefined;
  let sessions = 0;
  let nextSession = 0;

  return async (model, options) => {
    current ??= new Thread(native);
    const thread = current;
    const session = nextSession++;
    sessions++;
    const leave = async (): Promise<void> => {
      if (--sessions > 0)
        return void (thread.dead || (await thread.call(session, { kind: "dispose" })));
      current = undefined;
      await thread.end();
    };
    try {
      const bytes = model.bytes.slice();
      await thread.call(session, { kind: "create", bytes, options }, [bytes.buffer]);
    } catch (error) {
      await leave();
      throw error;
    }
    return {
      run: (feeds) => {
        const [copies, buffers] = detached(feeds);
        return thread.call(session, { kind: "run", feeds: copies }, buffers);
      },
      dispose: () => {
        thread.abandon(session);
        return leave();
      },
    };
  };
}
