/** Turning words of the command line into values, with errors that name the option. */
import { InvalidArgumentError } from "commander";

export function integer(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!Number.isInteger(value) || value < least)
      throw new InvalidArgumentError(`give a whole number of at least ${least}.`);
    return value;
  };
}

export function positive(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value < Number.POSITIVE_INFINITY)) throw new InvalidArgumentError("give a positive number.");
  return value;
}

export const integers =
  (least: number) =>
  (text: string): number[] =>
    text === "" ? [] : text.split(",").map(integer(least));

/** A signal that Ctrl-C sets, once: work stops at the next safe point; a second Ctrl-C ends the process. */
export function interruption(): AbortSignal {
  const controller = new AbortController();
  process.once("SIGINT", () => {
    process.stderr.write("\nstopping after this step; Ctrl-C again ends at once\n");
    controller.abort();
  });
  process.once("SIGTERM", () => controller.abort());
  return controller.signal;
}

export const numbers = (text: string): number[] => text.split(",").map(positive);
