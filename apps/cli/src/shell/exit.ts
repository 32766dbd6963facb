/** Exit codes: 0 done, 1 failed, 2 wrong usage, 3 numerical failure, 130 interrupted. */
import type { Command } from "commander";
import { DiffeoError, type ErrorKind } from "diffeo/graph";
import type { Output } from "./io.ts";

const codes: Readonly<Record<ErrorKind, number>> = {
  shape: 2,
  type: 2,
  usage: 2,
  device: 1,
  data: 1,
  disposed: 1,
  numerical: 3,
};

/** Options of the library that have another name on the command line. */
const flags: Readonly<Record<string, string>> = { driftScale: "w" };

/** The library writes its options as `driftScale`, the command line as --w. */
const inFlags = (text: string, { options }: Command): string =>
  text.replaceAll(/`(\w+)`/g, (quoted, name: string) => {
    const own = Object.hasOwn(flags, name) ? flags[name] : name;
    return options.find((option) => option.attributeName() === own)?.long ?? quoted;
  });

/**
 * Prints an error: diffeo's own in one sentence, any other with its stack. Returns the exit code.
 */
export function reportError(error: unknown, stderr: Output, command: Command): number {
  if (error instanceof DiffeoError) {
    stderr.write(`diffeo: ${inFlags(error.message, command)}\n`);
    return codes[error.kind];
  }
  if (error instanceof Error && error.name === "AbortError") {
    stderr.write("diffeo: interrupted\n");
    return 130;
  }
  stderr.write(
    `diffeo: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  return 1;
}
