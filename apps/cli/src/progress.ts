/** A line of progress on stderr, redrawn in place; silent where stderr is no terminal. */
export interface Progress {
  update(done: number, note?: string): void;
  /** How long the rest will take, at the pace so far. */
  left(done: number): string;
  end(): void;
}

const duration = (seconds: number): string => {
  if (!Number.isFinite(seconds)) return "–";
  const whole = Math.round(seconds);
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  return h > 0 ? `${h} h ${m} min` : m > 0 ? `${m} min ${s} s` : `${s} s`;
};

export function progress(total: number, what: string, from = 0): Progress {
  const began = performance.now();
  let drawn = 0;
  const tty = process.stderr.isTTY;
  const left = (done: number): string =>
    duration(((performance.now() - began) / 1000 / Math.max(1, done - from)) * (total - done));
  return {
    update(done, note = "") {
      const now = performance.now();
      if (!tty || (now - drawn < 100 && done < total)) return;
      drawn = now;
      const filled = Math.round((24 * done) / total);
      const bar = "█".repeat(filled).padEnd(24, "░");
      process.stderr.write(`\r\x1b[2K${what} ${bar} ${done}/${total}  ${left(done)} left  ${note}`);
    },
    left,
    end() {
      if (tty) process.stderr.write("\r\x1b[2K");
    },
  };
}
