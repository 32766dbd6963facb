/** Turning words of the command line into values, with errors that name the option, and options that commands share. */
import { access, constants, mkdir, open, realpath, rm, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { fail } from "diffeo/graph";
import { cannotWrite } from "diffeo/node";

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
    .addOption(new Option("--device <name>", "where to run").choices(["cpu", "webgpu", "cuda"]).default("cpu"))
    .option("--threads <n>", "threads of one operation (default: as many as there are cores)", integer(1));

/** Where to run, as `compile` takes it. */
export const engineOf = ({ device, threads }: RunOptions): { device: string; threads?: number } => ({
  device,
  ...(threads !== undefined && { threads }),
});

/** Raises an error where one of the named options was given: it would change nothing beside `what`. */
export function refuseBeside(command: Command, what: string, names: readonly string[]): void {
  const given = command.options.filter((option) => {
    const name = option.attributeName();
    return names.includes(name) && command.getOptionValueSource(name) === "cli";
  });
  if (given.length > 0)
    fail("usage", `${given.map(({ long }) => long).join(", ")} would change nothing beside ${what}`, "leave it out");
}

/** Raises what writing the files would raise, before the work that goes into them. Leaves nothing but their folders. */
export async function checkWritable(...paths: readonly (string | undefined)[]): Promise<void> {
  const targets = new Set<string>();
  for (const path of paths) {
    if (path === undefined) continue;
    const probe = `${path}.${process.pid}.tmp`;
    try {
      const there = await stat(path).catch(() => undefined);
      if (there?.isDirectory()) throw Object.assign(new Error("a folder"), { code: "EISDIR" });
      // A pipe or a device is written to; a file is replaced by one written beside it.
      if (there && !there.isFile()) {
        await access(path, constants.W_OK);
        continue;
      }
      await mkdir(dirname(path), { recursive: true });
      await (await open(probe, "w")).close();
      await rm(probe);
    } catch (error) {
      throw cannotWrite(path, error);
    }
    const target = await realpath(path).catch(() => resolve(path));
    if (targets.has(target)) fail("usage", `two results would go to ${path}`, "name a file for each");
    targets.add(target);
  }
}

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
