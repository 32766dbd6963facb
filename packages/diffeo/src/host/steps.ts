/**
 * Long computations on the host that can be stopped. A computation is a generator that yields often
 * and returns its result. `finish` runs it in one go; `finishInTurns` gives the event loop a turn
 * between steps, so that a signal (Ctrl-C, a button) is seen. The result is the same.
 */

/** A computation in steps. */
export type Steps<T> = Generator<void, T, void>;

/** How long the event loop waits for its turn at most, in milliseconds, if steps are short. */
const SLICE = 40;

/** Gives the event loop a turn. @throws the signal's reason, if it is aborted by then */
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
