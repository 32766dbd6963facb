/**
 * Long computations on the host that can be stopped. A computation is a generator that yields often
 * and returns its result. `finish` runs it without interruption; `finishInTurns` yields to the
 * event loop between steps, so that signals (Ctrl-C, a button) are handled. The result is the same.
 */

/** A computation in steps. */
export type Steps<T> = Generator<void, T, void>;

/** The most milliseconds between turns of the event loop, if steps are short. */
const SLICE = 40;

/** Yields to the event loop. @throws the signal's reason if it is aborted */
export async function takeTurn(signal?: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    setTimeout(resolve);
  });
  signal?.throwIfAborted();
}

/** Runs a computation to its end. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value as T;
  }
}

/**
 * Runs a computation to its end, with a turn for the event loop about every 40 ms.
 *
 * @param signal stops it between two steps
 * @throws what the computation throws, and the signal's reason
 */
export async function finishInTurns<T>(steps: Steps<T>, signal?: AbortSignal): Promise<T> {
  let began = performance.now();
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value as T;
    if (performance.now() - began < SLICE) continue;
    await takeTurn(signal);
    began = performance.now();
  }
}
