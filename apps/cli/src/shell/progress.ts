/**
 * Progress of long work: on a terminal, a line that is redrawn in place; elsewhere, as in a log, an
 * occasional line.
 */
import type { Io, Output } from "./io.ts";
import { engineOf, type RunOptions } from "./options.ts";
import { steered, visible } from "./visible.ts";

export interface Progress {
  update(done: number, note?: string): void;
  /** The remaining time at the pace so far. */
  left(done: number): string;
  end(): void;
}

const duration = (seconds: number): string => {
  if (!Number.isFinite(seconds)) return "–";
  const whole = Math.round(seconds);
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  return h > 0 ? `${h} h ${m} min` : m > 0 ? `${m} min ${s} s` : `${s} s`;
};

/** Milliseconds before the first line of a log, and at most between two. */
const [FIRST, APART] = [10_000, 60_000];

export function progress(stderr: Output, total: number, what: string, from = 0): Progress {
  const began = performance.now();
  let drawn = 0;
  let [next, wait] = [began + FIRST, FIRST];
  const left = (done: number): string =>
    duration(((performance.now() - began) / 1000 / Math.max(1, done - from)) * (total - done));
  return {
    update(done, note = "") {
      const now = performance.now();
      if (!stderr.isTTY) {
        if (now < next || done >= total) return;
        wait = Math.min(2 * wait, APART);
        next = now + wait;
        const share = Math.floor((100 * done) / total);
        stderr.write(
          `${visible(`${what} ${done}/${total}, ${share} %, ${left(done)} left  ${note}`)}\n`,
        );
        return;
      }
      if (now - drawn < 100 && done < total) return;
      drawn = now;
      const filled = Math.round((24 * done) / total);
      const bar = "█".repeat(filled).padEnd(24, "░");
      const line = `${what} ${bar} ${done}/${total}  ${left(done)} left  ${note}`;
      stderr.write(steered(`\r\x1b[2K${visible(line)}`));
    },
    left,
    end() {
      if (stderr.isTTY) stderr.write(steered("\r\x1b[2K"));
    },
  };
}

/** Where to run, and what each step does: options of all samplers. */
interface Stepping extends ReturnType<typeof engineOf> {
  readonly signal: AbortSignal;
  readonly onStep: () => void;
}

/**
 * Runs work with a progress bar that advances at each step.
 * @param work receives the options to pass on, and a function that sets the note next to the bar
 */
export async function stepping<T>(
  { stderr, signal }: Io,
  options: RunOptions,
  steps: number,
  what: string,
  work: (how: Stepping, note: (text: string) => void) => Promise<T>,
): Promise<T> {
  const bar = progress(stderr, steps, what);
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
}
