/** Turning words of the command line into values, with errors that name the option, and options that commands share. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { shippedModel } from "../chess/shipped.ts";

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

/** A number from 0 up. */
export const nonNegative = (text: string): number => (Number(text) === 0 ? 0 : positive(text));

/** A number between 0 and 1. */
export function share(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value < 1)) throw new InvalidArgumentError("give a number between 0 and 1.");
  return value;
}

export const integers =
  (least: number) =>
  (text: string): number[] =>
    text === "" ? [] : text.split(",").map(integer(least));

export const numbers = (text: string): number[] => text.split(",").map(positive);

/** What every command that draws numbers and runs graphs is told. */
export interface RunOptions {
  readonly seed: number;
  readonly device: string;
  readonly threads?: number;
}

/** Adds --seed, --device and --threads. */
export const withRunOptions = (command: Command, seed: number, about = "seed of everything that is drawn"): Command =>
  command
    .option("--seed <n>", about, integer(0), seed)
    .option("--device <name>", "cpu, webgpu or cuda", "cpu")
    .option("--threads <n>", "threads of one operation (default: as many as there are cores)", integer(1));

/** --model, the shipped one if it is not given. */
export const modelOption = (): Option =>
  new Option("--model <file>", "model.safetensors of a training run").default(shippedModel, "the shipped one");

/** Where to run, as `compile` takes it. */
export const engineOf = ({ device, threads }: RunOptions): { device: string; threads?: number } => ({
  device,
  ...(threads !== undefined && { threads }),
});

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
