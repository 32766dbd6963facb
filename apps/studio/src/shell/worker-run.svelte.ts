/**
 * What a page does with one worker: the worker starts with the first run, a new run stops the
 * previous one, and an error becomes `trouble`. Pages extend it with their own state.
 */
import { engine } from "./engine.svelte.ts";
import { isStopped, type OpenWorker, openWorker, type Trouble, troubleOf } from "./rpc.ts";

export class WorkerRun<T> {
  trouble = $state.raw<Trouble>();
  readonly #module: string;
  #worker: OpenWorker<T> | undefined;
  #current: AbortController | undefined;
  #closed = false;

  /** @param module the row of `worker.ts` whose tasks it calls */
  constructor(module: string) {
    this.#module = module;
  }

  /** The worker, started on the first call; undefined after `close`. */
  protected async worker(): Promise<OpenWorker<T> | undefined> {
    await engine();
    if (this.#closed) return undefined;
    // Small graphs run faster on one thread.
    this.#worker ??= openWorker<T>(this.#module, 1);
    return this.#worker;
  }

  /**
   * Stops the previous run and starts another.
   * @returns whether the run is still the latest one when it ends
   */
  protected async run(
    work: (worker: OpenWorker<T>, signal: AbortSignal) => Promise<unknown>,
  ): Promise<boolean> {
    this.#current?.abort();
    const controller = new AbortController();
    this.#current = controller;
    const { signal } = controller;
    this.trouble = undefined;
    try {
      const worker = await this.worker();
      if (worker && !signal.aborted) await work(worker, signal);
    } catch (error) {
      if (!signal.aborted) this.fail(error);
    }
    return !signal.aborted;
  }

  /** Shows an error, unless it says that a task was stopped. */
  protected fail(error: unknown): void {
    if (!isStopped(error)) this.trouble = troubleOf(error);
  }

  /**
   * Stops the run and ends the worker at once, whatever it is doing; the next run starts another.
   */
  protected endWorker(): void {
    this.#current?.abort();
    this.#worker?.close();
    this.#worker = undefined;
  }

  /** Call it when the page is left. */
  close(): void {
    this.#closed = true;
    this.endWorker();
  }
}
