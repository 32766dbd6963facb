/** The progress of a fit in one line of a terminal. */
import type { TableProgress } from "diffeo-tables";

const print = (text: string): void => void (process.stderr.isTTY && process.stderr.write(text));

export const printProgress = (
  name: string,
  { step, steps, loss, validation, secondsLeft }: TableProgress,
): void =>
  print(
    `\r${name}: step ${step} of ${steps}, loss ${loss.toFixed(4)}, held out ${validation.toFixed(4)}, ${secondsLeft.toFixed(0)} s left  `,
  );

export const endProgress = (): void => print("\n");
