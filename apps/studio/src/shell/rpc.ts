/**
 * Tasks in a worker, called from the page as functions. A task may report its progress to the page,
 * and the page may stop it:
 *
 *     // tasks.ts, in the worker
 *     export const draw = task<RunRequest, Update, Answer>(
 *       async (request, { report, signal }) => …,
 *     );
 *     // in the page
 *     const worker = openWorker<typeof import("./tasks.ts")>("chess", threads);
 *     const answer = await worker.call("draw", request, { onReport, signal });
 *
 * Arrays whose buffers are listed in `report(event, transfer)` move without a copy. Errors of the
 * library arrive with their full sentence.
 */

/** An error as the page shows it. */
export interface Trouble {
  readonly message: string;
  /** The kind, for errors of the library. */
  readonly kind?: string;
}

interface Context<E> {
  /** Set when the page no longer wants the result. */
  readonly signal: AbortSignal;
  report(event: E, transfer?: readonly Transferable[]): void;
}

export type Task<I, E, O> = (input: I, context: Context<E>) => Promise<O>;

/**
 * Lets the worker receive messages, such as a request to stop: runs of the engine block its event
 * loop, and their promises resolve before messages arrive. A timer would wait some milliseconds.
 */
export const turn = (): Promise<void> =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });

/** Declares a task with the types that page and worker share. */
export const task = <I, E, O>(run: Task<I, E, O>): Task<I, E, O> => run;

/** A module of tasks. */
export type Tasks = Readonly<Record<string, Task<never, never, unknown>>>;

type InputOf<T> = T extends Task<infer I, never, unknown> ? I : never;
type EventOf<T> = T extends (input: never, context: Context<infer E>) => unknown ? E : never;
type OutputOf<T> = T extends Task<never, never, infer O> ? O : never;

export type Request =
  | {
      readonly kind: "call";
      readonly call: number;
      readonly module: string;
      readonly name: string;
      readonly input: unknown;
      /** Threads of the runtime; only the first call sets them. */
      readonly threads: number;
    }
  | { readonly kind: "stop"; readonly call: number };

export type Reply =
  | { readonly kind: "report"; readonly call: number; readonly event: unknown }
  | { readonly kind: "done"; readonly call: number; readonly output: unknown }
  | {
      readonly kind: "failed";
      readonly call: number;
      readonly trouble: Trouble;
      readonly aborted: boolean;
    };

/** The error of a task that the page stopped. */
class Stopped extends Error {
  override readonly name = "AbortError";
}

/** An error that a worker sent. */
class TaskError extends Error implements Trouble {
  readonly kind?: string;
  constructor({ message, kind }: Trouble) {
    super(message);
    if (kind !== undefined) this.kind = kind;
  }
}

/** Anything that was thrown, as the page shows it. */
export function troubleOf(error: unknown): Trouble {
  if (!(error instanceof Error)) return { message: String(error) };
  const { kind } = error as { kind?: unknown };
  return { message: error.message, ...(typeof kind === "string" && { kind }) };
}

export const isStopped = (error: unknown): boolean =>
  error instanceof Error && error.name === "AbortError";

interface CallOptions<E> {
  readonly onReport?: (event: E) => void;
  readonly signal?: AbortSignal;
}

export interface OpenWorker<T> {
  call<N extends keyof T & string>(
    name: N,
    input: InputOf<T[N]>,
    options?: CallOptions<EventOf<T[N]>>,
  ): Promise<OutputOf<T[N]>>;
  /** Ends the worker and frees its memory. Pending calls reject as stopped. */
  close(): void;
}

interface Pending {
  readonly resolve: (output: never) => void;
  readonly reject: (error: Error) => void;
  readonly onReport: ((event: never) => void) | undefined;
}

const ENDED =
  "The worker of this page ended, most likely because it ran out of memory. Reload the page, " +
  "or choose smaller settings.";

/**
 * Starts a worker that runs tasks.
 * @param module the row of `worker.ts` with the tasks
 * @param threads of WebAssembly
 */
export function openWorker<T>(module: string, threads: number): OpenWorker<T> {
  const worker = new Worker(new URL("../worker.ts", import.meta.url), { type: "module" });
  const pending = new Map<number, Pending>();
  let next = 0;
  let closed = false;
  const failAll = (error: Error): void => {
    for (const { reject } of pending.values()) reject(error);
    pending.clear();
  };
  worker.onmessage = ({ data }: MessageEvent<Reply>) => {
    const request = pending.get(data.call);
    if (data.kind === "report") return request?.onReport?.(data.event as never);
    pending.delete(data.call);
    if (data.kind === "done") request?.resolve(data.output as never);
    else
      request?.reject(
        data.aborted ? new Stopped(data.trouble.message) : new TaskError(data.trouble),
      );
  };
  worker.onerror = ({ message }) =>
    failAll(new TaskError({ message: message ? `${message}. ${ENDED}` : ENDED }));
  const send = (request: Request): void => worker.postMessage(request);
  return {
    call: (name, input, { onReport, signal } = {}) =>
      new Promise((resolve, reject) => {
        if (closed || signal?.aborted) return reject(new Stopped("stopped before it began"));
        const call = next++;
        pending.set(call, {
          resolve: resolve as Pending["resolve"],
          reject,
          onReport: onReport as Pending["onReport"],
        });
        signal?.addEventListener("abort", () => send({ kind: "stop", call }), { once: true });
        send({ kind: "call", call, module, name, input, threads });
      }),
    close: () => {
      closed = true;
      worker.terminate();
      failAll(new Stopped("the page was left"));
    },
  };
}
