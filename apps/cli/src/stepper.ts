/** Sampling under a line of progress that each step moves on, and that Ctrl-C stops. */
import { engineOf, interruption, type RunOptions } from "./options.ts";
import { progress } from "./progress.ts";

/** Where to run and what each step does: options of all that samples. */
interface Stepping extends ReturnType<typeof engineOf> {
  readonly signal: AbortSignal;
  readonly onStep: () => void;
}

/** @param work is given what to pass on, and what to call for a note beside the bar */
type Stepper = <T>(
  steps: number,
  what: string,
  work: (how: Stepping, note: (text: string) => void) => Promise<T>,
) => Promise<T>;

export function stepper(options: RunOptions, signal: AbortSignal = interruption()): Stepper {
  return async (steps, what, work) => {
    const bar = progress(steps, what);
    let done = 0;
    let noted = "";
    const how = { ...engineOf(options), signal, onStep: () => bar.update(++done, noted) };
    try {
      return await work(how, (text) => {
        noted = text;
      });
    } finally {
      bar.end();
    }
  };
}
