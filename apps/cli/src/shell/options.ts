/**
 * Parsers of values on the command line, with errors that name the option, and options that
 * commands share.
 */
import { type Command, InvalidArgumentError, Option } from "commander";
import { fail } from "diffeo/graph";
import type { Io } from "./io.ts";

/**
 * An integer between bounds. Values above `most` would exceed the memory or time of any machine.
 */
export function integer(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === "" || !Number.isInteger(value) || value < least || value > most)
      throw new InvalidArgumentError(
        `Give an integer from ${least} to ${most.toLocaleString("en")}.`,
      );
    return value;
  };
}

/** The largest sizes of everything that is sampled or trained on. */
export const MOST = {
  /** Boards of a run: 3 KB of numbers each. */
  boards: 1_000_000,
  /** Boards of a batch: every layer of a network holds all of them at once. */
  batch: 16_384,
  /** Rows of a table. */
  rows: 10_000_000,
  steps: 10_000_000,
  chains: 10_000,
  /** Draws of all chains together, each of at least one number. */
  draws: 100_000_000,
  seed: Number.MAX_SAFE_INTEGER,
} as const;

export function positive(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value < Number.POSITIVE_INFINITY))
    throw new InvalidArgumentError("Give a positive number.");
  return value;
}

/** A number from 0 up. */
export const nonNegative = (text: string): number =>
  text.trim() !== "" && Number(text) === 0 ? 0 : positive(text);

/** A number between 0 and 1. */
export function share(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value < 1)) throw new InvalidArgumentError("Give a number between 0 and 1.");
  return value;
}

/** A number above 0, up to 1. */
export const shareOrAll = (text: string): number => (Number(text) === 1 ? 1 : share(text));

/** The values of an option that may be repeated. */
export const repeated = (word: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  word,
];

export const integers =
  (least: number, most: number) =>
  (text: string): number[] =>
    text === "" ? [] : text.split(",").map(integer(least, most));

export const numbers = (text: string): number[] => text.split(",").map(positive);

/** Options of every command that runs graphs. */
export interface EngineOptions {
  readonly device: string;
  readonly threads?: number;
}

/** Options of commands that run graphs and use random numbers. */
export interface RunOptions extends EngineOptions {
  readonly seed: number;
}

/** Adds --device and --threads. */
export const withEngineOptions = (command: Command): Command =>
  command
    .addOption(
      new Option("--device <name>", "where to run")
        .choices(["cpu", "webgpu", "cuda"])
        .default("cpu"),
    )
    .option(
      "--threads <n>",
      "threads per operation (default: the number of cores)",
      integer(1, 1024),
    );

/** Adds --seed, --device and --threads. */
export const withRunOptions = (
  command: Command,
  seed: number,
  about = "seed of all random numbers",
): Command => withEngineOptions(command.option("--seed <n>", about, integer(0, MOST.seed), seed));

/** Where to run, as `compile` takes it. */
export const engineOf = ({ device, threads }: EngineOptions): EngineOptions => ({
  device,
  threads,
});

/** The long names of options that were given on the command line. */
const givenAmong = (command: Command, names: readonly string[]): string =>
  command.options
    .filter((option) => {
      const name = option.attributeName();
      return names.includes(name) && command.getOptionValueSource(name) === "cli";
    })
    .map(({ long }) => long)
    .join(", ");

/** Throws if one of the named options was given, because it has no effect with `what`. */
export function refuseBeside(command: Command, what: string, names: readonly string[]): void {
  const given = givenAmong(command, names);
  const remedy = given.includes(",") ? "omit them" : "omit it";
  if (given !== "") fail("usage", `${given} cannot be used with ${what}`, remedy);
}

/** Prints a note if one of the named options was given: they have no effect, but are not wrong. */
export function noteUnused(
  io: Io,
  command: Command,
  without: string,
  names: readonly string[],
): void {
  const given = givenAmong(command, names);
  if (given !== "") io.stderr.write(`${given} has no effect ${without}\n`);
}

/** --force, for commands whose results are hard to replace. */
export const forceOption = (): Option => new Option("--force", "replace existing files");
