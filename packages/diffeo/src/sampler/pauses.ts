/** Yields to the event loop between runs of the engine, which block the thread. */

export const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

/** Yields to timers, signals and the screen a few times per second. */
export function pauses(): () => Promise<void> {
  let last = Date.now();
  return async () => {
    if (Date.now() - last < 50) return;
    await turn();
    last = Date.now();
  };
}
